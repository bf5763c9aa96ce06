import { deepEqual, equal, notDeepEqual, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from './base/prng.ts';
import {
  candidates,
  ownerIndex,
  ownerOf,
  placeChunk,
  placeHome,
  type Placement,
} from './placement.ts';
import { Ring, type Member } from './ring.ts';

const members = (weights: readonly number[]): Member[] =>
  weights.map((weight, nodeId) => ({ nodeId, weight, address: `10.0.0.${nodeId}:9400` }));

function placements(count: number, seed = 1): Placement[] {
  const prng = new Prng(seed, 77);
  return Array.from({ length: count }, () => ({ hi: prng.u32(), lo: prng.u32() }));
}

function ranked(ring: Ring, placement: Placement): number[] {
  const into: number[] = [];
  equal(candidates(ring, placement, ring.members.length, into), ring.members.length);
  return into;
}

test('placements and ranks are the same for ever', () => {
  const hash = { h0: 0x0102_0304, h1: 0x0506_0708, h2: 0x090a_0b0c, h3: 0x0d0e_0f10 };
  const placement = { hi: 0, lo: 0 };
  placeHome(hash, placement);
  deepEqual(placement, { hi: 0x0102_0304, lo: 0x0506_0708 });
  const equalRing = new Ring(1, members([1, 1, 1, 1, 1]));
  const weighted = new Ring(1, members([1, 2, 3, 4, 5]));
  deepEqual(ranked(equalRing, placement), [4, 0, 1, 2, 3]);
  placeChunk(hash, 1, placement);
  deepEqual(placement, { hi: 2847551096, lo: 2843855041 });
  deepEqual(ranked(equalRing, placement), [2, 1, 0, 3, 4]);
  deepEqual(ranked(weighted, placement), [2, 1, 3, 0, 4]);
});

test('chunks of one object are placed apart from each other and from its home', () => {
  const hash = { h0: 1, h1: 2, h2: 3, h3: 4 };
  const seen = new Set<string>();
  const placement = { hi: 0, lo: 0 };
  placeHome(hash, placement);
  seen.add(`${placement.hi}:${placement.lo}`);
  for (let chunk = 0; chunk < 20_000; chunk++) {
    placeChunk(hash, chunk, placement);
    seen.add(`${placement.hi}:${placement.lo}`);
  }
  equal(seen.size, 20_001);
  throws(() => {
    placeChunk(hash, -1, placement);
  });
});

test('the owner is the first candidate, and candidates are all members, each once', () => {
  for (const weights of [[1], [1, 1, 1, 1, 1, 1, 1], [3, 1, 2, 5, 1]]) {
    const ring = new Ring(1, members(weights));
    for (const placement of placements(500)) {
      const order = ranked(ring, placement);
      equal(order[0], ownerOf(ring, placement));
      deepEqual(
        order.toSorted((a, b) => a - b),
        weights.map((_, nodeId) => nodeId),
      );
      const firstTwo: number[] = [];
      equal(candidates(ring, placement, 2, firstTwo), Math.min(2, weights.length));
      deepEqual(firstTwo, order.slice(0, 2));
    }
  }
});

test('an empty ring has no owner', () => {
  const ring = new Ring(0, []);
  equal(ownerIndex(ring, 1, 2), -1);
  throws(() => ownerOf(ring, { hi: 1, lo: 2 }));
  equal(candidates(ring, { hi: 1, lo: 2 }, 3, []), 0);
});

test('a member that leaves or joins moves its own keys and no others, and ranks stay in order', () => {
  const all = placements(4_000);
  for (const weights of [
    [1, 1, 1, 1, 1],
    [1, 2, 3, 4, 5],
    // Without the last one all weights are equal: both ways of scoring must rank alike.
    [2, 2, 2, 2, 7],
  ]) {
    const with5 = new Ring(2, members(weights));
    for (let gone = 0; gone < 5; gone++) {
      const with4 = new Ring(
        1,
        members(weights).filter((member) => member.nodeId !== gone),
      );
      let moved = 0;
      for (const placement of all) {
        const order = ranked(with5, placement);
        deepEqual(
          ranked(with4, placement),
          order.filter((nodeId) => nodeId !== gone),
        );
        if (order[0] === gone) moved++;
      }
      ok(moved > 0);
    }
  }
});

test('keys are shared out by weight, within four standard deviations', () => {
  const all = placements(40_000);
  for (const weights of [
    [1, 1, 1, 1, 1, 1],
    [1, 2, 3, 4],
    [3800, 7600, 950],
  ]) {
    const ring = new Ring(1, members(weights));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const counts = new Int32Array(weights.length);
    for (const placement of all) counts[ownerOf(ring, placement)]!++;
    for (const [nodeId, weight] of weights.entries()) {
      const share = weight / total;
      const deviation = Math.sqrt(all.length * share * (1 - share));
      const off = Math.abs(counts[nodeId]! - all.length * share);
      ok(off < 4 * deviation, `node ${nodeId} of ${weights.join(',')} is off by ${off}`);
    }
  }
});

test('the chunks of one large object are shared out as evenly as those of many', () => {
  const ring = new Ring(1, members([1, 1, 1, 1]));
  const counts = new Int32Array(4);
  const placement = { hi: 0, lo: 0 };
  for (let chunk = 0; chunk < 40_000; chunk++) {
    placeChunk({ h0: 9, h1: 9, h2: 9, h3: 9 }, chunk, placement);
    counts[ownerOf(ring, placement)]!++;
  }
  for (const count of counts) ok(Math.abs(count - 10_000) < 4 * Math.sqrt(7_500));
});

test('who is second is shared out evenly among the others', () => {
  const ring = new Ring(1, members([1, 1, 1, 1, 1]));
  const seconds = new Map<string, number>();
  const into: number[] = [];
  for (const placement of placements(40_000, 3)) {
    candidates(ring, placement, 2, into);
    const pair = into.join('>');
    seconds.set(pair, (seconds.get(pair) ?? 0) + 1);
  }
  equal(seconds.size, 20);
  for (const count of seconds.values()) ok(Math.abs(count - 2_000) < 5 * Math.sqrt(2_000));
});

test('members in any order make the same ring', () => {
  const list = members([1, 2, 3]);
  const a = new Ring(1, list);
  const b = new Ring(1, list.toReversed());
  deepEqual(a.members, b.members);
  notDeepEqual(a.salts[0], a.salts[1]);
  for (const placement of placements(200)) equal(ownerOf(a, placement), ownerOf(b, placement));
});

test('a ring finds its members by node id', () => {
  const ring = new Ring(1, [
    { nodeId: 4_000_000_000, weight: 1, address: 'c' },
    { nodeId: 7, weight: 1, address: 'b' },
    { nodeId: 0, weight: 1, address: 'a' },
  ]);
  equal(ring.member(0)?.address, 'a');
  equal(ring.member(7)?.address, 'b');
  equal(ring.member(4_000_000_000)?.address, 'c');
  equal(ring.member(8), null);
  equal(ring.isEqual, true);
});

test('rings with doubled ids or impossible weights are bugs', () => {
  const member = { nodeId: 1, weight: 1, address: 'a' };
  throws(() => new Ring(1, [member, member]));
  throws(() => new Ring(1, [{ ...member, weight: 0 }]));
  throws(() => new Ring(1, [{ ...member, nodeId: -1 }]));
});
