import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OriginClock } from './origin-clock.ts';

const hour = 3_600_000;
const dateOf = (ms: number): string => new Date(ms).toUTCString();

test('a refusal whose date is far off sets the clock, once, and all that were signed for the wrong time are worth another try', () => {
  let wall = Date.UTC(2026, 0, 1);
  const set: number[] = [];
  const clock = new OriginClock(
    (aheadMs) => set.push(aheadMs),
    () => wall,
  );
  const before = clock.now();
  assert.equal(before, wall);
  assert.equal(clock.refusedAt(dateOf(wall + hour), before), true);
  assert.equal(clock.refusedAt(dateOf(wall + hour), before), true);
  assert.equal(clock.now(), wall + hour);
  assert.equal(clock.refusedAt(dateOf(wall + hour), clock.now()), false, 'another reason');
  wall += 1000;
  assert.equal(clock.now(), wall + hour);
  // Somebody sets this machine's clock right.
  wall += hour;
  assert.equal(clock.refusedAt(dateOf(wall), clock.now()), true);
  assert.equal(clock.now(), wall);
  assert.deepEqual(set, [hour, 0]);
});

test('a date that is near, or none, says nothing', () => {
  const wall = Date.UTC(2026, 0, 1);
  const clock = new OriginClock(
    () => assert.fail(),
    () => wall,
  );
  for (const date of ['', 'soon', dateOf(wall + 4 * 60_000), dateOf(wall - 4 * 60_000)]) {
    assert.equal(clock.refusedAt(date, wall), false);
  }
  assert.equal(clock.now(), wall);
});
