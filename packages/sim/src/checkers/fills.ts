/**
 * Fills (SPEC §4.3): whatever a node asks S3 for after the first fetch names the version it wants.
 *
 * A request without If-Match is a first fetch or a revalidation: then a gateway has asked this very node what the object is
 * and waits. A request with If-Match names a version that existed, strongly, and bytes that this version has.
 */
import type { History } from '../history/history.ts';
import type { NodeRead } from '../history/node-read.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import { rangeAnswer } from '../oracle/byte-range.ts';
import type { Oracle } from '../oracle/oracle.ts';

/** Called as a node sends a request to S3. */
export function checkFetch(history: History, oracle: Oracle, fetch: OriginRequest): string | null {
  if (fetch.kind === 'passed') return null;
  const { bucket, key, head, range, conditions } = fetch.request;
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if (ifModifiedSince !== null || ifUnmodifiedSince !== null) return 'a fetch with a date';
  if (ifMatch === null) {
    const { nodeReads } = history.of(bucket, key);
    const lookup = nodeReads.findLast((read) => isLookupThatWaits(read, fetch));
    return lookup === undefined ? 'a fetch without If-Match that no lookup waits for' : null;
  }
  if (ifNoneMatch !== null) return 'a fetch with If-Match and If-None-Match';
  if (head) return 'a HEAD with If-Match: it brings no bytes';
  if (!ifMatch.startsWith('"')) return `If-Match ${ifMatch} isn't a strong ETag`;
  const version = oracle.history(bucket, key).find(({ etag }) => etag === ifMatch);
  if (version === undefined || version.since > fetch.sentAt) {
    return `If-Match ${ifMatch} names no version of the object`;
  }
  const wanted = rangeAnswer(range, version.size);
  return wanted.kind === 'unsatisfiable' ? `${range ?? ''} isn't in ${ifMatch}` : null;
}

function isLookupThatWaits(read: NodeRead, fetch: OriginRequest): boolean {
  return (
    read.kind === 'lookup' &&
    read.node === fetch.node &&
    read.life === fetch.life &&
    read.arrivedAt <= fetch.sentAt &&
    read.endedAt >= fetch.sentAt
  );
}
