/** What gossip between nodes is signed with. */
import { createHash } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

/**
 * The key of gossip's MACs, derived from the cluster secret: always 32 bytes, and another one than that of links, so that
 * nothing said by gossip proves anything on a link.
 */
export function gossipKey(secret: Secret): Uint8Array {
  return createHash('sha256')
    .update('s3-accelerator gossip\0')
    .update(secret.reveal(), 'utf8')
    .digest();
}
