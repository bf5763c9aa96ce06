/**
 * Rings on a link: who asks gets the current ring and those that it replaced within the grace window.
 *
 *     ring request   version held u64, 0 for none
 *     ring answer    member count u16, ring count u8, zero u8;
 *                    members: node id u32, weight u32, address length u8, address;
 *                    rings, newest first: version u64, replaced for u64 ms, one bit a member (the lowest bit first)
 *
 * No rings mean: nothing newer than what you hold. Rings have most members in common, so each member is written once, in
 * order, and a ring is a set of bits. A message that would grow too long leaves out its oldest rings.
 */
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { maxAddressLength, maxWeight } from '@s3-accelerator/core/membership/member-record.ts';
import { maxRings, type DatedRing } from '@s3-accelerator/core/ring-history.ts';
import { maxMembers, Ring, type Member } from '@s3-accelerator/core/ring.ts';
import {
  readBinary,
  readU16,
  readU32,
  readU64,
  writeBinary,
  writeU16,
  writeU32,
  writeU64,
} from './bytes.ts';
import type { FrameFault } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType, maxPayloadBytes } from './frame.ts';
import { isAddress } from './gossip-packet.ts';

const requestPayloadBytes = 8;
const fixedBytes = 4;
const memberFixedBytes = 9;
const ringFixedBytes = 16;

export const ringRequestBytes = frameHeaderBytes + requestPayloadBytes;

/**
 * 16 bits that stand for a ring version in frame headers, 0 for none: an asker whose own ring has another mark asks for the
 * node's. Two versions in 65,535 share one: the asker then notices the next change.
 */
export function ringMark(version: number): number {
  if (version === 0) return 0;
  const mixed = mix32(mix32(version >>> 0) ^ Math.floor(version / 2 ** 32));
  return ((mixed >>> 0) % 0xffff) + 1;
}

/** Asks for rings newer than a version; 0 for any. Returns the offset after the frame. */
export function encodeRingRequest(
  into: Uint8Array,
  start: number,
  requestId: number,
  heldVersion: number,
): number {
  const at = encodeFrameHeader(
    into,
    start,
    FrameType.ringRequest,
    0,
    requestId,
    requestPayloadBytes,
    0,
  );
  return writeU64(into, at, heldVersion);
}

/** The version that the asker holds, from the payload [start, end). */
export function decodeRingRequest(
  bytes: Uint8Array,
  start: number,
  end: number,
): number | FrameFault {
  if (end - start !== requestPayloadBytes) return 'length';
  const version = readU64(bytes, start);
  return version < 0 ? 'figure' : version;
}

/** The frame of an answer: rings newest first, at most eight; as many of them as fit. */
export function encodeRingAnswer(requestId: number, rings: readonly DatedRing[]): Uint8Array {
  let sent = rings.slice(0, maxRings);
  let members = membersOf(sent);
  while (payloadBytes(members, sent.length) > maxPayloadBytes) {
    sent = sent.slice(0, -1);
    members = membersOf(sent);
  }
  const length = payloadBytes(members, sent.length);
  const bytes = new Uint8Array(frameHeaderBytes + length);
  let at = encodeFrameHeader(bytes, 0, FrameType.ringAnswer, 0, requestId, length, 0);
  at = writeU16(bytes, at, members.length);
  bytes[at] = sent.length;
  bytes[at + 1] = 0;
  at += 2;
  for (const { nodeId, weight, address } of members) {
    at = writeU32(bytes, at, nodeId);
    at = writeU32(bytes, at, weight);
    bytes[at] = address.length;
    at = writeBinary(bytes, at + 1, address);
  }
  for (const { ring, replacedForMs } of sent) {
    at = writeU64(bytes, at, ring.version);
    at = writeU64(bytes, at, Math.ceil(replacedForMs));
    for (const [index, member] of members.entries()) {
      const own = ring.member(member.nodeId);
      if (own !== null && compare(own, member) === 0) bytes[at + (index >> 3)]! |= 1 << (index & 7);
    }
    at += bitmapBytes(members.length);
  }
  return bytes;
}

