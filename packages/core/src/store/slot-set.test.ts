import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { SlotSet } from './slot-set.ts';

test('a long random history is that of a set', () => {
  const prng = new Prng(1, 2);
  const slots = new SlotSet(100);
  const model = new Set<number>();
  for (let step = 0; step < 5000; step++) {
    const slot = prng.below(100);
    if (prng.chance(0.5)) {
      slots.add(slot);
      model.add(slot);
    } else {
      slots.delete(slot);
      model.delete(slot);
    }
    equal(slots.size, model.size);
  }
});

test('a slot that came later is not in it', () => {
  const slots = new SlotSet(10);
  slots.add(3);
  slots.delete(1000);
  equal(slots.size, 1);
});
