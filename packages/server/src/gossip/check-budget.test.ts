import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheckBudget } from './check-budget.ts';

test('strangers share a budget, known senders have one each, and all together have one', () => {
  const budget = new CheckBudget(0);
  const allowed = (now: number, address: string, times: number): number => {
    let count = 0;
    for (let i = 0; i < times; i++) if (budget.allows(now, address)) count += 1;
    return count;
  };
  budget.remember(0, 'member');
  assert.equal(allowed(0, 'stranger 1', 2000) + allowed(0, 'stranger 2', 2000), 1000);
  assert.equal(allowed(0, 'member', 2000), 200);
  assert.equal(allowed(1000, 'stranger 3', 2000), 500);
  assert.equal(allowed(1000, 'member', 2000), 100);
  for (let i = 0; i < 200; i++) budget.remember(60_000, `member ${i}`);
  let all = 0;
  for (let i = 0; i < 200; i++) all += allowed(60_000, `member ${i}`, 1000);
  assert.equal(all, 20_000);
});

test('only so many senders are remembered, the latest', () => {
  const budget = new CheckBudget(0);
  for (let i = 0; i <= 4096; i++) budget.remember(0, `member ${i}`);
  for (let i = 0; i < 1000; i++) assert.ok(budget.allows(0, 'a stranger'));
  assert.equal(budget.allows(0, 'member 0'), false);
  assert.equal(budget.allows(0, 'member 1'), true);
});

test('valid packets that are played back from ever other addresses push out no member that speaks', () => {
  const budget = new CheckBudget(0);
  for (let copy = 0; copy < 10_000; copy++) {
    if (copy % 1000 === 0) budget.remember(copy, 'member');
    budget.remember(copy, `copy-${copy}`);
  }
  while (budget.allows(10_000, 'stranger'));
  assert.ok(budget.allows(10_000, 'member'));
});
