import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArgumentError, wantedFrom } from './arguments.ts';

const bad: readonly (readonly [args: string, message: RegExp, usage: RegExp])[] = [
  ['', /^a command is missing$/, /COMMAND/],
  ['fly', /^there is no command fly$/, /COMMAND/],
  ['run', /^run takes one file, not 0$/, /load run PLAN/],
  ['run a b', /^run takes one file, not 2$/, /load run PLAN/],
  ['seed a --fast', /^There is no option --fast\.$/, /load seed PLAN/],
  ['seed a --connections 0', /^--connections 0: a whole number from 1 to 100000/, /load seed/],
  ['report a --step x', /--step/, /load report RESULT/],
  ['chart', /^chart takes one file/, /load chart RESULT/],
];

for (const [args, message, usage] of bad) {
  test(`"${args}" means nothing`, () => {
    assert.throws(
      () => wantedFrom(args.split(' ').filter((word) => word !== '')),
      (error) =>
        error instanceof ArgumentError && message.test(error.message) && usage.test(error.usage),
    );
  });
}

test('every command has its help', () => {
  for (const args of [
    ['--help'],
    ['-h'],
    ...['seed', 'run', 'report', 'chart'].map((each) => [each, '--help']),
  ]) {
    const wanted = wantedFrom(args);
    const text = wanted.command === 'help' ? wanted.text : '';
    assert.match(text, /^Usage: s3-accelerator-load/);
  }
});

test('options are taken where they belong', () => {
  assert.deepEqual(
    wantedFrom(['seed', 'a.toml', '--dataset', 'x', '--connections', '7', '--quiet']),
    {
      command: 'seed',
      plan: 'a.toml',
      dataset: 'x',
      endpoint: undefined,
      connections: 7,
      isQuiet: true,
    },
  );
  assert.deepEqual(wantedFrom(['run', 'a.toml', '--out', 'b.json', '--endpoint', 'http://c']), {
    command: 'run',
    plan: 'a.toml',
    out: 'b.json',
    step: undefined,
    endpoint: 'http://c',
    isQuiet: false,
  });
});
