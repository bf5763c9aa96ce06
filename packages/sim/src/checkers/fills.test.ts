import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noConditions, type S3Read } from '../oracle/request.ts';
import { checkFetch } from './fills.ts';
import { HandMade, requestOf } from './testing/hand-made.ts';

function fetchOf(
  made: HandMade,
  request: S3Read,
  change: { node?: number; life?: number; kind?: 'passed' } = {},
): string | null {
  return checkFetch(made.history, made.oracle, made.fetch({ request, sentAt: 100, ...change }));
}

describe('a fetch without If-Match', () => {
  for (const [what, asked] of [
    ['a first fetch', { range: 'bytes=0-99' }],
    ['a first fetch of everything', {}],
    ['a revalidation', { conditions: { ifNoneMatch: '"x"' } }],
    ['a HEAD', { head: true }],
  ] as const) {
    void test(`${what} has a lookup that waits for it`, () => {
      const made = new HandMade();
      const request = requestOf('k', asked);
      assert.match(fetchOf(made, request) ?? '', /no lookup waits for/);
      made.lookup({ arrivedAt: 90 });
      assert.equal(fetchOf(made, request), null);
    });
  }

  const others: readonly [what: string, change: object, endedAt: number][] = [
    ['of another object', { key: 'other' }, Infinity],
    ['at another node', { node: 1 }, Infinity],
    ['in another life', { life: 2 }, Infinity],
    ['that comes later', { arrivedAt: 101 }, Infinity],
    ['that was answered before', {}, 99],
    ['of bytes', { kind: 'blocks', etag: '"x"' }, Infinity],
  ];
  for (const [what, change, endedAt] of others) {
    void test(`isn't explained by a read ${what}`, () => {
      const made = new HandMade();
      made.lookup({ arrivedAt: 90, ...change }).endedAt = endedAt;
      assert.match(fetchOf(made, requestOf('k')) ?? '', /no lookup waits for/);
    });
  }
});

describe('a fill', () => {
  const made = new HandMade();
  const { etag } = made.put(10, 'k', 50);
  made.put(20, 'k', 30);
  const weak = made.put(30, 'weak', 50, { isWeak: true });
  const later = made.put(200, 'k', 60);
  const fill = (asked: object, conditions: object = {}) =>
    fetchOf(made, requestOf('k', { ...asked, conditions: { ifMatch: etag, ...conditions } }));

  void test('names a version that was there once, and bytes of it', () => {
    assert.equal(fill({ range: 'bytes=0-49' }), null);
    assert.equal(fill({ range: 'bytes=49-49' }), null);
  });

  void test('names none that never was, is another object’s, or is yet to come', () => {
    for (const ifMatch of ['"never"', weak.etag.slice(2), later.etag]) {
      assert.match(fill({ range: 'bytes=0-9' }, { ifMatch }) ?? '', /names no version/);
    }
  });

  void test('names no weak version, and not any version', () => {
    const request = requestOf('weak', { conditions: { ifMatch: weak.etag } });
    assert.match(fetchOf(made, request) ?? '', /isn't a strong ETag/);
    assert.match(fill({}, { ifMatch: '*' }) ?? '', /isn't a strong ETag/);
  });

  void test('asks for no bytes beyond the end, for no head, and under no other condition', () => {
    assert.match(fill({ range: 'bytes=50-59' }) ?? '', /isn't in/);
    assert.match(fill({ head: true }) ?? '', /brings no bytes/);
    assert.match(fill({}, { ifNoneMatch: '"x"' }) ?? '', /If-Match and If-None-Match/);
    assert.match(fill({}, { ifModifiedSince: 'x' }) ?? '', /with a date/);
    assert.match(fill({}, { ifUnmodifiedSince: 'x' }) ?? '', /with a date/);
  });
});

void test('a client’s own request goes as it is', () => {
  const made = new HandMade();
  const conditions = { ...noConditions, ifModifiedSince: 'x', ifMatch: 'W/"a"' };
  assert.equal(fetchOf(made, { ...requestOf('k'), conditions }, { kind: 'passed' }), null);
});
