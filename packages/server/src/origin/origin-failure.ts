/**
 * Why the origin gave no answer, or not all of it. Answers with an error status aren't failures: they are answers.
 */
import { errors } from 'undici';

/**
 * unreachable: no connection could be made. timeout: nothing moved for too long. reset: the connection broke off.
 * protocol: the answer isn't HTTP, or its length isn't what it promised. busy: more requests wait than are allowed to.
 * unknown-origin: no origin is configured for the bucket. untold-origin: nor has the metadata service told one yet.
 * no-credentials: there are none to sign with at the moment.
 */
export type OriginFailureCode =
  | 'unreachable'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'busy'
  | 'unknown-origin'
  | 'untold-origin'
  | 'no-credentials';

export interface OriginFailure {
  readonly code: OriginFailureCode;
  readonly source: 'origin';
  /** Whether the same request may be sent again, provided that it is idempotent and nothing of the answer was used. */
  readonly retryable: boolean;
  /** What went wrong and what to look at, without secrets. */
  readonly hint: string;
}

export function originFailure(code: OriginFailureCode, hint: string): OriginFailure {
  const retryable = code === 'unreachable' || code === 'reset';
  return { code, source: 'origin', retryable, hint };
}

/** For a bucket that has no origin among those that are known. */
export function noOrigin(
  bucket: string,
  { isWhole }: { readonly isWhole: boolean },
): OriginFailure {
  return isWhole
    ? originFailure('unknown-origin', `no origin is configured for ${bucket}`)
    : originFailure('untold-origin', `the metadata service has told no origin for ${bucket} yet`);
}

export function noCredentials({ base }: { readonly base: string }): OriginFailure {
  return originFailure('no-credentials', `there are no credentials for ${base} at the moment`);
}

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Classifies what undici or the socket reported. `base` names the origin in the hint. */
export function failureFrom(error: unknown, base: string): OriginFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const said = error instanceof Error ? error.message : String(error);
  if (unreachableCodes.has(code)) {
    return originFailure('unreachable', `${base} can't be reached: ${code || said}`);
  }
  if (error instanceof AggregateError) {
    // Happy eyeballs: every address of the name failed.
    return originFailure('unreachable', `${base} can't be reached: ${code || said}`);
  }
  if (
    code.startsWith('ERR_TLS') ||
    code.includes('CERT') ||
    code === 'ERR_SSL_WRONG_VERSION_NUMBER'
  ) {
    return originFailure('protocol', `${base} failed the TLS handshake: ${said}`);
  }
  if (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    error instanceof errors.HeadersOverflowError
  ) {
    return originFailure('protocol', `${base} sent a malformed answer: ${said}`);
  }
  return originFailure('reset', `the connection to ${base} broke off: ${code || said}`);
}
