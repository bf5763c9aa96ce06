/**
 * Whether an answer is one that S3 could have given: some version of the object, current at some moment between the
 * request (less the declared staleness) and the answer, in exactly the range asked for.
 */
import { resolveRange, newResolvedRange } from '../s3/byte-range.ts';
import { contentOf, type S3Model, type Version } from './s3-model.ts';
import type { TestClient } from './test-client.ts';

/** '' when the answer is right, else what is wrong with it. `notBefore` is the oldest moment that may show. */
export function judge(s3: S3Model, client: TestClient, notBefore: number): string {
  const { bucket, key } = client.request;
  const current = s3
    .history(bucket, key)
    .filter((version) => version.since <= client.endedAt && version.until >= notBefore);
  switch (client.end) {
    case 'finished':
    case 'aborted':
      return judgeObject(client, current);
    case 'originError':
      if (client.originError?.code !== 'NoSuchKey') return '';
      return mayBeMissing(s3, client, current)
        ? ''
        : 'a 404 for an object that was there all along';
    case 'error':
      return judgeError(client, current);
    case 'open':
    case 'gone':
    case 'passThrough':
      return '';
  }
}

function judgeObject(client: TestClient, current: readonly Version[]): string {
  const version = current.find(({ etag }) => etag === client.metadata?.etag);
  if (version === undefined) return `version ${client.metadata?.etag ?? 'none'} wasn't current`;
  if (client.metadata?.size !== version.size) return 'the size is another version’s';
  if (client.status === 304) return '';
  const range = newResolvedRange();
  resolveRange(client.request.range, version.size, range);
  const length = range.last - range.first + 1;
  if (range.kind === 'unsatisfiable') return 'served a range that isn’t there';
  if (client.status !== (range.kind === 'part' ? 206 : 200)) return 'the wrong status';
  if (client.first !== range.first || client.length !== length) return 'the wrong range';
  const body = client.body();
  const expected = contentOf(version.etag, range.first, body.length);
  for (let i = 0; i < body.length; i++) {
    if (body[i] !== expected[i]) return `byte ${range.first + i} is wrong`;
  }
  if (client.end === 'finished' && !client.request.head && body.length !== length) {
    return 'a finished answer is short';
  }
  return '';
}

function judgeError(client: TestClient, current: readonly Version[]): string {
  if (client.code !== 'InvalidRange') return '';
  const range = newResolvedRange();
  const isRight = current.some(({ etag, size }) => {
    if (etag === '') return false;
    resolveRange(client.request.range, size, range);
    return range.kind === 'unsatisfiable';
  });
  return isRight ? '' : 'a 416 for a range that is there';
}

/** Missing before the first write, or deleted, at some moment that may show. 404s are never stale. */
function mayBeMissing(s3: S3Model, client: TestClient, current: readonly Version[]): boolean {
  const first = s3.history(client.request.bucket, client.request.key)[0];
  if (first === undefined || first.since >= client.startedAt) return true;
  return current.some(({ etag, until }) => etag === '' && until >= client.startedAt);
}
