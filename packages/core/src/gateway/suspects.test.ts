import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Suspects } from './suspects.ts';

test('a node that failed is a suspect for its time, and no longer', () => {
  const suspects = new Suspects(1000);
  assert.equal(suspects.deadline, Infinity);
  suspects.add(10, 7);
  assert.equal(suspects.deadline, 1010);
  suspects.expire(1009);
  assert.ok(suspects.has(7));
  assert.ok(!suspects.has(8));
  suspects.expire(1010);
  assert.ok(!suspects.has(7));
  assert.ok(suspects.isEmpty);
});

test('failing again starts its time anew', () => {
  const suspects = new Suspects(1000);
  suspects.add(0, 7);
  suspects.add(500, 8);
  suspects.add(900, 7);
  assert.equal(suspects.deadline, 1500);
  suspects.expire(1500);
  assert.ok(suspects.has(7));
  assert.equal(suspects.size, 1);
});

test('a node that was reached is no suspect', () => {
  const suspects = new Suspects(1000);
  suspects.add(0, 7);
  suspects.clear(7);
  assert.ok(!suspects.has(7));
});
