import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ownerOf } from '../placement.ts';
import { Ring } from '../ring.ts';
import { HotHints } from './hot-hints.ts';
import { Suspects } from './suspects.ts';

const nodes = [5, 3, 8];
/** The moment of each test's steps. */
const moment = { now: 50 };
beforeEach(() => {
  moment.now = 50;
});
const hint = { remainingMs: 100, nodes };
const ring = new Ring(
  1,
  [1, 2, 3, 5, 8, 9].map((nodeId) => ({ nodeId, weight: 1, address: '' })),
);
/** Placements that node 5 owns. */
const owned = Array.from({ length: 200 }, (_, lo) => ({ hi: 1, lo })).filter(
  (one) => ownerOf(ring, one) === 5,
);
const placement = owned[0]!;

function hintsWith(until = 100): HotHints {
  const hints = new HotHints(moment, 4, 77);
  hints.learn(until - hint.remainingMs, placement, hint, ring);
  return hints;
}

test('reads go to all nodes of a hint in turn, and each gets its share', () => {
  const hints = hintsWith();
  const none = new Suspects(1);
  const turns = Array.from({ length: 9 }, () => hints.next(placement, [], none));
  for (const nodeId of nodes) assert.equal(turns.filter((turn) => turn === nodeId).length, 3);
  assert.equal(hints.next({ hi: 2, lo: 1 }, [], none), -1, 'of another placement nothing is known');
});

test('a node that many reads wait for gets fewer', () => {
  const hints = hintsWith();
  const none = new Suspects(1);
  for (let read = 0; read < 3; read++) hints.loads.began(3);
  const turns = Array.from({ length: 6 }, () => {
    const nodeId = hints.next(placement, [], none);
    hints.loads.began(nodeId);
    return nodeId;
  });
  assert.deepEqual(turns.toSorted(), [5, 5, 5, 8, 8, 8]);
  for (let read = 0; read < 3; read++) hints.loads.ended(3);
  assert.equal(hints.next(placement, [], none), 3);
});

test('nodes that were tried or are suspected are passed over', () => {
  const hints = hintsWith();
  const suspects = new Suspects(1000);
  suspects.add(0, 5);
  for (let i = 0; i < 4; i++) assert.equal(hints.next(placement, [3], suspects), 8);
  assert.equal(hints.next(placement, [3, 8], suspects), -1);
});

test('a hint ends by itself, counted from when its read was sent', () => {
  const hints = hintsWith(100);
  const none = new Suspects(1);
  moment.now = 99.9;
  assert.ok(hints.names(placement, 8));
  moment.now = 100;
  assert.equal(hints.next(placement, [], none), -1);
  assert.equal(hints.count, 0);
});

test('a later hint takes the place of an earlier one, whichever arrives last', () => {
  const hints = hintsWith(200);
  hints.learn(0, placement, { remainingMs: 100, nodes: [5, 2] }, ring);
  assert.ok(hints.names(placement, 8));
  hints.learn(150, placement, { remainingMs: 100, nodes: [5, 9] }, ring);
  moment.now = 240;
  assert.ok(hints.names(placement, 9));
  assert.ok(!hints.names(placement, 8));
});

test('holders that accept one after the other all get their share', () => {
  const hints = new HotHints(moment, 4, 77);
  hints.learn(0, placement, { remainingMs: 100, nodes: [5, 3] }, ring);
  hints.learn(0.1, placement, { remainingMs: 99, nodes }, ring);
  const none = new Suspects(1);
  const turns = new Set(Array.from({ length: 3 }, () => hints.next(placement, [], none)));
  assert.deepEqual([...turns].toSorted(), [3, 5, 8]);
});

test('no more hints are kept than may be, and a new ring makes all void', () => {
  const hints = new HotHints(moment, 4, 77);
  for (const one of owned.slice(0, 9)) hints.learn(0, one, hint, ring);
  assert.equal(hints.count, 4);
  assert.ok(hints.names(owned[8]!, 8));
  hints.clear();
  assert.equal(hints.count, 0);
  assert.ok(!hints.names(owned[8]!, 8));
});

test('a hint that names a node which is no member is not believed', () => {
  const hints = new HotHints(moment, 4, 77);
  hints.learn(0, placement, { remainingMs: 100, nodes: [5, 4] }, ring);
  assert.equal(hints.count, 0);
});

test('a hint of a node that owned the placement before the ring changed is not believed, however late it comes', () => {
  const before = new Ring(1, [...ring.members, { nodeId: 11, weight: 1, address: '' }]);
  const moved = Array.from({ length: 200 }, (_, lo) => ({ hi: 1, lo })).find(
    (one) => ownerOf(before, one) === 11 && ownerOf(ring, one) !== 3,
  );
  const after = new Ring(2, [...ring.members]);
  assert.ok(moved !== undefined);
  const hints = new HotHints(moment, 4, 77);
  hints.learn(0, moved, { remainingMs: 100, nodes: [11, 3] }, before);
  assert.equal(hints.count, 1);
  hints.clear();
  hints.learn(0, moved, { remainingMs: 100, nodes: [11, 3] }, after);
  hints.learn(0, moved, { remainingMs: 100, nodes: [3, 8] }, after);
  assert.equal(hints.count, 0);
  hints.learn(0, moved, { remainingMs: 100, nodes: [ownerOf(after, moved), 3] }, after);
  assert.equal(hints.count, 1);
});
