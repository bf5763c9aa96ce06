import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Layout } from '../layout.ts';
import { Ring } from '../ring.ts';
import { newGatewayCounters } from './counters.ts';
import { HotHints } from './hot-hints.ts';
import { Planner } from './plan.ts';
import { Suspects } from './suspects.ts';

const layout = new Layout({ blockBytes: 16, chunkBytes: 64, tailBytes: 64, wholeBytes: 128 });
const members = [1, 2, 3].map((nodeId) => ({ nodeId, weight: 1, address: '' }));
const hash = { h0: 1, h1: 2, h2: 3, h3: 4 };

function newPlanner(suspects = new Suspects(1000)): Planner {
  const hints = new HotHints({ now: 0 }, 4, 77);
  return new Planner(layout, new Ring(1, members), suspects, hints, newGatewayCounters());
}

test('a piece ends with its block, or with what is read', () => {
  const planner = newPlanner();
  assert.equal(planner.pieceLast(0, 1000), 15);
  assert.equal(planner.pieceLast(15, 1000), 15);
  assert.equal(planner.pieceLast(16, 1000), 31);
  assert.equal(planner.pieceLast(20, 25), 25);
  assert.equal(planner.pieceLast(20, 31), 31);
});

test('a part ends with the chunk, with what the home keeps, or with what is read', () => {
  const planner = newPlanner();
  const size = 1000;
  assert.equal(planner.partLast(size, 0, size - 1), 63);
  assert.equal(planner.partLast(size, 64, size - 1), 127);
  assert.equal(planner.partLast(size, 64, 100), 100);
  assert.equal(planner.partLast(size, 900, size - 1), 927, 'the tail begins with a block');
  assert.equal(planner.partLast(size, 928, size - 1), 959);
});

test('each node is tried once, those that nobody suspects first', () => {
  const suspects = new Suspects(1000);
  const planner = newPlanner(suspects);
  const first = planner.home(hash)!;
  assert.equal(planner.homeIsReplaced(hash, [], first), false);
  const second = planner.home(hash, [first])!;
  const third = planner.home(hash, [first, second])!;
  assert.deepEqual([first, second, third].sort(), [1, 2, 3]);
  assert.equal(planner.home(hash, [1, 2, 3]), null);
  assert.equal(planner.homeIsReplaced(hash, [first], second), true);

  suspects.add(0, first);
  assert.equal(planner.home(hash), second);
  assert.equal(planner.home(hash, [second, third]), first, 'a suspect is better than nobody');
});
