import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyVerdict, outcomeOfStatus, speaksInBody, writesKey } from './write-outcome.ts';

function verdictOn(...parts: string[]): string {
  const verdict = new BodyVerdict();
  for (const part of parts) verdict.push(Buffer.from(part));
  return verdict.outcome();
}

test('a status alone says done, failed or, for 5xx, that it may have happened', () => {
  assert.deepEqual([200, 204, 301, 403, 412, 500, 503].map(outcomeOfStatus), [
    'done',
    'done',
    'failed',
    'failed',
    'failed',
    'unknown',
    'unknown',
  ]);
});

test('operations that answer before they are done have the last word in their body', () => {
  for (const operation of ['CompleteMultipartUpload', 'CopyObject', 'DeleteObjects'] as const) {
    assert.equal(speaksInBody(operation), true, operation);
  }
  for (const operation of ['PutObject', 'DeleteObject', 'UploadPart', 'Unknown'] as const) {
    assert.equal(speaksInBody(operation), false, operation);
  }
});

test('a late error behind a 200 and white space is no success', () => {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
  assert.equal(verdictOn(`${xml}<CompleteMultipartUploadResult xmlns="x">`), 'done');
  assert.equal(verdictOn(`${xml}<CopyObjectResult>`), 'done');
  assert.equal(verdictOn(' \n', '  ', '<Error><Code>InternalError</Code></Error>'), 'unknown');
  assert.equal(verdictOn(`${xml}\n  <Error>`), 'unknown');
  assert.equal(verdictOn('   '), 'unknown');
  assert.equal(verdictOn(''), 'unknown');
});

test('a verdict does not depend on how the body is split, or how much white space comes first', () => {
  const text = `${' '.repeat(5000)}<?xml version="1.0"?>${' '.repeat(5000)}<DeleteResult><Deleted/></DeleteResult>`;
  assert.equal(verdictOn(...Array.from(text)), 'done');
  assert.equal(verdictOn(text), 'done');
});

test('white space and the declaration have not begun a body', () => {
  const verdict = new BodyVerdict();
  for (const part of [' \n ', '<?x', 'ml version="1.0"?>', '\n', ' '.repeat(3000)]) {
    verdict.push(Buffer.from(part));
    assert.equal(verdict.begun, false);
  }
  verdict.push(Buffer.from('<Er'));
  assert.equal(verdict.begun, true);
});

test('reads and parts of uploads write no key, unknown operations do unless they only read', () => {
  assert.equal(writesKey('PutObject', 'PUT'), true);
  assert.equal(writesKey('RestoreObject', 'POST'), true);
  assert.equal(writesKey('GetObject', 'GET'), false);
  assert.equal(writesKey('UploadPart', 'PUT'), false);
  assert.equal(writesKey('Unknown', 'GET'), false);
  assert.equal(writesKey('Unknown', 'PUT'), true);
});
