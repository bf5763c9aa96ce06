import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClientAnswer } from '../history/client-answer.ts';
import { checkNodeError, checkSharedError } from './coalescing.ts';
import { HandMade, requestOf } from './testing/hand-made.ts';

/** A 404 for a read that was asked at 100, by a request that was sent at `sentAt`. */
function missing(sentAt: number): { made: HandMade; answer: ClientAnswer } {
  const made = new HandMade();
  const answer = made.answer(made.oracle.current('b', 'k'), { startedAt: 100 });
  answer.errorOf = made.refusal(requestOf('k'), sentAt).id;
  return { made, answer };
}

describe('an error that clients share', () => {
  void test('goes to those who asked before its request was sent', () => {
    for (const sentAt of [100, 105]) {
      const { made, answer } = missing(sentAt);
      assert.equal(checkSharedError(made.history, answer), null);
    }
  });

  void test('goes to nobody who asked after it, not even a moment', () => {
    for (const sentAt of [99.999, 50]) {
      const { made, answer } = missing(sentAt);
      assert.match(checkSharedError(made.history, answer) ?? '', /given to a read of 100/);
    }
  });

  void test('is of the object that was asked for', () => {
    const { made, answer } = missing(105);
    answer.errorOf = made.refusal(requestOf('other'), 105).id;
    assert.match(checkSharedError(made.history, answer) ?? '', /an error about b\/other/);
  });

  void test('is one that S3 gave', () => {
    const { made, answer } = missing(105);
    answer.errorOf = made.refusal(requestOf('k'), 105, 200, '').id;
    assert.match(checkSharedError(made.history, answer) ?? '', /where S3 said 200/);
    answer.errorOf = 77;
    assert.match(checkSharedError(made.history, answer) ?? '', /no request to S3/);
  });

  void test('is told as it was: a 404 is made of no other error', () => {
    const { made, answer } = missing(105);
    answer.errorOf = made.refusal(requestOf('k'), 105, 503, 'SlowDown').id;
    assert.match(checkSharedError(made.history, answer) ?? '', /a 404 where S3 said 503/);
  });

  void test('is never a 404 of our own', () => {
    const { made, answer } = missing(105);
    answer.errorOf = -1;
    assert.match(checkSharedError(made.history, answer) ?? '', /a 404 that no request/);
    answer.isPassedThrough = true;
    assert.equal(checkSharedError(made.history, answer), null);
  });

  void test('a 503 of our own is nobody else’s', () => {
    const { made } = missing(105);
    const answer = made.error('k', 503, 'SlowDown', { startedAt: 100 });
    assert.equal(checkSharedError(made.history, answer), null);
  });
});

describe('an error that a node shares', () => {
  void test('goes to reads that arrived before its request was sent, and no others', () => {
    for (const [sentAt, may] of [
      [101, true],
      [100, true],
      [99.5, false],
    ] as const) {
      const made = new HandMade();
      const read = made.lookup({ arrivedAt: 100 });
      assert.equal(checkNodeError(made.history, read), null);
      read.errorOf = made.refusal(requestOf('k'), sentAt, 500, 'InternalError').id;
      assert.equal(checkNodeError(made.history, read) === null, may);
    }
  });

  void test('is of the object that was asked for', () => {
    const made = new HandMade();
    const read = made.lookup({ arrivedAt: 100, kind: 'blocks' });
    read.errorOf = made.refusal(requestOf('other'), 101).id;
    assert.notEqual(checkNodeError(made.history, read), null);
  });

  void test('is also that S3 said nothing: that fails nobody who came later', () => {
    for (const [what, change, may] of [
      ['sent later', {}, true],
      ['sent before', { sentAt: 99 }, false],
      ['that S3 answered', { isFaulty: false }, false],
      ['of another node', { node: 1 }, false],
      ['of another life', { life: 2 }, false],
      ['that fails only afterwards', { decidedAt: 120 }, false],
    ] as const) {
      const made = new HandMade();
      const read = made.lookup({ arrivedAt: 100 });
      Object.assign(read, { end: 'failed', failure: 'origin', endedAt: 110 });
      const fetch = made.fetch({ request: requestOf('k'), sentAt: 101 });
      Object.assign(fetch, { end: 'unreachable', isFaulty: true, decidedAt: 105 }, change);
      assert.equal(checkNodeError(made.history, read) === null, may, what);
    }
    const made = new HandMade();
    const read = made.lookup({ arrivedAt: 100 });
    for (const failure of ['busy', 'changed', 'uncacheable'] as const) {
      read.failure = failure;
      assert.equal(checkNodeError(made.history, read), null);
    }
  });
});
