/**
 * Ages: metadata travels with the time that has passed since the request was sent that confirmed it, whichever way the home
 * answers. Gateways can't know better, so an age that is too small makes answers older than their bucket allows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockBytes, Rig, type RigOptions } from '../testing/rig.ts';

const delayMs = 10;

/** A cluster of one node whose gateway looks everything up, and the ages that its home answers with. */
function rigWithAges(options: RigOptions = {}): { rig: Rig; ages: number[]; expected: number[] } {
  const rig = new Rig({ nodes: 1, gatewayLimits: { gatewayTtlMs: 1 }, ...options });
  const ages: number[] = [];
  const expected: number[] = [];
  rig.delayMs = () => delayMs;
  const deliver = rig.deliverAnswer.bind(rig);
  rig.deliverAnswer = (transfer, answer) => {
    if (answer.kind === 'metadata') {
      ages.push(answer.ageMs);
      // S3 notes when it reads a request: that was sent a message's time earlier.
      expected.push(rig.queue.now - (rig.s3.requests[0]!.at - delayMs));
    }
    deliver(transfer, answer);
  };
  rig.s3.put(0, 'b', 'k', 2 * blockBytes);
  return { rig, ages, expected };
}

test('without a body, also to a reader that shares the request of another', () => {
  const { rig, ages, expected } = rigWithAges();
  rig.ask('k', { head: true });
  rig.pass(15);
  rig.ask('k', { head: true });
  rig.settle();
  rig.pass(500);
  rig.get('k', { head: true });
  assert.equal(rig.s3.requests.length, 1);
  assert.equal(ages.length, 3);
  assert.deepEqual(ages, expected);
});

test('with bytes from disk', () => {
  const { rig, ages, expected } = rigWithAges({ policy: { admitOnFirstRead: true } });
  rig.get('k');
  rig.pass(500);
  rig.get('k');
  assert.equal(rig.s3.requests.length, 1);
  assert.equal(ages.length, 2);
  assert.deepEqual(ages, expected);
});

test('with bytes of a fill that is on its way', () => {
  const { rig, ages, expected } = rigWithAges();
  rig.get('k', { head: true });
  rig.pass(500);
  const first = rig.ask('k');
  rig.pass(25);
  const joining = rig.ask('k');
  rig.settle();
  assert.deepEqual([first.end, joining.end], ['finished', 'finished']);
  assert.equal(rig.s3.requests.length, 2);
  assert.equal(ages.length, 3);
  assert.deepEqual(ages, expected);
});
