import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.ts';

const whole = { start: 1000, recordAt: 1000, endAt: Infinity, requests: Infinity, intervalMs: 0 };

test('a closed loop is due at any time until its end', () => {
  const pace = new Pace({ ...whole, endAt: 2000 });
  assert.equal(pace.take(1500), 1500);
  assert.equal(pace.take(1500), 1500);
  assert.ok(Number.isNaN(pace.take(2000)));
  assert.ok(pace.isOver(2000));
  assert.equal(pace.overdue(5000), 0);
});

test('requests of the warm-up are not counted against the count', () => {
  const pace = new Pace({ ...whole, recordAt: 2000, requests: 2 });
  for (let at = 0; at < 10; at++) assert.equal(pace.take(1999), 1999);
  assert.equal(pace.take(2000), 2000);
  assert.equal(pace.take(2000), 2000);
  assert.ok(Number.isNaN(pace.take(2000)));
});

test('a fixed rate is due at even intervals, and keeps the moment when it is late', () => {
  const pace = new Pace({ ...whole, endAt: 1100, intervalMs: 10 });
  assert.equal(pace.take(1000), 1000);
  assert.ok(Number.isNaN(pace.take(1009)));
  assert.equal(pace.nextAt, 1010);
  assert.equal(pace.take(1035), 1010);
  assert.equal(pace.take(1035), 1020);
  assert.equal(pace.take(1035), 1030);
  assert.ok(Number.isNaN(pace.take(1035)));
  assert.equal(pace.overdue(1065), 3);
  // Those that were due before the end stay due after it, the ones after it never are.
  assert.ok(!pace.isOver(5000));
  const late = Array.from({ length: 7 }, () => pace.take(5000));
  assert.deepEqual(late.slice(0, 6), [1040, 1050, 1060, 1070, 1080, 1090]);
  assert.ok(Number.isNaN(late[6]));
  assert.ok(pace.isOver(5000));
  assert.equal(pace.overdue(5000), 0);
});

test('what a count leaves over is overdue, and after a stop nothing is', () => {
  const pace = new Pace({ ...whole, requests: 5, intervalMs: 10 });
  pace.take(1000);
  assert.equal(pace.overdue(9000), 4);
  pace.stop();
  assert.equal(pace.overdue(9000), 0);
  assert.ok(pace.isOver(1000));
});
