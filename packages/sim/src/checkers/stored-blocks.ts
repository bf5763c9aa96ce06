/**
 * Stored blocks (SPEC §4.2, 4.6): what a node would serve from its disk is, byte for byte, the block of the version under
 * whose identity it is kept; and versions without a strong ETag aren't kept at all.
 */
import type { BlockName } from '../history/block-event.ts';
import type { StoredBlock } from '../history/views.ts';
import { firstDifference } from '../oracle/content.ts';
import type { Oracle } from '../oracle/oracle.ts';

/** Called as a process ends, and when everything rests, for every block in a node’s store that it trusts. */
export function checkStoredBlock(oracle: Oracle, stored: StoredBlock): string | null {
  const { node, slot, block, blockBytes, length, bytes, isRotten } = stored;
  const where = `node ${node}, slot ${slot}`;
  if (block === null) return `${where}: kept under an identity that nobody has`;
  if (isRotten) return null;
  const wrong = wrongBlock(oracle, block, blockBytes, length, bytes);
  return wrong === null ? null : `${where}: ${wrong}`;
}

/** What is wrong with these bytes as that block; null when nothing is. */
export function wrongBlock(
  oracle: Oracle,
  block: BlockName,
  blockBytes: number,
  length: number,
  bytes: Uint8Array,
): string | null {
  const { bucket, key, etag, index } = block;
  const name = `block ${index} of ${bucket}/${key} ${etag}`;
  if (!etag.startsWith('"')) return `${name} has no strong ETag`;
  const version = oracle.history(bucket, key).find((state) => state.etag === etag);
  if (version === undefined) return `${name} is of no version that ever was`;
  const first = index * blockBytes;
  const expected = Math.min(blockBytes, version.size - first);
  if (length !== expected) return `${name} has ${length} bytes, not ${expected}`;
  if (bytes.length < length) return `${name} has only ${bytes.length} of ${length} bytes`;
  const at = firstDifference(version.content, first, bytes.subarray(0, length));
  return at === -1 ? null : `byte ${at} of ${name} is wrong`;
}
