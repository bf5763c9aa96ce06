// Leaks and bounds look at the same figures with different eyes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Level, ProcessState } from '../history/views.ts';
import { checkBounds } from './bounds.ts';
import { checkLeaks } from './leaks.ts';

const kept: Level = { name: 'metadata entries', value: 7, limit: 8, restsAtZero: false };
const held: Level = { name: 'pins', value: 0, limit: 4, restsAtZero: true };

function state(...levels: Level[]): ProcessState {
  return { name: 'node 2', levels };
}

void test('what a cache keeps is no leak, what it holds for somebody is', () => {
  assert.equal(checkLeaks(state(kept, held)), null);
  assert.equal(checkLeaks(state(kept, { ...held, value: 1 })), 'node 2 still has 1 pins');
  assert.equal(checkLeaks(state({ ...held, value: -1 }, kept)), 'node 2 still has -1 pins');
});

void test('a level reaches its limit and doesn’t pass it', () => {
  assert.equal(checkBounds(state({ ...kept, value: 8 }, { ...held, value: 4 })), null);
  assert.match(
    checkBounds(state(held, { ...kept, value: 9 })) ?? '',
    /node 2 has 9 metadata entries, more than 8/,
  );
});

void test('no level is below zero', () => {
  assert.equal(checkBounds(state({ ...held, value: -1 })), 'node 2 has -1 pins');
});

void test('a level is a number', () => {
  assert.equal(checkBounds(state({ ...kept, value: NaN })), 'node 2 has NaN metadata entries');
});
