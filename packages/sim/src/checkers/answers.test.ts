import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { Version } from '../oracle/version.ts';
import { checkAnswer } from './answers.ts';
import { bytesOf, HandMade, requestOf, rules, type Asked } from './testing/hand-made.ts';

function verdict(made: HandMade, answer: ClientAnswer): string | null {
  return checkAnswer(made.history, made.oracle, rules, answer);
}

/** `k` has 100 bytes from 1000 on and 80 others from 2000 on; `deleted` was there until 1500. */
function twoVersions(): { made: HandMade; old: Version; current: Version } {
  const made = new HandMade();
  const old = made.put(1000, 'k', 100);
  made.put(1000, 'deleted', 10);
  made.delete(1500, 'deleted');
  const current = made.put(2000, 'k', 80);
  return { made, old, current };
}

function replace(answer: ClientAnswer, ...bodies: Uint8Array[]): void {
  answer.body.splice(0, answer.body.length, ...bodies);
  answer.received = bodies.reduce((sum, { length }) => sum + length, 0);
}

describe('sound answers', () => {
  const { made, old, current } = twoVersions();
  const missing = made.oracle.current('b', 'deleted');
  const sound: readonly [what: string, state: Version, asked: Asked][] = [
    ['the current version', current, { startedAt: 3000 }],
    ['a range of it', current, { startedAt: 3000, range: 'bytes=10-19' }],
    ['its last bytes', current, { startedAt: 3000, range: 'bytes=-7' }],
    ['a HEAD', current, { startedAt: 3000, head: true }],
    ['a HEAD of a range', current, { startedAt: 3000, head: true, range: 'bytes=3-' }],
    ['a range that is not there', current, { startedAt: 3000, range: 'bytes=80-' }],
    ['a 304', current, { startedAt: 3000, conditions: { ifNoneMatch: current.etag } }],
    ['a 412', current, { startedAt: 3000, conditions: { ifMatch: old.etag } }],
    ['the version that goes during the read', old, { startedAt: 1999 }],
    ['the version that comes during the read', current, { startedAt: 1999 }],
    ['the version that went within the staleness', old, { startedAt: 2400, staleMs: 500 }],
    ['one that went at the staleness of a slow clock', old, { startedAt: 2500.3, staleMs: 500 }],
    ['any version of an immutable bucket', old, { startedAt: 90_000, staleMs: Infinity }],
    ['a missing key', missing, { startedAt: 3000 }],
    ['a missing key’s HEAD', missing, { startedAt: 3000, head: true }],
  ];
  for (const [what, state, asked] of sound) {
    void test(what, () => assert.equal(verdict(made, made.answer(state, asked)), null));
  }

  void test('the same bytes stored again are the version they were before', () => {
    const twice = new HandMade();
    const first = twice.put(10, 'k', 40);
    twice.put(20, 'k', 41);
    twice.put(30, 'k', 40, { content: first.content });
    const answer = twice.answer(first, { startedAt: 500 });
    answer.lastModified = twice.oracle.current('b', 'k').lastModified;
    assert.equal(verdict(twice, answer), null);
  });

  void test('a weak version that is passed through', () => {
    const weak = new HandMade();
    const version = weak.put(10, 'k', 40, { isWeak: true });
    assert.equal(verdict(weak, weak.answer(version, { startedAt: 50 })), null);
  });

  void test('an answer without a length that is passed through', () => {
    const answer = made.answer(current, { startedAt: 3000 });
    answer.isPassedThrough = true;
    answer.length = -1;
    answer.size = -1;
    assert.equal(verdict(made, answer), null);
  });

  void test('a client that left while bytes came', () => {
    const answer = made.answer(current, { startedAt: 3000 });
    answer.end = 'gone';
    replace(answer, bytesOf(current, 0, 20));
    assert.equal(verdict(made, answer), null);
  });
});

