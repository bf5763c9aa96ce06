import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_SIZES, Layout } from '../layout.ts';
import { newNodeMessage, type NodeMessage } from '../node-message.ts';
import { candidates, ownerOf } from '../placement.ts';
import { Ring } from '../ring.ts';
import { newNodeCounters } from './counters.ts';
import { GrantedLeases } from './granted-leases.ts';
import { defaultNodeLimits } from './limits.ts';
import { Ownership } from './ownership.ts';

const leaseMs = 1000;
/** When holders report, and when leases are renewed. */
const reportAt = 0.5 * leaseMs;
const renewAt = 0.75 * leaseMs;
const hotReplicas = 2;
const ringOf = (version: number, nodeIds: readonly number[]): Ring =>
  new Ring(
    version,
    nodeIds.map((nodeId) => ({ nodeId, weight: 1, address: '' })),
  );
const nodeIds = [0, 1, 2, 3, 4];
const ring = ringOf(1, nodeIds);

/** An owner and the leases that it sends. Time moves on as its methods say. */
class Owner {
  readonly sent: { to: number; at: number; hi: number; turn: number }[] = [];
  readonly leases: GrantedLeases;
  readonly ownership: Ownership;
  #now = 0;

  constructor(nodeId: number) {
    const limits = { ...defaultNodeLimits, leaseMs, hotReplicas, hotThreshold: 1 };
    const ownership = new Ownership(ring, nodeId, new Layout(DEFAULT_SIZES), 1000, 1000);
    this.ownership = ownership;
    const sendToNode = (to: number, { placement, turn }: NodeMessage): void => {
      this.sent.push({ to, at: this.#now, hi: placement.hi, turn });
    };
    this.leases = new GrantedLeases({ sendToNode }, ownership, limits, newNodeCounters(), 1);
  }

  grant(now: number, hi: number): void {
    this.#now = now;
    this.leases.grant(now, { hi, lo: 0 });
    // Read so often that it is renewed.
    this.leases.leaseOf(hi, 0)!.reads = 1e6;
  }

  /** What a holder says of the lease that was sent to it last. */
  hears(now: number, kind: NodeMessage['kind'], from: number, hi: number): void {
    this.#now = now;
    const turn = this.sent.findLast((lease) => lease.to === from && lease.hi === hi)?.turn ?? 0;
    const message = { ...newNodeMessage(), kind, from, placement: { hi, lo: 0 }, turn, reads: 1e6 };
    this.leases.onMessage(now, message);
  }

  tick(now: number): void {
    this.#now = now;
    this.leases.onTick(now);
  }

  /** Whoever has a lease of this placement that isn't over. */
  holders(now: number, hi: number): number[] {
    const running = this.sent.filter((lease) => lease.hi === hi && now < lease.at + leaseMs);
    return [...new Set(running.map(({ to }) => to))];
  }
}

function rankedFor(hi: number): number[] {
  const ranked: number[] = [];
  candidates(ring, { hi, lo: 0 }, 5, ranked);
  return ranked;
}

/** Two placements of one owner. Both are lent to `slow`; the one to `steady` too, the other to whoever is ranked last for the one. */
function setUp(): { owner: Owner; hi: number; other: number; slow: number; steady: number } {
  const his = Array.from({ length: 4000 }, (_, nth) => Math.imul(nth + 1, 0x9e3779b1) >>> 0);
  const hi = his[0]!;
  const [nodeId, slow, steady, , last] = rankedFor(hi);
  const other = his.find((one) => {
    const [owner, ...lentTo] = rankedFor(one).slice(0, 1 + hotReplicas);
    return owner === nodeId && lentTo.includes(slow!) && lentTo.includes(last!);
  });
  return { owner: new Owner(nodeId!), hi, other: other!, slow: slow!, steady: steady! };
}

// Seed 43 of the simulator: a holder was passed over for a turn, its place went to another, and with the next turn three held a lease
// that two may.
describe('a holder whose lease ran out while it was passed over', () => {
  test('has lost its place to the next candidate, and gets none beside that one', () => {
    const { owner, hi, other, slow, steady } = setUp();
    owner.grant(0, hi);
    owner.hears(reportAt, 'report', slow, hi);
    owner.hears(reportAt, 'report', steady, hi);
    // Of something else it says nothing: it counts as silent until after the second renewal.
    owner.grant(-leaseMs / 10, other);
    owner.tick(renewAt - leaseMs / 10);
    owner.tick(renewAt);
    assert.deepEqual(owner.holders(renewAt, hi).sort(), [slow, steady].sort(), 'its lease lasts');
    owner.hears(renewAt + reportAt, 'report', steady, hi);
    owner.tick(2 * renewAt);
    const [, , , third] = rankedFor(hi);
    assert.deepEqual(owner.holders(2 * renewAt, hi).sort(), [steady, third].sort());
    for (const node of [steady, third!]) owner.hears(2 * renewAt + reportAt, 'report', node, hi);
    owner.tick(3 * renewAt);
    assert.deepEqual(owner.holders(3 * renewAt, hi).sort(), [steady, third].sort());
  });

  test('gets none back when it speaks again, while others have all there are', () => {
    const { owner, hi, other, slow, steady } = setUp();
    const [, , , third, fourth] = rankedFor(hi);
    owner.grant(0, hi);
    owner.hears(reportAt, 'report', slow, hi);
    owner.hears(reportAt, 'report', steady, hi);
    // Of something else it says nothing: it counts as silent for the first renewal, and no more for the second.
    owner.grant(-0.3 * leaseMs, other);
    owner.hears(reportAt - 0.3 * leaseMs, 'report', fourth!, other);
    owner.tick(renewAt - 0.3 * leaseMs);
    owner.tick(renewAt);
    owner.hears(leaseMs + 100, 'refused', steady, hi);
    const instead = [third, fourth].sort();
    const sentSince = (at: number): number[] =>
      owner.sent.filter((lease) => lease.hi === hi && lease.at >= at).map(({ to }) => to);
    assert.deepEqual(sentSince(leaseMs).sort(), instead);
    for (const node of instead) owner.hears(leaseMs + 200, 'report', node!, hi);
    owner.tick(2 * renewAt);
    assert.deepEqual(sentSince(2 * renewAt).sort(), instead);
  });
});

test('whoever refuses makes room for the next candidate at once', () => {
  const { owner, hi, slow, steady } = setUp();
  owner.grant(0, hi);
  owner.hears(1, 'refused', slow, hi);
  const [, , , third] = rankedFor(hi);
  assert.deepEqual(
    owner.sent.map(({ to }) => to),
    [slow, steady, third],
  );
});

// Found by a random history of the machines: a node lent something to itself.
test('what has another owner since is lent to nobody, whoever refuses', () => {
  const { owner, hi, slow } = setUp();
  owner.grant(0, hi);
  const joined = Array.from({ length: 1000 }, (_, nth) => ringOf(2, [...nodeIds, 5 + nth]));
  const next = joined.find((one) => ownerOf(one, { hi, lo: 0 }) >= 5);
  owner.ownership.setRing(1, next!, []);
  const { length } = owner.sent;
  owner.hears(2, 'refused', slow, hi);
  assert.deepEqual(owner.sent.slice(length), []);
});
