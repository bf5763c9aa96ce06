import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionsAnswer, type ConditionsAnswer } from './conditions.ts';
import { noConditions, type ReadConditions } from './request.ts';

const modified = 784_111_777; // Sun, 06 Nov 1994 08:49:37 GMT
const then = 'Sun, 06 Nov 1994 08:49:37 GMT';
const before = 'Sun, 06 Nov 1994 08:49:36 GMT';

function answer(conditions: Partial<ReadConditions>, etag = '"a"'): ConditionsAnswer {
  return conditionsAnswer({ ...noConditions, ...conditions }, etag, modified);
}

const cases: readonly [Partial<ReadConditions>, ConditionsAnswer][] = [
  [{}, 'serve'],
  [{ ifMatch: '"a"' }, 'serve'],
  [{ ifMatch: 'a' }, 'serve'],
  [{ ifMatch: '"b", "a"' }, 'serve'],
  [{ ifMatch: '*' }, 'serve'],
  [{ ifMatch: '"b"' }, 'failed'],
  [{ ifMatch: 'W/"a"' }, 'failed'],
  [{ ifNoneMatch: '"a"' }, 'not modified'],
  [{ ifNoneMatch: 'W/"a"' }, 'not modified'],
  [{ ifNoneMatch: '"b",a' }, 'not modified'],
  [{ ifNoneMatch: '*' }, 'not modified'],
  [{ ifNoneMatch: '"b"' }, 'serve'],
  [{ ifModifiedSince: then }, 'not modified'],
  [{ ifModifiedSince: before }, 'serve'],
  [{ ifUnmodifiedSince: then }, 'serve'],
  [{ ifUnmodifiedSince: before }, 'failed'],
  [{ ifModifiedSince: 'yesterday' }, 'serve'],
  [{ ifUnmodifiedSince: 'yesterday' }, 'serve'],
  // Tags win over dates.
  [{ ifMatch: '"a"', ifUnmodifiedSince: before }, 'serve'],
  [{ ifNoneMatch: '"b"', ifModifiedSince: then }, 'serve'],
  // A failed demand wins over an answer that the client has already.
  [{ ifMatch: '"b"', ifNoneMatch: '"a"' }, 'failed'],
  [{ ifUnmodifiedSince: before, ifNoneMatch: '"a"' }, 'failed'],
];

for (const [conditions, expected] of cases) {
  void test(`${JSON.stringify(conditions)}: ${expected}`, () => {
    assert.equal(answer(conditions), expected);
  });
}

void test('a weak tag fits If-None-Match and nothing in If-Match but *', () => {
  assert.equal(answer({ ifNoneMatch: '"a"' }, 'W/"a"'), 'not modified');
  assert.equal(answer({ ifMatch: '"a"' }, 'W/"a"'), 'failed');
  assert.equal(answer({ ifMatch: 'W/"a"' }, 'W/"a"'), 'failed');
  assert.equal(answer({ ifMatch: '*' }, 'W/"a"'), 'serve');
});

void test('dates are read as the calendar has them', () => {
  for (const seconds of [
    0, 951_782_400, 951_868_800, 1_078_056_000, 1_798_761_599, 4_107_542_400,
  ]) {
    const date = new Date(seconds * 1000).toUTCString();
    const at = (modifiedAt: number) =>
      conditionsAnswer({ ...noConditions, ifModifiedSince: date }, '"a"', modifiedAt);
    assert.equal(at(seconds), 'not modified', date);
    assert.equal(at(seconds + 1), 'serve', date);
  }
});
