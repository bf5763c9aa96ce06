import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { EventQueue } from './event-queue.ts';

describe('the event queue', () => {
  test('lets things happen in order of time, and of scheduling where times are equal', () => {
    const queue = new EventQueue();
    const prng = new Prng(1, 2);
    const expected: { time: number; order: number }[] = [];
    const happened: { time: number; order: number }[] = [];
    for (let order = 0; order < 500; order++) {
      const event = { time: prng.below(50), order };
      expected.push(event);
      queue.at(event.time, () => happened.push(event));
    }
    while (queue.step());
    expected.sort((one, other) => one.time - other.time || one.order - other.order);
    assert.deepEqual(happened, expected);
    assert.equal(queue.now, expected.at(-1)!.time);
  });

  test('lets nothing happen within the call that schedules it', () => {
    const queue = new EventQueue();
    let happened = 0;
    queue.in(0, () => (happened += 1));
    assert.equal(happened, 0);
    assert.equal(queue.step(), true);
    assert.equal(happened, 1);
    assert.equal(queue.step(), false);
  });

  test('runs to a moment, with all that is due by then and nothing later', () => {
    const queue = new EventQueue();
    const happened: number[] = [];
    for (const time of [3, 5, 8]) queue.at(time, () => happened.push(time));
    queue.runTo(5);
    assert.deepEqual(happened, [3, 5]);
    queue.runTo(7);
    assert.equal(queue.now, 7);
    assert.equal(queue.next, 8);
  });

  test('tells what is under way from processes that look at their deadlines', () => {
    const queue = new EventQueue();
    queue.at(1, () => undefined);
    queue.lookAt(2, () => undefined);
    assert.equal(queue.busy, 1);
    queue.step();
    assert.equal(queue.busy, 0);
    assert.equal(queue.next, 2);
  });

  test('refuses the past', () => {
    const queue = new EventQueue();
    queue.runTo(10);
    assert.throws(() => {
      queue.at(9, () => undefined);
    }, /past/);
  });
});
