import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatHttpDate } from './http-date.ts';
import { evaluatePreconditions, noPreconditions } from './preconditions.ts';

const etag = '"now"';
const modified = 1_700_000_000;
const before = formatHttpDate(modified - 1);
const same = formatHttpDate(modified);

const tags = fc.constantFrom(null, '"now"', '"old"', '*', 'W/"now"', 'now', '"old", "now"');
const dates = fc.constantFrom(null, before, same, 'no date');

test('every combination follows the four rules of S3', () => {
  const strong = (list: string): boolean => ['"now"', '*', 'now', '"old", "now"'].includes(list);
  const weak = (list: string): boolean => list !== '"old"';
  fc.assert(
    fc.property(tags, tags, dates, dates, (ifMatch, ifNoneMatch, since, unmodifiedSince) => {
      const failed = ifMatch !== null ? !strong(ifMatch) : unmodifiedSince === before;
      const unchanged = ifNoneMatch !== null ? weak(ifNoneMatch) : since === same;
      assert.equal(
        evaluatePreconditions(
          {
            ifMatch,
            ifNoneMatch,
            ifModifiedSince: since,
            ifUnmodifiedSince: unmodifiedSince,
          },
          etag,
          modified,
        ),
        failed ? 'preconditionFailed' : unchanged ? 'notModified' : 'proceed',
      );
    }),
    { numRuns: 2000 },
  );
});

test('without a last-modified the dates decide nothing', () => {
  assert.equal(
    evaluatePreconditions({ ...noPreconditions, ifUnmodifiedSince: before }, etag, null),
    'proceed',
  );
  assert.equal(
    evaluatePreconditions({ ...noPreconditions, ifModifiedSince: same }, etag, null),
    'proceed',
  );
});
