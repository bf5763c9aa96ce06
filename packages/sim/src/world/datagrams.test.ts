import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { Datagrams } from './datagrams.ts';
import { EventQueue } from './event-queue.ts';
import { Network } from './network.ts';

/** Sends numbered datagrams from place 0 to place 1 and says in which order they arrive. */
function sent(count: number, lostPercent: number, twicePercent: number, blockedMs = 0): number[] {
  const queue = new EventQueue();
  const prng = new Prng(1, 2);
  const options = { networkMs: 5, latePercent: 0, linkTimeoutMs: 1000, places: 2 };
  const network = new Network(queue, prng, options);
  const datagrams = new Datagrams(queue, prng, network, {
    networkMs: 5,
    lostPercent,
    twicePercent,
  });
  const arrived: number[] = [];
  network.block(0, 1, blockedMs);
  for (let number = 0; number < count; number++) {
    datagrams.send(0, 1, () => arrived.push(number));
    queue.runTo(number + 1);
  }
  assert.equal(queue.busy, 0, 'nobody waits for datagrams');
  while (queue.step());
  return arrived;
}

describe('datagrams', () => {
  test('arrive each in its own time, and overtake each other', () => {
    const arrived = sent(100, 0, 0);
    assert.equal(arrived.length, 100);
    assert.deepEqual(
      arrived.toSorted((a, b) => a - b),
      Array.from({ length: 100 }, (_, at) => at),
    );
    assert.notDeepEqual(
      arrived,
      arrived.toSorted((a, b) => a - b),
    );
  });

  test('get lost, and come twice', () => {
    const lost = sent(1000, 30, 0);
    assert.ok(lost.length > 600 && lost.length < 800, `${lost.length}`);
    const twice = sent(1000, 0, 30);
    assert.ok(twice.length > 1200 && twice.length < 1400, `${twice.length}`);
    assert.equal(new Set(twice).size, 1000);
  });

  test('don’t wait where nothing gets through', () => {
    assert.deepEqual(sent(100, 0, 0, 50.5).toSorted((a, b) => a - b)[0], 51);
  });
});
