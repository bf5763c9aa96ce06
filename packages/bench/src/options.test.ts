import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownIds } from './catalog.ts';
import { ArgumentError } from './arguments.ts';
import { optionsFrom, usage } from './options.ts';

test('figures are asked for by number, in any case; nothing means all', () => {
  assert.deepEqual(optionsFrom(['--only', 'p1, P14'])?.only, ['P1', 'P14']);
  assert.equal(optionsFrom([])?.only, null);
  assert.equal(optionsFrom(['--help']), null);
});

test('a figure that there is none of, and an option that there is none of, are refused by name', () => {
  assert.throws(() => optionsFrom(['--only', 'P1,P99']), /no figure is called P99/);
  assert.throws(() => optionsFrom(['--fast']), new ArgumentError('There is no option --fast.'));
});

test('every figure is in the help', () => {
  for (const id of knownIds) assert.match(usage, new RegExp(`\\b${id}\\b`));
});
