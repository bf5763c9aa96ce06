import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { RowQueue } from './row-queue.ts';

test('a long random history is that of an array', () => {
  const prng = new Prng(1, 2);
  const queue = new RowQueue();
  const model: number[] = [];
  for (let step = 0; step < 5000; step++) {
    for (let i = prng.below(20); i > 0; i--) {
      const slot = prng.below(1000);
      queue.push(slot);
      model.push(slot);
    }
    const count = prng.below(Math.min(model.length, 30) + 1);
    queue.drop(count);
    model.splice(0, count);
    equal(queue.size, model.length);
    if (model.length === 0) continue;
    const index = prng.below(model.length);
    equal(queue.at(index), model[index]);
  }
});

test('looking or dropping past the end is a bug', () => {
  const queue = new RowQueue();
  queue.push(1);
  throws(() => queue.at(1));
  throws(() => {
    queue.drop(2);
  });
});
