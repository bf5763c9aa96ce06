/**
 * What nodes tell each other over multiplexed links, without an answer: leases of hot placements, and writes.
 *
 *     lease granted   placement u64, from u32, turn u32, leaseMs u32
 *     lease accepted  placement u64, from u32, turn u32
 *     lease refused   placement u64, from u32, turn u32
 *     lease report    placement u64, from u32, turn u32, reads u64
 *     written         object hash 16, from u32
 *
 * A placement is its high word, then its low one. Leases are durations, rounded up: a holder that has one for a fraction of a
 * millisecond too long harms nobody, while its owner has told askers less.
 */
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import { readHash, readU32, readU64, writeHash, writeU32, writeU64 } from './bytes.ts';
import type { FrameFault, FrameHeader } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType } from './frame.ts';

const leaseFixedBytes = 16;
const payloadBytes = { lease: 20, accepted: 16, refused: 16, report: 24, written: 20 } as const;
const types = {
  lease: FrameType.leaseGranted,
  accepted: FrameType.leaseAccepted,
  refused: FrameType.leaseRefused,
  report: FrameType.leaseReport,
  written: FrameType.written,
} as const;

/** Bytes that a message's frame takes. */
export function nodeMessageBytes({ kind }: NodeMessage): number {
  return frameHeaderBytes + payloadBytes[kind];
}

/** Writes a message's frame at `start`; returns the offset after it. */
export function encodeNodeMessage(into: Uint8Array, start: number, message: NodeMessage): number {
  const { kind, from, placement, turn } = message;
  encodeFrameHeader(into, start, types[kind], 0, 0, payloadBytes[kind], 0);
  let at = start + frameHeaderBytes;
  if (kind === 'written') {
    at = writeHash(into, at, message.hash);
    return writeU32(into, at, from);
  }
  at = writeU32(into, at, placement.hi);
  at = writeU32(into, at, placement.lo);
  at = writeU32(into, at, from);
  at = writeU32(into, at, turn);
  if (kind === 'lease') return writeU32(into, at, Math.ceil(message.leaseMs));
  return kind === 'report' ? writeU64(into, at, message.reads) : at;
}

/** Whether a frame is a message between nodes. */
export function isNodeMessage(type: number): boolean {
  return type >= FrameType.leaseGranted && type <= FrameType.leaseRefused;
}

/** Reads the payload [start, end) of a message's frame into a reused record. Returns null, or what is wrong with it. */
export function decodeNodeMessage(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
  into: NodeMessage,
): FrameFault | null {
  const { type, flags, requestId, bodyLength } = header;
  const kind = kindOf(type);
  if (kind === null) return 'type';
  if (flags !== 0 || requestId !== 0) return 'reserved';
  if (bodyLength !== 0) return 'limit';
  if (end - start !== payloadBytes[kind]) return 'length';
  into.kind = kind;
  if (kind === 'written') {
    readHash(bytes, start, into.hash);
    into.from = readU32(bytes, start + 16);
    return null;
  }
  into.placement.hi = readU32(bytes, start);
  into.placement.lo = readU32(bytes, start + 4);
  into.from = readU32(bytes, start + 8);
  into.turn = readU32(bytes, start + 12);
  if (kind === 'lease') into.leaseMs = readU32(bytes, start + leaseFixedBytes);
  if (kind === 'report') into.reads = readU64(bytes, start + leaseFixedBytes);
  if (into.turn === 0 || (kind === 'lease' && into.leaseMs === 0)) return 'figure';
  return kind === 'report' && into.reads < 0 ? 'figure' : null;
}

function kindOf(type: number): NodeMessage['kind'] | null {
  switch (type) {
    case FrameType.leaseGranted:
      return 'lease';
    case FrameType.leaseAccepted:
      return 'accepted';
    case FrameType.leaseReport:
      return 'report';
    case FrameType.written:
      return 'written';
    case FrameType.leaseRefused:
      return 'refused';
    default:
      return null;
  }
}
