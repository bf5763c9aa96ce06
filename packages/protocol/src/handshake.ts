/**
 * The frames that open a link: both ends show that they hold the cluster secret, which itself never travels.
 *
 *     asker → hello      magic, version, purpose, nonce
 *           ← challenge  version, nonce, MAC of the answering end
 *     asker → response   MAC of the asking end
 *           ← ready      (bare frame) the link serves
 *     either → refused   reason and version, then the link is closed
 *
 * Each MAC is HMAC-SHA256 with the secret over `encodeProof`: version, purpose, role and both nonces. The role keeps one
 * end's proof from being sent back to it, the two fresh nonces keep a recorded one from being sent again. `hello` and
 * `refused` have the same layout in every version, so that ends of different versions can name them.
 */
import { readU16, readU32, writeBinary, writeBytes, writeU16, writeU32 } from './bytes.ts';
import type { FrameFault } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType } from './frame.ts';

export const nonceBytes = 32;
const macBytes = 32;

/** `S3AL`, as a little-endian word. */
const magic = 0x4c41_3353;

/** What a link will be used for. */
export type LinkPurpose = 'multiplexed' | 'exclusive' | 'forward';
const purposes: readonly LinkPurpose[] = ['multiplexed', 'exclusive', 'forward'];

/** Which end of a link a proof speaks for: the one that connected asks, the other answers. */
export type LinkRole = 'asking' | 'answering';

/** Why an end refuses a link. */
export type RefusalReason = 'version' | 'secret' | 'full' | 'malformed';
const refusalReasons: readonly RefusalReason[] = ['version', 'secret', 'full', 'malformed'];

export interface Hello {
  readonly version: number;
  readonly purpose: LinkPurpose;
  readonly nonce: Uint8Array;
}

export interface Challenge {
  readonly version: number;
  readonly nonce: Uint8Array;
  readonly mac: Uint8Array;
}

export interface Refusal {
  readonly reason: RefusalReason;
  /** The version that the refusing end speaks. */
  readonly version: number;
}

const helloPayloadBytes = 8 + nonceBytes;
const challengePayloadBytes = 4 + nonceBytes + macBytes;
const refusedPayloadBytes = 4;

export const helloBytes = frameHeaderBytes + helloPayloadBytes;
export const challengeBytes = frameHeaderBytes + challengePayloadBytes;
export const responseBytes = frameHeaderBytes + macBytes;
export const refusedBytes = frameHeaderBytes + refusedPayloadBytes;

export function encodeHello(into: Uint8Array, start: number, hello: Hello): number {
  let at = encodeFrameHeader(into, start, FrameType.hello, 0, 0, helloPayloadBytes, 0);
  at = writeU32(into, at, magic);
  at = writeU16(into, at, hello.version);
  into[at] = purposes.indexOf(hello.purpose);
  into[at + 1] = 0;
  return writeBytes(into, at + 2, hello.nonce);
}

/** The payload [start, end) of a hello. A version other than ours is no fault: the caller refuses it by name. */
export function decodeHello(bytes: Uint8Array, start: number, end: number): Hello | FrameFault {
  if (end - start !== helloPayloadBytes) return 'length';
  if (readU32(bytes, start) !== magic) return 'type';
  const purpose = purposes[bytes[start + 6]!];
  if (purpose === undefined) return 'figure';
  if (bytes[start + 7] !== 0) return 'reserved';
  return { version: readU16(bytes, start + 4), purpose, nonce: bytes.slice(start + 8, end) };
}

export function encodeChallenge(into: Uint8Array, start: number, challenge: Challenge): number {
  let at = encodeFrameHeader(into, start, FrameType.challenge, 0, 0, challengePayloadBytes, 0);
  at = writeU16(into, at, challenge.version);
  at = writeU16(into, at, 0);
  at = writeBytes(into, at, challenge.nonce);
  return writeBytes(into, at, challenge.mac);
}

export function decodeChallenge(
  bytes: Uint8Array,
  start: number,
  end: number,
): Challenge | FrameFault {
  if (end - start !== challengePayloadBytes) return 'length';
  if (readU16(bytes, start + 2) !== 0) return 'reserved';
  const macStart = start + 4 + nonceBytes;
  return {
    version: readU16(bytes, start),
    nonce: bytes.slice(start + 4, macStart),
    mac: bytes.slice(macStart, end),
  };
}

export function encodeResponse(into: Uint8Array, start: number, mac: Uint8Array): number {
  const at = encodeFrameHeader(into, start, FrameType.response, 0, 0, macBytes, 0);
  return writeBytes(into, at, mac);
}

/** The MAC in a response. */
export function decodeResponse(
  bytes: Uint8Array,
  start: number,
  end: number,
): Uint8Array | FrameFault {
  return end - start === macBytes ? bytes.slice(start, end) : 'length';
}

export function encodeRefused(into: Uint8Array, start: number, refusal: Refusal): number {
  const at = encodeFrameHeader(into, start, FrameType.refused, 0, 0, refusedPayloadBytes, 0);
  into[at] = refusalReasons.indexOf(refusal.reason);
  into[at + 1] = 0;
  return writeU16(into, at + 2, refusal.version);
}

export function decodeRefused(bytes: Uint8Array, start: number, end: number): Refusal | FrameFault {
  if (end - start !== refusedPayloadBytes) return 'length';
  const reason = refusalReasons[bytes[start]!];
  if (reason === undefined) return 'figure';
  if (bytes[start + 1] !== 0) return 'reserved';
  return { reason, version: readU16(bytes, start + 2) };
}

const proofLabel = 's3-accelerator link proof';

/** The bytes that an end's MAC covers: label, version, purpose, role, the asker's nonce, the answering end's nonce. */
export function encodeProof(
  version: number,
  purpose: LinkPurpose,
  role: LinkRole,
  askingNonce: Uint8Array,
  answeringNonce: Uint8Array,
): Uint8Array {
  const proof = new Uint8Array(proofLabel.length + 4 + 2 * nonceBytes);
  let at = writeBinary(proof, 0, proofLabel);
  at = writeU16(proof, at, version);
  proof[at] = purposes.indexOf(purpose);
  proof[at + 1] = role === 'asking' ? 1 : 2;
  at = writeBytes(proof, at + 2, askingNonce);
  writeBytes(proof, at, answeringNonce);
  return proof;
}