describe('planted violations', () => {
  type Spoil = (answer: ClientAnswer, old: Version, current: Version) => void;
  const planted: readonly [what: string, asked: Asked, spoil: Spoil, message: RegExp][] = [
    [
      'a wrong byte',
      { startedAt: 3000 },
      (answer) => (answer.body[2]![3]! ^= 1),
      /byte 29 isn't one of version .* of no version/,
    ],
    [
      'a piece of the version before',
      { startedAt: 3000 },
      (answer, old) => answer.body.splice(3, 1, bytesOf(old, 39, 13)),
      /byte 39 isn't one of .*: it is of version/,
    ],
    [
      'two pieces in the wrong order',
      { startedAt: 3000 },
      (answer) => answer.body.splice(1, 2, answer.body[2]!, answer.body[1]!),
      /byte 13 isn't one of/,
    ],
    [
      'a range that is shifted by one byte',
      { startedAt: 3000, range: 'bytes=10-19' },
      (answer, _, current) => replace(answer, bytesOf(current, 11, 10)),
      /byte 10 isn't one of/,
    ],
    [
      'a short answer that looks whole',
      { startedAt: 3000 },
      (answer, _, current) => replace(answer, bytesOf(current, 0, 79)),
      /short: 79 of 80/,
    ],
    [
      'an empty answer that looks whole',
      { startedAt: 3000 },
      (answer) => replace(answer),
      /short: 0 of 80/,
    ],
    [
      'too many bytes',
      { startedAt: 3000 },
      (answer, _, current) => replace(answer, bytesOf(current, 0, 81)),
      /81 bytes came/,
    ],
    [
      'a body on HEAD',
      { startedAt: 3000, head: true },
      (answer, _, current) => replace(answer, bytesOf(current, 0, 1)),
      /HEAD with a body/,
    ],
    [
      'a body on 304',
      { startedAt: 3000, conditions: { ifNoneMatch: '*' } },
      (answer, _, current) => replace(answer, bytesOf(current, 0, 1)),
      /304 with a body/,
    ],
    [
      'another version’s size',
      { startedAt: 3000, range: 'bytes=0-9' },
      (answer) => (answer.size = 100),
      /size 100, not 80/,
    ],
    [
      'another version’s ETag',
      { startedAt: 3000 },
      (answer, old) => (answer.etag = old.etag),
      /was current in \[1000, 2000\)/,
    ],
    [
      'an ETag that never was',
      { startedAt: 3000 },
      (answer) => (answer.etag = '"other"'),
      /never existed/,
    ],
    ['no ETag', { startedAt: 3000 }, (answer) => (answer.etag = ''), /ETag , not/],
    [
      'another version’s Last-Modified',
      { startedAt: 3000 },
      (answer, old) => (answer.lastModified = old.lastModified),
      /Last-Modified/,
    ],
    [
      '200 for a range',
      { startedAt: 3000, range: 'bytes=0-9' },
      (answer) => (answer.status = 200),
      /status 200 where S3 says 206/,
    ],
    [
      '206 for a whole object',
      { startedAt: 3000 },
      (answer) => (answer.status = 206),
      /status 206 where S3 says 200/,
    ],
    [
      '200 where the condition failed',
      { startedAt: 3000 },
      (answer) =>
        Object.assign(answer, { request: requestOf('k', { conditions: { ifMatch: '"x"' } }) }),
      /status 200 where S3 says 412/,
    ],
    [
      'a range’s rule before a condition’s',
      { startedAt: 3000, range: 'bytes=99-' },
      (answer) =>
        Object.assign(answer, {
          request: requestOf('k', { range: 'bytes=99-', conditions: { ifMatch: '"x"' } }),
        }),
      /status 416 where S3 says 412/,
    ],
    [
      'another first byte',
      { startedAt: 3000, range: 'bytes=10-19' },
      (answer) => (answer.first = 0),
      /10 bytes from 0, not 10 from 10/,
    ],
    [
      'another length',
      { startedAt: 3000, range: 'bytes=10-19' },
      (answer) => (answer.length = 11),
      /11 bytes from 10, not 10 from 10/,
    ],
    ['no length', { startedAt: 3000 }, (answer) => (answer.length = -1), /no Content-Length/],
    [
      'a 416 with another version’s size',
      { startedAt: 3000, range: 'bytes=90-' },
      (answer) => (answer.size = 100),
      /416 names size 100/,
    ],
    [
      'another error’s code',
      { startedAt: 3000, range: 'bytes=90-' },
      (answer) => (answer.code = 'InvalidArgument'),
      /code 'InvalidArgument'/,
    ],
    [
      'a head before the request',
      { startedAt: 3000 },
      (answer) => (answer.answeredAt = 2999),
      /before its request/,
    ],
    [
      'an answer that breaks off for no reason',
      { startedAt: 3000 },
      (answer, _, current) => {
        answer.end = 'cut';
        replace(answer, bytesOf(current, 0, 20));
      },
      /cut short without a cause/,
    ],
    [
      'a connection that breaks off before the head, for no reason',
      { startedAt: 3000 },
      (answer) => {
        answer.end = 'cut';
        answer.status = 0;
        replace(answer);
      },
      /cut off without an answer/,
    ],
    [
      'an answer that ended before it had a head',
      { startedAt: 3000 },
      (answer) => {
        answer.status = 0;
        replace(answer);
      },
      /ended without a head/,
    ],
    [
      'another range, of an answer that doesn’t say how long it is',
      { startedAt: 3000, range: 'bytes=10-19' },
      (answer, _, current) => {
        Object.assign(answer, { isPassedThrough: true, length: -1, size: -1, first: 11 });
        replace(answer, bytesOf(current, 11, 10));
      },
      /bytes from 11, not from 10/,
    ],
    [
      'wrong bytes before the client left',
      { startedAt: 3000 },
      (answer) => {
        answer.end = 'gone';
        answer.body[0]![0]! ^= 0x80;
      },
      /byte 0 isn't one of/,
    ],
    [
      'wrong bytes before an answer was cut for a good reason',
      { startedAt: 1999 },
      (answer, old) => {
        answer.end = 'cut';
        replace(answer, bytesOf(old, 0, 10));
      },
      /byte 0 isn't one of/,
    ],
  ];
  for (const [what, asked, spoil, message] of planted) {
    void test(what, () => {
      const { made, old, current } = twoVersions();
      const answer = made.answer(current, asked);
      spoil(answer, old, current);
      assert.match(verdict(made, answer) ?? 'nothing', message);
    });
  }

  const stale: readonly [what: string, asked: Asked][] = [
    ['a version that was gone before the request', { startedAt: 2001 }],
    ['one that was gone longer than the staleness', { startedAt: 2502, staleMs: 500 }],
    ['a HEAD of it', { startedAt: 2502, staleMs: 500, head: true }],
    ['a range of it', { startedAt: 2502, staleMs: 500, range: 'bytes=0-3' }],
    ['a 304 of it', { startedAt: 2502, staleMs: 500, conditions: { ifModifiedSince: 'never' } }],
    ['a 416 of it', { startedAt: 2502, staleMs: 500, range: 'bytes=100-' }],
  ];
  for (const [what, asked] of stale) {
    void test(what, () => {
      const { made, old, current } = twoVersions();
      const conditions =
        asked.conditions === undefined ? {} : { conditions: { ifNoneMatch: old.etag } };
      const answer = made.answer(old, { ...asked, ...conditions });
      assert.notEqual(verdict(made, answer), null);
      const fresh = made.answer(current, { ...asked, ...conditions });
      assert.equal(verdict(made, fresh), null);
    });
  }

  void test('a version that came only after the head', () => {
    const { made, current } = twoVersions();
    const answer = made.answer(current, { startedAt: 1900, answeredAt: 1990 });
    assert.match(verdict(made, answer) ?? '', /was current in \[2000, Infinity\)/);
  });

  void test('a stale 404, however stale the bucket may be', () => {
    const made = new HandMade();
    const [never] = made.oracle.history('b', 'k');
    made.put(1000, 'k', 10);
    for (const staleMs of [0, 5000, Infinity]) {
      assert.match(
        verdict(made, made.answer(never!, { startedAt: 1001, staleMs })) ?? '',
        /status 404 where S3 says 200/,
      );
    }
    assert.equal(verdict(made, made.answer(never!, { startedAt: 999 })), null);
  });

  void test('an object where the key is missing', () => {
    const { made } = twoVersions();
    const gone = made.oracle.history('b', 'deleted')[1]!;
    assert.notEqual(verdict(made, made.answer(gone, { startedAt: 1600 })), null);
    assert.equal(verdict(made, made.answer(gone, { startedAt: 1600, staleMs: 200 })), null);
  });
});

