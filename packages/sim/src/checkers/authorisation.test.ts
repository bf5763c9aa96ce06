import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import {
  checkReadAuthorisation,
  checkVersionsMade,
  checkWriteAuthorisation,
} from './authorisation.ts';
import {
  conclude,
  everything,
  HandMade,
  nothing,
  readsLogs,
  writesLogs,
} from './testing/hand-made.ts';

/** An object of `key` and an answer that shows it to the credential. */
function served(key: string, credential: number): { made: HandMade; answer: ClientAnswer } {
  const made = new HandMade();
  const version = made.put(10, key, 40);
  return { made, answer: made.answer(version, { startedAt: 20, credential }) };
}

function denied(key: string, credential: number): { made: HandMade; answer: ClientAnswer } {
  const made = new HandMade();
  made.put(10, key, 40);
  const answer = made.error(key, 403, 'AccessDenied', { startedAt: 20, credential });
  return { made, answer };
}

describe('reads', () => {
  for (const [key, credential, may] of [
    ['logs/x', everything, true],
    ['logs/x', readsLogs, true],
    ['logs/x', writesLogs, true],
    ['logs/x', nothing, false],
    ['logs', readsLogs, false],
    ['logsx', readsLogs, false],
    ['other/logs/x', readsLogs, false],
  ] as const) {
    void test(`credential ${credential} ${may ? 'reads' : 'is denied'} ${key}`, () => {
      const got = served(key, credential);
      assert.equal(checkReadAuthorisation(got.made.history, got.answer) === null, may);
      const not = denied(key, credential);
      assert.equal(checkReadAuthorisation(not.made.history, not.answer) === null, !may);
    });
  }

  const leaks: readonly [what: string, spoil: (answer: ClientAnswer) => void][] = [
    ['bytes after a 403', (answer) => (answer.received = 1)],
    ['an ETag', (answer) => (answer.etag = '"x"')],
    ['a size', (answer) => (answer.size = 40)],
    ['when the object changed', (answer) => (answer.lastModified = 1_700_000_000)],
    [
      'that the key is missing',
      (answer) => Object.assign(answer, { status: 404, code: 'NoSuchKey' }),
    ],
    ['that it did not change', (answer) => Object.assign(answer, { status: 304, code: '' })],
    [
      'a size by way of 416',
      (answer) => Object.assign(answer, { status: 416, code: 'InvalidRange' }),
    ],
    ['a 412', (answer) => Object.assign(answer, { status: 412, code: 'PreconditionFailed' })],
    ['another code', (answer) => (answer.code = 'InvalidAccessKeyId')],
  ];
  for (const [what, spoil] of leaks) {
    void test(`a denied credential isn't told ${what}`, () => {
      const { made, answer } = denied('k', readsLogs);
      spoil(answer);
      assert.notEqual(checkReadAuthorisation(made.history, answer), null);
    });
  }

  void test('bytes before the answer broke off are a leak', () => {
    const { made, answer } = served('k', readsLogs);
    answer.end = 'cut';
    answer.status = 0;
    assert.match(checkReadAuthorisation(made.history, answer) ?? '', /got bytes/);
    answer.received = 0;
    assert.equal(checkReadAuthorisation(made.history, answer), null);
  });

  void test('S3’s own 403 isn’t ours', () => {
    const { made, answer } = denied('k', everything);
    assert.notEqual(checkReadAuthorisation(made.history, answer), null);
    answer.errorOf = made.refusal(answer.request, 21, 403, 'AccessDenied').id;
    assert.equal(checkReadAuthorisation(made.history, answer), null);
  });
});

describe('writes', () => {
  function write(made: HandMade, credential: number, change: object = {}): ClientWrite {
    return made.write({ startedAt: 20, credential, keys: ['logs/k'], ...change });
  }

  const source = { bucket: 'b', key: 'secret' };
  const table: readonly [what: string, credential: number, change: object, may: boolean][] = [
    ['a put', writesLogs, {}, true],
    ['a put with read alone', readsLogs, {}, false],
    ['a put elsewhere', writesLogs, { keys: ['k'] }, false],
    ['a multi-delete', writesLogs, { operation: 'multi-delete', keys: ['logs/a', 'logs/b'] }, true],
    ['one key too many', writesLogs, { operation: 'multi-delete', keys: ['logs/a', 'b'] }, false],
    [
      'a copy within',
      writesLogs,
      { operation: 'copy', source: { bucket: 'b', key: 'logs/s' } },
      true,
    ],
    ['a copy of a secret', writesLogs, { operation: 'copy', source }, false],
    [
      'a copy of another bucket',
      writesLogs,
      { operation: 'copy', source: { bucket: 'c', key: 'logs/s' } },
      false,
    ],
    ['a copy of anything', everything, { operation: 'copy', source }, true],
  ];
  for (const [what, credential, change, may] of table) {
    void test(`${what} is ${may ? 'allowed' : 'denied'}`, () => {
      for (const outcome of ['done', 'failed'] as const) {
        const made = new HandMade();
        const ended = write(made, credential, change);
        conclude(ended, 30, outcome);
        assert.equal(checkWriteAuthorisation(made.history, ended) === null, may, outcome);
      }
      const made = new HandMade();
      const refused = write(made, credential, change);
      refused.outcome = 'denied';
      assert.equal(checkWriteAuthorisation(made.history, refused) === null, !may);
    });
  }

  void test('a write that was denied and took effect all the same', () => {
    const made = new HandMade();
    const refused = write(made, readsLogs);
    refused.outcome = 'denied';
    refused.versions.push(made.put(25, 'logs/k', 5, {}, refused.id));
    assert.match(checkWriteAuthorisation(made.history, refused) ?? '', /changed what/);
  });

  void test('a connection that broke off tells nothing', () => {
    const made = new HandMade();
    const broken = write(made, readsLogs);
    assert.equal(checkWriteAuthorisation(made.history, broken), null);
    conclude(broken, 30, 'unknown');
    assert.equal(checkWriteAuthorisation(made.history, broken), null);
  });
});

describe('what changed at S3', () => {
  void test('is what clients asked for, or happened behind the cache', () => {
    const made = new HandMade();
    made.put(10, 'k', 5);
    made.written(20, 'k', 'done');
    assert.equal(checkVersionsMade(made.history, made.oracle), null);
  });

  void test('is nobody’s write of another key, and none that was never sent', () => {
    for (const id of [0, 7]) {
      const made = new HandMade();
      made.written(20, 'k', 'done');
      made.put(30, 'other', 5, {}, id);
      assert.match(checkVersionsMade(made.history, made.oracle) ?? '', /by no write of it/);
    }
  });

  void test('is known to its write', () => {
    const made = new HandMade();
    const write = made.written(20, 'k', 'done');
    write.versions.length = 0;
    assert.match(checkVersionsMade(made.history, made.oracle) ?? '', /doesn't know what it made/);
  });
});
