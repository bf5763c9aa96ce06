/**
 * Conditional reads with S3's precedence.
 *
 * 1. `If-Match` decides 412; `If-Unmodified-Since` does so only where there is no `If-Match`.
 * 2. `If-None-Match` decides 304; `If-Modified-Since` does so only where there is no `If-None-Match`.
 * 3. 412 comes before 304, and both come before any range rule.
 *
 * A date that is none is ignored, as is a header that is absent (null).
 */
import { etagListMatches } from './etag.ts';
import { parseHttpDate } from './http-date.ts';

export interface Preconditions {
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
  readonly ifUnmodifiedSince: string | null;
}

export const noPreconditions: Preconditions = {
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSince: null,
  ifUnmodifiedSince: null,
};

export type PreconditionResult = 'proceed' | 'notModified' | 'preconditionFailed';

/** `lastModified` is in whole seconds since 1970, or null when unknown: then the dates decide nothing. */
export function evaluatePreconditions(
  conditions: Preconditions,
  etag: string,
  lastModified: number | null,
): PreconditionResult {
  if (conditions.ifMatch !== null) {
    if (!etagListMatches(conditions.ifMatch, etag, false)) return 'preconditionFailed';
  } else if (conditions.ifUnmodifiedSince !== null && lastModified !== null) {
    const limit = parseHttpDate(conditions.ifUnmodifiedSince);
    if (limit !== null && lastModified > limit) return 'preconditionFailed';
  }
  if (conditions.ifNoneMatch !== null) {
    return etagListMatches(conditions.ifNoneMatch, etag, true) ? 'notModified' : 'proceed';
  }
  if (conditions.ifModifiedSince !== null && lastModified !== null) {
    const limit = parseHttpDate(conditions.ifModifiedSince);
    if (limit !== null && lastModified <= limit) return 'notModified';
  }
  return 'proceed';
}
