/**
 * Blocks of memory for bodies on their way to origins, used again and again: a fresh one for each piece of an upload costs more
 * than the copy into it, by page faults and by the garbage collections that so much outside memory brings about.
 *
 * Memory: each thread keeps up to `maxSpareBytes`. A block that isn't given back is garbage like any other.
 */

/** One write to a socket. */
export const blockBytes = 128 * 1024;
const maxSpareBytes = 8 * 1024 * 1024;

const spare: Buffer[] = [];

/** A block with whatever bytes were in it. */
export function takeBlock(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
}

/** Nobody reads the block any more. */
export function giveBackBlock(block: Buffer): void {
  if (block.length !== blockBytes) throw new Error('what is given back is not a block');
  if (spare.length * blockBytes < maxSpareBytes) spare.push(block);
}
