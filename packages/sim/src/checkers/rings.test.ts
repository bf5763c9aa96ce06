import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RingRecord } from '../history/ring-record.ts';
import type { ClusterView } from '../history/views.ts';
import { checkAgreement, Rings } from './rings.ts';

const node0 = { process: 'node', id: 0, life: 1 } as const;
const node1 = { process: 'node', id: 1, life: 1 } as const;

/** A ring in which each of the members owns one key, and the first one all further of four. */
function ring(
  by: RingRecord['by'],
  version: number,
  members: readonly number[],
  owners: readonly number[],
): RingRecord {
  return { by, at: version, version, members, owners };
}

const three = [0, 1, 2] as const;
const owners = [0, 1, 2, 0] as const;

describe('rings', () => {
  void test('follow each other at every process, which hear of them in their own time', () => {
    const rings = new Rings();
    assert.equal(rings.adopted(ring(node0, 10, three, owners)), null);
    assert.equal(rings.adopted(ring(node1, 10, three, owners)), null);
    assert.equal(rings.adopted(ring(node0, 20, [0, 1, 2, 3], [0, 3, 2, 0])), null);
    assert.equal(rings.adopted(ring(node1, 20, [0, 1, 2, 3], [0, 3, 2, 0])), null);
    assert.equal(rings.adopted(ring(node0, 30, [0, 2, 3], [0, 3, 2, 0])), null);
  });

  void test('never go back within one life of a process', () => {
    const rings = new Rings();
    rings.adopted(ring(node0, 20, three, owners));
    assert.match(rings.adopted(ring(node0, 10, three, owners)) ?? '', /back to ring 10/);
    assert.match(rings.adopted(ring(node0, 10, three, owners)) ?? '', /back to ring 10/);
    const next = { ...node0, life: 2 };
    assert.equal(rings.adopted(ring(next, 5, three, owners)), null, 'a new life knows nothing');
  });

  void test('are one for each version', () => {
    const rings = new Rings();
    rings.adopted(ring(node0, 10, three, owners));
    assert.match(rings.adopted(ring(node1, 10, [0, 1], [0, 1, 0, 0])) ?? '', /two rings/);
  });

  void test('place alike for each version', () => {
    const rings = new Rings();
    rings.adopted(ring(node0, 10, three, owners));
    assert.match(rings.adopted(ring(node1, 10, three, [0, 1, 2, 1])) ?? '', /two rings/);
  });

  void test('have their owners among their members', () => {
    const rings = new Rings();
    assert.match(rings.adopted(ring(node0, 10, three, [0, 1, 2, 3])) ?? '', /owner 3 outside/);
    assert.equal(rings.adopted(ring(node0, 11, [], [-1, -1, -1, -1])), null);
  });

  void test('leave no key to nobody as long as they have a member', () => {
    const rings = new Rings();
    const bare = rings.adopted(ring(node0, 10, three, [0, 1, -1, 0]));
    assert.match(bare ?? '', /ring 10 leaves a key to nobody/);
  });

  void test('move only the keys of who came or went, whoever saw them in which order', () => {
    const rings = new Rings();
    rings.adopted(ring(node0, 10, three, owners));
    const moved = rings.adopted(ring(node0, 20, [0, 1, 2, 3], [0, 3, 1, 0]));
    assert.match(moved ?? '', /moved from node 2 to node 1, which both have/);
    const older = rings.adopted(ring(node1, 5, [0, 1], [1, 1, 0, 0]));
    assert.match(older ?? '', /between rings 10 and 5 .*from node 0 to node 1/);
  });
});

describe('processes agree', () => {
  const view: ClusterView = {
    running: three,
    processes: [
      { name: 'node 0', version: 10, members: three },
      { name: 'gateway 0', version: 10, members: three },
    ],
  };

  void test('when all place by one ring of those that run', () => {
    assert.equal(checkAgreement(view), null);
  });

  void test('and don’t when one is gone, one is missing, or versions differ', () => {
    assert.match(checkAgreement({ ...view, running: [0, 1] }) ?? '', /nodes 0,1 run/);
    assert.match(checkAgreement({ ...view, running: [0, 1, 2, 3] }) ?? '', /nodes 0,1,2,3 run/);
    const [first] = view.processes;
    const late = { name: 'gateway 1', version: 9, members: three };
    assert.match(checkAgreement({ ...view, processes: [first!, late] }) ?? '', /by ring 9/);
  });
});