describe('errors and their excuses', () => {
  const slowDown: [number, string] = [503, 'SlowDown'];

  void test('a 503 without any fault is wrong, with one it is not', () => {
    const { made } = twoVersions();
    const answer = made.error('k', ...slowDown, { startedAt: 3000 });
    assert.match(verdict(made, answer) ?? '', /without a fault/);
    const fault = { what: 'node 2 crashed', from: 2900, until: 2950, gateway: -1, object: '' };
    made.history.faultBegan(fault);
    assert.equal(verdict(made, answer), null);
  });

  const elsewhere: readonly [what: string, change: object][] = [
    ['that began later', { from: 3016 }],
    ['that was over, grace included', { until: 1999 }],
    ['of another gateway', { gateway: 1 }],
    ['of another object', { object: 'b/other' }],
  ];
  for (const [what, change] of elsewhere) {
    void test(`a fault ${what} excuses nothing`, () => {
      const { made } = twoVersions();
      const fault = {
        what: 'fault',
        from: 1900,
        until: 3100,
        gateway: 0,
        object: 'b/k',
        ...change,
      };
      made.history.faultBegan(fault);
      const answer = made.error('k', ...slowDown, { startedAt: 3000 });
      assert.match(verdict(made, answer) ?? '', /without a fault/);
    });
  }

  void test('an error that S3 gave is relayed as it was', () => {
    const { made } = twoVersions();
    const origin = made.refusal(requestOf('k'), 3001, 500, 'InternalError');
    const answer = made.error('k', 500, 'InternalError', { startedAt: 3000 });
    answer.errorOf = origin.id;
    assert.equal(verdict(made, answer), null);
    answer.code = 'SlowDown';
    assert.match(verdict(made, answer) ?? '', /code 'SlowDown'/);
    answer.status = 503;
    assert.match(verdict(made, answer) ?? '', /status 503 where S3 said 500/);
    answer.errorOf = 99;
    assert.match(verdict(made, answer) ?? '', /no request to S3/);
  });

  void test('what S3 never says needs no excuse to be wrong', () => {
    const { made } = twoVersions();
    made.history.faultBegan({ what: 'all', from: 0, until: 9999, gateway: -1, object: '' });
    for (const [status, code] of [
      [400, 'InvalidRequest'],
      [405, 'MethodNotAllowed'],
      [418, ''],
    ] as const) {
      const answer = made.error('k', status, code, { startedAt: 3000 });
      assert.match(verdict(made, answer) ?? '', /for no reason/);
    }
  });

  void test('an error brings no bytes', () => {
    const { made, current } = twoVersions();
    made.history.faultBegan({ what: 'all', from: 0, until: 9999, gateway: -1, object: '' });
    const answer = made.error('k', ...slowDown, { startedAt: 3000 });
    replace(answer, bytesOf(current, 0, 5));
    assert.match(verdict(made, answer) ?? '', /with bytes of an object/);
  });

  void test('an object that changes cuts a read, a fault of S3 does', () => {
    for (const cause of ['change', 'stale change', 'broken body'] as const) {
      const { made, old, current } = twoVersions();
      const answer =
        cause === 'change'
          ? made.answer(old, { startedAt: 1995 })
          : made.answer(current, { startedAt: 2300, staleMs: cause === 'stale change' ? 500 : 0 });
      answer.end = 'cut';
      answer.received = 13;
      answer.body.length = 1;
      if (cause === 'broken body') {
        assert.match(verdict(made, answer) ?? '', /without a cause/);
        made.refusal(requestOf('k'), 2305, 206, '').isFaulty = true;
      }
      assert.equal(verdict(made, answer), null, cause);
    }
  });
});

