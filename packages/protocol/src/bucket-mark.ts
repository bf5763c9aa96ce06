/**
 * What a node says of its buckets, as a link opens and whenever it changes: a mark that stands for where they point and how they are cached.
 *
 *     bucket mark    mark u64, at least 1
 *
 * Nodes with the same settings have the same mark, in each of their lives. A gateway that hears another one from a node than before
 * forgets what homes told it: on a link the mark comes before any answer that holds by it.
 */
import { readU64, writeU64 } from './bytes.ts';
import type { FrameFault, FrameHeader } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType } from './frame.ts';

const payloadBytes = 8;
const frameBytes = frameHeaderBytes + payloadBytes;

/** The frame that tells a mark, from 1 to 2^53 - 1. */
export function encodeBucketMark(mark: number): Uint8Array {
  const bytes = new Uint8Array(frameBytes);
  writeU64(bytes, encodeFrameHeader(bytes, 0, FrameType.bucketMark, 0, 0, payloadBytes, 0), mark);
  return bytes;
}

/** The mark in the payload [start, end). */
export function decodeBucketMark(
  bytes: Uint8Array,
  start: number,
  end: number,
  { flags, requestId, bodyLength }: FrameHeader,
): number | FrameFault {
  if (flags !== 0 || requestId !== 0) return 'reserved';
  if (bodyLength !== 0) return 'limit';
  if (end - start !== payloadBytes) return 'length';
  const mark = readU64(bytes, start);
  return mark < 1 ? 'figure' : mark;
}
