import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { argumentError } from './argument-error.ts';

function toldOf(args: readonly string[], allowPositionals: boolean): string {
  try {
    parseArgs({
      args: [...args],
      allowPositionals,
      options: {
        jobs: { type: 'string', short: 'j' },
        quiet: { type: 'boolean', short: 'q' },
        'port-base': { type: 'string' },
      },
    });
  } catch (error) {
    return argumentError(error);
  }
  return 'nothing';
}

test('what is wrong with arguments is one sentence, whether or not others than options are taken', () => {
  const wrong: readonly (readonly [args: readonly string[], told: string])[] = [
    [['--foo'], 'There is no option --foo.'],
    [['--foo=3'], 'There is no option --foo.'],
    [['-x'], 'There is no option -x.'],
    [['-qx'], 'There is no option -x.'],
    [['--jobs'], '--jobs needs a value.'],
    [['-j'], '--jobs needs a value.'],
    [['--port-base'], '--port-base needs a value.'],
    [['--jobs', '-1'], '--jobs needs a value; one that begins with a dash is written --jobs=-….'],
    [['-j', '--quiet'], '--jobs needs a value; one that begins with a dash is written --jobs=-….'],
    [['--quiet=yes'], '--quiet takes no value.'],
  ];
  for (const [args, told] of wrong) {
    for (const allowPositionals of [true, false]) {
      assert.equal(toldOf(args, allowPositionals), told, args.join(' '));
    }
  }
  assert.equal(toldOf(['more'], false), "There is nothing to do with 'more'.");
  assert.equal(toldOf(['more', '--jobs=-1', '-q'], true), 'nothing');
});

test('names that mean something to a pattern are told as they are', () => {
  assert.equal(toldOf(["--it's"], true), "There is no option --it's.");
  assert.equal(toldOf(["it's\nmore"], false), "There is nothing to do with 'it's\nmore'.");
});

test("another error's own words are kept whole, and what is no error is no mistake of who asks", () => {
  assert.equal(argumentError(new Error('one. two\nthree')), 'one. two\nthree');
  const later = Object.assign(new Error('A new fault. Advice.'), { code: 'ERR_PARSE_ARGS_LATER' });
  assert.equal(argumentError(later), 'A new fault.');
  assert.throws(() => argumentError(undefined));
});
