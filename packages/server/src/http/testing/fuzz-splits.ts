/**
 * Fuzzes a reader that takes its input in pieces, for FUZZ_SECONDS (3 by default), from FUZZ_SEED or one of the clock: however an input is
 * split, what is told must be the same. At least one mutant in a hundred has to be complete, or nothing was tried.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mutator } from './mutator.ts';

export interface SplitReader {
  /** What is read: "forms". */
  readonly inputs: string;
  readonly corpus: readonly Buffer[];
  /** What mutants are made with, beside bytes. */
  readonly words: readonly string[];
  /** All that was told of an input, given in pieces of these sizes, as text. May throw what an assertion throws. */
  readonly read: (input: Buffer, nextSize: () => number) => string;
  /** Whether the input was read to its end; it may look closer at what was told. `story` is for assertions. */
  readonly isComplete: (told: string, input: Buffer, story: string) => boolean;
}

export function fuzzSplits({ inputs, corpus, words, read, isComplete }: SplitReader): void {
  const seconds = Number(process.env['FUZZ_SECONDS'] ?? 3);
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  void test(`${inputs} mutated from seed ${seed} are read alike however they are split`, () => {
    const mutator = new Mutator(seed, corpus, words);
    const until = Date.now() + seconds * 1000;
    let complete = 0;
    let runs = 0;
    for (; Date.now() < until; runs += 1) {
      const input = mutator.next();
      const whole = read(input, () => input.length);
      const split = read(input, () => 1 + mutator.below(5));
      const story = `seed ${seed}, run ${runs}: ${JSON.stringify(input.toString('latin1'))}`;
      assert.equal(split, whole, story);
      if (isComplete(whole, input, story)) complete += 1;
    }
    assert.ok(complete > runs / 100, `${complete} of ${runs} mutants were ${inputs}`);
  });
}
