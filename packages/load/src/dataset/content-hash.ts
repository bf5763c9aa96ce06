/** SHA-256 of an object's whole content, for uploads that sign it. */
import { createHash } from 'node:crypto';
import { writeContent } from './content.ts';

const piece = Buffer.alloc(256 * 1024);

/** In hex. */
export function contentHash(identity: number, size: number): string {
  const digest = createHash('sha256');
  for (let at = 0; at < size; at += piece.length) {
    const length = Math.min(piece.length, size - at);
    writeContent(identity, at, piece, 0, length);
    digest.update(piece.subarray(0, length));
  }
  return digest.digest('hex');
}
