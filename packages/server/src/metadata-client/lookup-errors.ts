/** What a client is told that a lookup didn't find. */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { LookupOutcome } from './client-directory.ts';

export const lookupErrors: Readonly<Record<Exclude<LookupOutcome, 'known'>, ErrorCode>> = {
  unknown: 'InvalidAccessKeyId',
  unavailable: 'ServiceUnavailable',
  busy: 'SlowDown',
  skewed: 'RequestTimeTooSkewed',
};
