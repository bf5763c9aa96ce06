import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionBudget } from './connection-budget.ts';

test('all who share the count together get as many as there may be', () => {
  const open = new Int32Array(new SharedArrayBuffer(4));
  const [one, other] = [new ConnectionBudget(3, open), new ConnectionBudget(3, open)];
  assert.deepEqual([one.take(), other.take(), one.take()], [true, true, true]);
  for (let nth = 0; nth < 5; nth++) assert.deepEqual([one.take(), other.take()], [false, false]);
  other.giveBack();
  assert.equal(one.take(), true);
  assert.equal(other.take(), false);
});