void test('random histories: an answer from within the stretch passes, one from outside does not', () => {
  const times = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      times,
      fc.nat(2400),
      fc.nat(300),
      fc.constantFrom(0, 50, 400),
      fc.nat(2800),
      fc.constantFrom(null, 'bytes=5-20', 'bytes=-9', 'bytes=40-'),
      (steps, startedAt, wait, staleMs, moment, range) => {
        const made = new HandMade();
        let at = 0;
        for (const [i, step] of steps.entries()) {
          at += step;
          if (step % 5 === 0) made.delete(at, 'k');
          else made.put(at, 'k', 20 + i * 7);
        }
        const states = made.oracle.history('b', 'k');
        const state = states.find(({ since, until }) => since <= moment && moment < until)!;
        const answeredAt = startedAt + wait;
        const answer = made.answer(state, { startedAt, answeredAt, staleMs, range });
        const oldest = state.etag === '' ? startedAt : startedAt - staleMs;
        const wrong = verdict(made, answer);
        if (moment >= oldest && moment <= answeredAt) assert.equal(wrong, null);
        // Other states may look the same where the answer only says 404 or 416.
        const isNamed = answer.status === 200 || answer.status === 206;
        const isOutside = state.until < oldest - 1 || state.since > answeredAt;
        if (isNamed && isOutside) assert.notEqual(wrong, null);
      },
    ),
    { numRuns: 1000 },
  );
});
