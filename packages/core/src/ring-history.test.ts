import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from './base/prng.ts';
import { ownerOf } from './placement.ts';
import { maxRings, RingHistory, type DatedRing } from './ring-history.ts';
import { epochOf, Ring, ringVersion, type Member } from './ring.ts';

const windowMs = 600_000;

function ringOf(epoch: number, nodeIds: readonly number[]): Ring {
  const members: Member[] = nodeIds.map((nodeId) => ({
    nodeId,
    weight: 1,
    address: `10.0.0.${nodeId}:9400`,
  }));
  return new Ring(ringVersion(epoch, members), members);
}

const epochs = (rings: readonly DatedRing[]): number[] =>
  rings.map(({ ring }) => epochOf(ring.version));

test('versions are ordered by epoch first, and tell rings of one epoch apart', () => {
  const a = ringOf(7, [1, 2, 3]);
  const b = ringOf(7, [1, 2, 4]);
  ok(ringOf(8, [1]).version > a.version);
  ok(a.version !== b.version);
  equal(epochOf(a.version), 7);
  equal(ringOf(7, [1, 2, 3]).version, a.version);
  const highest = ringVersion(0xffff_ffff, a.members);
  ok(Number.isSafeInteger(highest));
  equal(epochOf(highest), 0xffff_ffff);
});

test('versions are the same for ever', () => {
  equal(ringOf(7, [1, 2, 3]).version, 15_504_223);
  equal(ringVersion(3, [{ nodeId: 9, weight: 3800, address: '[::1]:9400' }]), 8_050_735);
});

test('a newer ring becomes the current one, an older one a part of the past', () => {
  const history = new RingHistory(windowMs);
  equal(history.current, null);
  equal(history.advance(0, ringOf(3, [1, 2, 3])), true);
  equal(history.advance(1000, ringOf(5, [1, 2, 3, 4])), true);
  equal(history.advance(2000, ringOf(4, [1, 2])), false);
  equal(history.advance(2500, ringOf(5, [1, 2, 3, 4])), false);
  deepEqual(epochs(history.rings(3000)), [5, 4, 3]);
  deepEqual(
    history.rings(3000).map(({ replacedForMs }) => replacedForMs),
    [0, 1000, 2000],
  );
});

test('rings are forgotten when the window is over, the current one never', () => {
  const history = new RingHistory(windowMs);
  history.advance(0, ringOf(1, [1]));
  history.advance(10, ringOf(2, [1, 2]));
  deepEqual(epochs(history.rings(10 + windowMs - 1)), [2, 1]);
  deepEqual(epochs(history.rings(10 + windowMs)), [2]);
  deepEqual(epochs(history.rings(10 * windowMs)), [2]);
});

test('at most eight rings are kept: the newest', () => {
  const history = new RingHistory(windowMs);
  for (let epoch = 1; epoch <= 20; epoch++) history.advance(epoch, ringOf(epoch, [epoch]));
  const kept = history.rings(20);
  equal(kept.length, maxRings);
  deepEqual(epochs(kept), [20, 19, 18, 17, 16, 15, 14, 13]);
});

test('a late joiner that adopts a past knows the same previous owners as one that was there', () => {
  const old = new RingHistory(windowMs);
  for (const [index, count] of [3, 4, 5, 6].entries()) {
    old.advance(index * 1000, ringOf(index + 1, [...Array(count).keys()]));
  }
  const late = new RingHistory(windowMs);
  late.advance(4000, old.current!);
  equal(late.adopt(4000, old.rings(4000)), false);
  deepEqual(late.rings(4000), old.rings(4000));
  const prng = new Prng(1, 2);
  for (let i = 0; i < 1000; i++) {
    const placement = { hi: prng.u32(), lo: prng.u32() };
    const told: number[] = [];
    const known: number[] = [];
    equal(late.previousOwners(4000, placement, told), old.previousOwners(4000, placement, known));
    deepEqual(told, known);
  }
});

test('a ring is never dated later than one that replaced it, whoever tells', () => {
  const history = new RingHistory(windowMs);
  const [one, two, three] = [ringOf(1, [1]), ringOf(2, [1, 2]), ringOf(3, [1, 2, 3])];
  history.adopt(100_000, [
    { ring: three, replacedForMs: 0 },
    { ring: two, replacedForMs: 90_000 },
  ]);
  // This teller saw the first ring for longer.
  history.adopt(100_000, [
    { ring: two, replacedForMs: 0 },
    { ring: one, replacedForMs: 5_000 },
  ]);
  deepEqual(
    history.rings(100_000).map(({ replacedForMs }) => replacedForMs),
    [0, 90_000, 90_000],
  );
});

test('previous owners are the latest and the earliest of the window, never the present one', () => {
  const prng = new Prng(3, 4);
  for (let round = 0; round < 300; round++) {
    const history = new RingHistory(windowMs);
    const rings: Ring[] = [];
    const count = 1 + prng.below(maxRings);
    for (let epoch = 1; epoch <= count; epoch++) {
      const ids = [...Array(8).keys()].filter(() => prng.chance(0.7));
      const ring = ringOf(epoch, ids.length === 0 ? [0] : ids);
      rings.unshift(ring);
      history.advance(epoch * 1000, ring);
    }
    const placement = { hi: prng.u32(), lo: prng.u32() };
    const [present, ...earlier] = rings.map((ring) => ownerOf(ring, placement));
    const others = earlier.filter((nodeId) => nodeId !== present);
    const latest = others.slice(0, 1);
    const earliest = others.filter((nodeId) => nodeId !== latest[0]).slice(-1);
    const found: number[] = [];
    const length = history.previousOwners(count * 1000, placement, found);
    deepEqual(found.slice(0, length), [...latest, ...earliest]);
    for (const nodeId of found) equal(history.member(nodeId)?.nodeId, nodeId);
  }
});

test('without a ring, or with one alone, nobody owned anything before', () => {
  const history = new RingHistory(windowMs);
  equal(history.previousOwners(0, { hi: 1, lo: 2 }, []), 0);
  history.advance(0, ringOf(1, []));
  equal(history.previousOwners(0, { hi: 1, lo: 2 }, []), 0);
  history.advance(0, ringOf(2, [1, 2]));
  equal(history.previousOwners(0, { hi: 1, lo: 2 }, []), 0);
  equal(history.member(7), null);
});
