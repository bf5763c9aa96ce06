/** What the command understands, and what it says about the rest. */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { wantedFrom } from './arguments.ts';

const one = { kind: 'one', seed: null, isQuiet: false, optionsText: null, shrinks: false };

test('without arguments one random seed is run', () => {
  deepEqual(wantedFrom([]), one);
});

test('a seed is replayed, quietly, with other options or made smaller', () => {
  deepEqual(wantedFrom(['42']), { ...one, seed: 42 });
  deepEqual(wantedFrom(['42', '--quiet']), { ...one, seed: 42, isQuiet: true });
  deepEqual(wantedFrom(['--shrink', '0', '--options', '{}']), {
    ...one,
    seed: 0,
    optionsText: '{}',
    shrinks: true,
  });
});

test('many seeds run on a thread for each core, or on as many as are said', () => {
  const workers = availableParallelism();
  deepEqual(wantedFrom(['0', '--seeds', '10']), { kind: 'many', seed: 0, count: 10, workers });
  deepEqual(wantedFrom(['--seeds', '10', '--workers', '1']), {
    kind: 'many',
    seed: null,
    count: 10,
    workers: 1,
  });
  equal(wantedFrom(['--help', '1']).kind, 'help');
});

test('arguments that mean nothing are refused with what would', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['x'], /seed 'x' is no whole number from 0/],
    [['1.5'], /seed '1.5'/],
    [['9007199254740992'], /seed '9007199254740992' is no whole number/],
    [['1', '2'], /one seed at most, found 1 2/],
    [['0', '--seeds', '0'], /--seeds '0' is no whole number from 1/],
    [['0', '--seeds', '-3'], /--seeds/],
    [['0', '--seeds'], /--seeds/],
    [['9007199254740991', '--seeds', '2'], /there are no 2 seeds from 9007199254740991 on/],
    [['0', '--seeds', '9', '--workers', '257'], /--workers '257'/],
    [['0', '--workers', '2'], /--workers goes with --seeds/],
    [['0', '--seeds', '9', '--shrink'], /not with --seeds/],
    [['0', '--seeds', '9', '--quiet'], /not with --seeds/],
    [['0', '--frob'], /^There is no option --frob\.$/],
  ];
  for (const [args, message] of cases) {
    throws(() => wantedFrom(args), { name: 'ArgumentError', message }, args.join(' '));
  }
});