/** The rings in the payload [start, end), newest first. */
export function decodeRingAnswer(
  bytes: Uint8Array,
  start: number,
  end: number,
): DatedRing[] | FrameFault {
  if (end - start < fixedBytes || end - start > maxPayloadBytes) return 'length';
  const ringCount = bytes[start + 2]!;
  if (ringCount > maxRings) return 'figure';
  if (bytes[start + 3] !== 0) return 'reserved';
  const members: Member[] = [];
  const ringsStart = readMembers(bytes, start, end, members);
  if (typeof ringsStart === 'string') return ringsStart;
  const ringBytes = ringFixedBytes + bitmapBytes(members.length);
  if (end - ringsStart !== ringCount * ringBytes) return 'length';
  const rings: DatedRing[] = [];
  const used = new Set<Member>();
  for (let at = ringsStart; at < end; at += ringBytes) {
    const dated = readRing(bytes, at, members, used);
    if (typeof dated === 'string') return dated;
    const newer = rings.at(-1);
    if (newer === undefined ? dated.replacedForMs !== 0 : dated.ring.version >= newer.ring.version)
      return 'figure';
    rings.push(dated);
  }
  return used.size === members.length ? rings : 'figure';
}

/** Reads the members; returns where the rings begin. */
function readMembers(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Member[],
): number | FrameFault {
  const count = readU16(bytes, start);
  let at = start + fixedBytes;
  for (let left = count; left > 0; left--) {
    const addressStart = at + memberFixedBytes;
    if (addressStart > end) return 'length';
    const length = bytes[addressStart - 1]!;
    if (addressStart + length > end) return 'length';
    const weight = readU32(bytes, at + 4);
    if (weight < 1 || weight > maxWeight || !isAddress(bytes, addressStart, length))
      return 'figure';
    const address = readBinary(bytes, addressStart, addressStart + length);
    const member = { nodeId: readU32(bytes, at), weight, address };
    const last = into.at(-1);
    if (last !== undefined && compare(last, member) >= 0) return 'figure';
    into.push(member);
    at = addressStart + length;
  }
  return at;
}

function readRing(
  bytes: Uint8Array,
  at: number,
  members: readonly Member[],
  used: Set<Member>,
): DatedRing | FrameFault {
  const version = readU64(bytes, at);
  const replacedForMs = readU64(bytes, at + 8);
  if (version < 0 || replacedForMs < 0) return 'figure';
  const own: Member[] = [];
  const bits = at + ringFixedBytes;
  for (let index = 0; index < bitmapBytes(members.length) * 8; index++) {
    if (((bytes[bits + (index >> 3)]! >> (index & 7)) & 1) === 0) continue;
    const member = members[index];
    if (member === undefined) return 'reserved';
    if (own.at(-1)?.nodeId === member.nodeId || own.length === maxMembers) return 'figure';
    own.push(member);
    used.add(member);
  }
  return { ring: new Ring(version, own), replacedForMs };
}

/** Every member of these rings, each as often as it differs, in order. */
function membersOf(rings: readonly DatedRing[]): Member[] {
  const all = rings.flatMap(({ ring }) => ring.members).sort(compare);
  return all.filter((member, index) => index === 0 || compare(all[index - 1]!, member) !== 0);
}

function compare(a: Member, b: Member): number {
  if (a.nodeId !== b.nodeId) return a.nodeId - b.nodeId;
  if (a.weight !== b.weight) return a.weight - b.weight;
  if (a.address === b.address) return 0;
  return a.address < b.address ? -1 : 1;
}

const bitmapBytes = (members: number): number => (members + 7) >> 3;

function payloadBytes(members: readonly Member[], rings: number): number {
  let bytes = fixedBytes + rings * (ringFixedBytes + bitmapBytes(members.length));
  for (const { address } of members) bytes += memberFixedBytes + address.length;
  return bytes;
}

/** The longest current ring fits whatever its addresses. */
export const longestRingAnswerBytes =
  fixedBytes +
  maxMembers * (memberFixedBytes + maxAddressLength) +
  ringFixedBytes +
  (maxMembers >> 3);
