import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines, NONE_DUE } from './deadlines.ts';
import { Prng } from './prng.ts';

test('keys fall due in the order of their times, and not before', () => {
  const deadlines = new Deadlines(8);
  equal(deadlines.next(), Infinity);
  deadlines.set(3, 30);
  deadlines.set(1, 10);
  deadlines.set(2, 20);
  equal(deadlines.next(), 10);
  equal(deadlines.takeDue(9), NONE_DUE);
  equal(deadlines.takeDue(25), 1);
  equal(deadlines.takeDue(25), 2);
  equal(deadlines.takeDue(25), NONE_DUE);
  equal(deadlines.next(), 30);
});

test('a deadline can move both ways and go', () => {
  const deadlines = new Deadlines(4);
  deadlines.set(0, 10);
  deadlines.set(1, 20);
  deadlines.set(0, 30);
  equal(deadlines.next(), 20);
  deadlines.set(0, 5);
  equal(deadlines.next(), 5);
  deadlines.clear(0);
  deadlines.clear(0);
  equal(deadlines.next(), 20);
  equal(deadlines.count, 1);
});

test('keys out of range and times that are none are bugs', () => {
  const deadlines = new Deadlines(4);
  throws(() => {
    deadlines.set(4, 1);
  });
  throws(() => {
    deadlines.set(-1, 1);
  });
  throws(() => {
    deadlines.set(0, NaN);
  });
});

test('random histories agree with a plain map', () => {
  const prng = new Prng(5, 6);
  const deadlines = new Deadlines(64);
  const model = new Map<number, number>();
  for (let step = 0; step < 40_000; step++) {
    const key = prng.below(64);
    const choice = prng.below(10);
    if (choice < 5) {
      const time = prng.below(1000);
      deadlines.set(key, time);
      model.set(key, time);
    } else if (choice < 8) {
      deadlines.clear(key);
      model.delete(key);
    } else {
      const now = prng.below(1000);
      const earliest = Math.min(...model.values());
      const due = deadlines.takeDue(now);
      if (earliest > now) {
        equal(due, NONE_DUE);
      } else {
        equal(model.get(due), earliest);
        model.delete(due);
      }
    }
    equal(deadlines.count, model.size);
    equal(deadlines.next(), Math.min(...model.values()));
  }
});
