import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BucketMarks } from './bucket-marks.ts';

/** Three nodes with one mark. */
function three(): BucketMarks {
  const marks = new BucketMarks();
  for (const nodeId of [1, 2, 3]) assert.equal(marks.said(nodeId, 7), false);
  return marks;
}

test('nothing is forgotten while nodes say what they always said, and come and go', () => {
  const marks = three();
  assert.equal(marks.said(2, 7), false, 'it restarted');
  assert.equal(marks.left(1), false);
  assert.equal(marks.said(4, 7), false);
});

test('each node that says another mark makes what was told before count no more', () => {
  const marks = three();
  for (const nodeId of [1, 2, 3]) assert.equal(marks.said(nodeId, 8), true);
  assert.equal(marks.said(1, 8), false);
});

test('so does the last of those that never say so, when it goes', () => {
  const marks = three();
  assert.equal(marks.said(4, 8), false, 'it told nothing before');
  assert.equal(marks.left(1), false);
  assert.equal(marks.left(2), false);
  assert.equal(marks.left(3), true);
});

test('and a node that takes the place of all', () => {
  const marks = three();
  for (const nodeId of [1, 2, 3]) assert.equal(marks.left(nodeId), false);
  assert.equal(marks.said(4, 8), true);
  assert.equal(marks.left(4), false);
  assert.equal(marks.said(1, 8), false);
});
