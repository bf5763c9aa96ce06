/**
 * A hot hint on the wire: the last part of the payload of an answer that carries one.
 *
 *     remainingMs u32, count u16, zero u16, node ids u32 × count
 *
 * The time that is left is rounded down, and a hint that would be over by then isn't sent.
 */
import { maxHotReplicas, type HotHint } from '@s3-accelerator/core/read.ts';
import { readU16, readU32, writeU16, writeU32 } from './bytes.ts';
import type { FrameFault } from './frame.ts';

const fixedBytes = 8;
const nodeIdBytes = 4;
/** The owner with those that it can lend to; one alone is no hint. */
const maxNodes = 1 + maxHotReplicas;
const minNodes = 2;

/** The hint if it is to be sent at all. */
export function sendableHint(hint: HotHint | null): HotHint | null {
  return hint !== null && hint.remainingMs >= 1 ? hint : null;
}

/** Bytes that a hint takes, 0 for none. */
export function hintBytes(hint: HotHint | null): number {
  return hint === null ? 0 : fixedBytes + nodeIdBytes * hint.nodes.length;
}

/** Writes a sendable hint; returns the offset after it. */
export function encodeHint(
  into: Uint8Array,
  start: number,
  { remainingMs, nodes }: HotHint,
): number {
  let at = writeU32(into, start, Math.floor(remainingMs));
  at = writeU16(into, at, nodes.length);
  at = writeU16(into, at, 0);
  for (let i = 0; i < nodes.length; i++) at = writeU32(into, at, nodes[i]!);
  return at;
}

/** Reads the hint [start, end) into a reused record. Returns null, or what is wrong with it. */
export function decodeHint(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: HotHint,
): FrameFault | null {
  if (end - start < fixedBytes) return 'length';
  const count = readU16(bytes, start + 4);
  if (end - start !== fixedBytes + nodeIdBytes * count) return 'length';
  if (readU16(bytes, start + 6) !== 0) return 'reserved';
  into.remainingMs = readU32(bytes, start);
  if (into.remainingMs === 0 || count < minNodes || count > maxNodes) return 'figure';
  const { nodes } = into;
  nodes.length = count;
  for (let i = 0; i < count; i++) nodes[i] = readU32(bytes, start + fixedBytes + nodeIdBytes * i);
  return null;
}
