import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackOff } from './back-off.ts';

test('requests are held for as long as the origin is given, and spread out behind it', () => {
  const backOff = new BackOff();
  assert.equal(backOff.holdMs(0, 0), 0);
  backOff.slowedDown(1000);
  assert.equal(backOff.holdMs(1000, 0), 50);
  assert.equal(backOff.holdMs(1020, 0), 30);
  assert.ok(backOff.holdMs(1000, 0.99) > 70);
  assert.ok(backOff.holdMs(1000, 0.99) < 75);
  assert.equal(backOff.holdMs(1050, 0.99), 0);
});

test('many refusals in one pause are one, and each pause after another is twice as long up to a limit', () => {
  const backOff = new BackOff();
  let now = 0;
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    for (let refusal = 0; refusal < 100; refusal += 1) backOff.slowedDown(now);
    const pause = backOff.holdMs(now, 0);
    pauses.push(pause);
    now += pause;
  }
  assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1600, 3200, 3200, 3200]);
});

test('answers to requests of before the pause make nobody calmer, those of after it do', () => {
  const backOff = new BackOff();
  backOff.slowedDown(0);
  backOff.slowedDown(50);
  assert.equal(backOff.holdMs(50, 0), 100);
  for (let answer = 0; answer < 10; answer += 1) backOff.wentWell(40);
  backOff.slowedDown(150);
  assert.equal(backOff.holdMs(150, 0), 200);
  for (let answer = 0; answer < 10; answer += 1) backOff.wentWell(350);
  backOff.slowedDown(400);
  assert.equal(backOff.holdMs(400, 0), 50);
});
