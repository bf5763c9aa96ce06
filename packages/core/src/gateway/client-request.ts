/**
 * What a client asked for, authenticated and authorised: the gateway's only view of a GET or HEAD of an object.
 *
 * The driver reuses one record and fills it anew for each request; the gateway copies what it keeps.
 */
import type { Hash128 } from '../base/hash.ts';
import { newRangeRequest, type RangeRequest } from '../s3/byte-range.ts';
import { noPreconditions, type Preconditions } from '../s3/preconditions.ts';

export interface ClientRequest {
  /** HEAD when true: the answer has no body. */
  head: boolean;
  /** Binary strings, as in read.ts. */
  bucket: string;
  key: string;
  /** SHA-256 of the length-prefixed bucket and key, truncated. */
  readonly hash: Hash128;
  /** The Range header; fill it with `parseRange`. */
  readonly range: RangeRequest;
  /** It asked for the object's checksums along: they are only told with a whole object. */
  wantsChecksums: boolean;
  /** `noPreconditions`, the very object, when the request has none: then the gateway asks for bytes straight away. */
  conditions: Preconditions;
}

export function newClientRequest(): ClientRequest {
  return {
    head: false,
    bucket: '',
    key: '',
    hash: { h0: 0, h1: 0, h2: 0, h3: 0 },
    range: newRangeRequest(),
    wantsChecksums: false,
    conditions: noPreconditions,
  };
}
