import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLiveness } from './liveness.ts';
import { HandMade, rules } from './testing/hand-made.ts';

function ended() {
  const made = new HandMade();
  const answer = made.answer(made.put(10, 'k', 40), { startedAt: 100 });
  const write = made.written(200, 'k', 'done');
  const verdict = (faultsEndedAt = 0) => checkLiveness(made.history, rules, faultsEndedAt);
  return { answer, write, verdict };
}

void test('everything that was asked ended in time', () => {
  const { answer, write, verdict } = ended();
  assert.equal(verdict(), null);
  answer.end = 'gone';
  write.outcome = 'unknown';
  assert.equal(verdict(), null);
});

void test('a read that hangs is found, and so is a write', () => {
  const { answer, write, verdict } = ended();
  write.outcome = 'open';
  assert.match(verdict() ?? '', /put 0 of client 0, asked at 200, was never answered/);
  answer.end = 'open';
  assert.match(verdict() ?? '', /read 0 of client 0, asked at 100, was never answered/);
});

void test('what takes too long without a fault is found', () => {
  const { answer, write, verdict } = ended();
  write.endedAt = 5201;
  assert.match(verdict() ?? '', /put 0 .* ended only at 5201/);
  answer.endedAt = 5101;
  assert.match(verdict() ?? '', /read 0 .* ended only at 5101/);
  answer.endedAt = 5100;
  write.endedAt = 5200;
  assert.equal(verdict(), null);
});

void test('the time runs from the end of the last fault', () => {
  const { answer, verdict } = ended();
  answer.endedAt = 60_000;
  assert.notEqual(verdict(54_999), null);
  assert.equal(verdict(55_000), null);
});
