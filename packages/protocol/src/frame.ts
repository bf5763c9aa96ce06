/**
 * The frame: what every link between two processes is made of.
 *
 *     offset  0  u32  payload length: bytes that follow this header and are read whole
 *             4  u8   type
 *             5  u8   flags, their meaning is the type's
 *             6  u16  ring mark, in what nodes answer; else zero
 *             8  u32  request id: the asker's name for a read; answers may come in any order
 *            12  u32  body length: bytes that follow the payload and are moved, not read
 *
 * The body is apart from the payload so that it can go from a file to a client's socket without entering a process.
 * The ring mark stands for the ring that the node places by (ring-message.ts): an asker that has another one asks for it.
 * In the header it costs nothing, and a body behind it stays in the kernel.
 *
 * A frame is refused (`FrameFault`), never guessed at: the link that carried it is closed.
 */
import { readU16, readU32, writeU16, writeU32 } from './bytes.ts';

export const frameHeaderBytes = 16;

/** The version that both ends of a link must speak. A change to any frame but `hello` and `refused` raises it. */
export const protocolVersion = 5;

/** Longest payload: an origin's error has up to 64 KiB of body and what its headers take. */
export const maxPayloadBytes = 128 * 1024;

/** Longest body: a block. */
export const maxBodyBytes = 1024 * 1024;

export const FrameType = {
  hello: 1,
  challenge: 2,
  response: 3,
  refused: 4,
  ready: 5,
  ping: 6,
  pong: 7,
  leaving: 8,

  readLookup: 16,
  readBlocks: 17,
  cancel: 18,

  answerMetadata: 24,
  answerBytes: 25,
  answerFailure: 26,

  requestHead: 32,
  requestBody: 33,
  requestEnd: 34,

  responseHead: 40,
  responseBody: 41,
  responseEnd: 42,
  responseFailed: 43,

  ringRequest: 48,
  ringAnswer: 49,
  bucketMark: 50,

  leaseGranted: 56,
  leaseAccepted: 57,
  leaseReport: 58,
  written: 59,
  leaseRefused: 60,
} as const;

/**
 * What is wrong with a frame.
 * type: no such type, or not one that may come here. length: the payload doesn't have the length its content asks for.
 * figure: a number outside what it may be. limit: longer than any frame may be. reserved: bytes that must be zero aren't.
 */
export type FrameFault = 'type' | 'length' | 'figure' | 'limit' | 'reserved';

/** A decoded frame header. Reused. */
export interface FrameHeader {
  payloadLength: number;
  type: number;
  flags: number;
  ringMark: number;
  requestId: number;
  bodyLength: number;
}

export function newFrameHeader(): FrameHeader {
  return { payloadLength: 0, type: 0, flags: 0, ringMark: 0, requestId: 0, bodyLength: 0 };
}

/** What a node says of its own: these frames carry a ring mark. */
const carriesRingMark = (type: number): boolean =>
  type === FrameType.pong || (type >= FrameType.answerMetadata && type <= FrameType.answerFailure);

/** Writes a frame header; returns the offset after it. */
export function encodeFrameHeader(
  into: Uint8Array,
  at: number,
  type: number,
  flags: number,
  requestId: number,
  payloadLength: number,
  bodyLength: number,
  ringMark = 0,
): number {
  writeU32(into, at, payloadLength);
  into[at + 4] = type;
  into[at + 5] = flags;
  writeU16(into, at + 6, ringMark);
  writeU32(into, at + 8, requestId);
  return writeU32(into, at + 12, bodyLength);
}

/** Reads the header at `at`; the caller has seen that 16 bytes are there. Returns null, or what is wrong. */
export function decodeFrameHeader(
  bytes: Uint8Array,
  at: number,
  into: FrameHeader,
): FrameFault | null {
  into.payloadLength = readU32(bytes, at);
  into.type = bytes[at + 4]!;
  into.flags = bytes[at + 5]!;
  into.ringMark = readU16(bytes, at + 6);
  into.requestId = readU32(bytes, at + 8);
  into.bodyLength = readU32(bytes, at + 12);
  if (into.ringMark !== 0 && !carriesRingMark(into.type)) return 'reserved';
  if (into.payloadLength > maxPayloadBytes || into.bodyLength > maxBodyBytes) return 'limit';
  return null;
}

/** Writes a frame that is nothing but its header: cancel, ping, ends. */
export function encodeBareFrame(
  into: Uint8Array,
  at: number,
  type: number,
  requestId: number,
  ringMark = 0,
): number {
  return encodeFrameHeader(into, at, type, 0, requestId, 0, 0, ringMark);
}
