/** What links between our processes are opened with. */
import { createHash } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

/**
 * The key that links prove to each other, derived from the cluster secret: always 32 bytes, and never the secret itself, which
 * may one day guard something else too.
 */
export function linkKey(secret: Secret): Uint8Array {
  return createHash('sha256')
    .update('s3-accelerator link\0')
    .update(secret.reveal(), 'utf8')
    .digest();
}
