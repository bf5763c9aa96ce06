/**
 * Gossip among nodes, one packet a UDP datagram of at most 1,400 bytes.
 *
 *     offset  0  u16  magic "SG"
 *             2  u8   version of gossip
 *             3  u8   kind: 0 ping, 1 ack, 2 relay, 3 pull, 4 page, 5 news, 6 claim
 *             4  u32  sender's node id
 *             8  u32  sender's run
 *            12  u32  sequence
 *            16  u32  subject
 *            20  u32  digest of the sender's table
 *            24  u8   flags: 1 the sender is a member, 2 last page
 *            25  u8   zero
 *            26  u16  count of records
 *            28       records: node id u32, run u32, incarnation u32, place u32, weight u32, status u8 (0 alive, 1 suspect,
 *                     2 down, 3 left), address length u8, address
 *        then     16  MAC: HMAC-SHA256 with the gossip key over all bytes before it, cut to 128 bits
 *
 * The MAC is the driver's: `gossipBodyLength` tells a datagram that may be one of ours, so that it can be checked before it
 * is parsed. Every packet has exactly one encoding.
 */
import {
  maxAddressLength,
  maxIncarnation,
  maxPlace,
  maxWeight,
  memberStatuses,
  recordBytes,
  type MemberRecord,
} from '@s3-accelerator/core/membership/member-record.ts';
import {
  maxDatagramBytes,
  packetKinds,
  type Packet,
} from '@s3-accelerator/core/membership/packet.ts';
import { readBinary, readU16, readU32, writeBinary, writeU16, writeU32 } from './bytes.ts';
import type { FrameFault } from './frame.ts';

export const gossipMacBytes = 16;

/** Raised by any change of this layout; nodes of different versions don't hear each other. */
export const gossipVersion = 1;

/** `SG`, as a little-endian half-word. */
const magic = 0x4753;
const headBytes = 28;
const recordFixedBytes = 22;
const memberFlag = 1;
const lastPageFlag = 2;
const firstPrintable = 0x21;
const lastPrintable = 0x7e;

/** Bytes that the MAC covers, for a datagram of `length` bytes that looks like ours; -1 for any other. */
export function gossipBodyLength(datagram: Uint8Array, length: number): number {
  if (length < headBytes + gossipMacBytes || length > maxDatagramBytes) return -1;
  return readU16(datagram, 0) === magic ? length - gossipMacBytes : -1;
}

/** Writes a packet without its MAC at the beginning of `into`; returns its length. `into` has `maxDatagramBytes`. */
export function encodeGossip(into: Uint8Array, packet: Packet): number {
  writeU16(into, 0, magic);
  into[2] = gossipVersion;
  into[3] = packetKinds.indexOf(packet.kind);
  writeU32(into, 4, packet.sender);
  writeU32(into, 8, packet.run);
  writeU32(into, 12, packet.sequence);
  writeU32(into, 16, packet.subject);
  writeU32(into, 20, packet.digest);
  into[24] = (packet.isMember ? memberFlag : 0) | (packet.isLast ? lastPageFlag : 0);
  into[25] = 0;
  let at = writeU16(into, 26, packet.updates.length);
  for (const record of packet.updates) at = writeRecord(into, at, record);
  return at;
}

function writeRecord(into: Uint8Array, start: number, record: MemberRecord): number {
  let at = writeU32(into, start, record.nodeId);
  at = writeU32(into, at, record.run);
  at = writeU32(into, at, record.incarnation);
  at = writeU32(into, at, record.place);
  at = writeU32(into, at, record.weight);
  into[at] = memberStatuses.indexOf(record.status);
  into[at + 1] = record.address.length;
  return writeBinary(into, at + 2, record.address);
}

/** Reads a packet from the first `length` bytes, the MAC not among them. Returns null, or what is wrong. */
export function decodeGossip(bytes: Uint8Array, length: number, into: Packet): FrameFault | null {
  if (length < headBytes || length > maxDatagramBytes - gossipMacBytes) return 'length';
  if (readU16(bytes, 0) !== magic || bytes[2] !== gossipVersion) return 'type';
  const kind = packetKinds[bytes[3]!];
  if (kind === undefined) return 'type';
  const flags = bytes[24]!;
  if (flags > (kind === 'page' ? memberFlag | lastPageFlag : memberFlag)) return 'reserved';
  if (bytes[25] !== 0) return 'reserved';
  into.kind = kind;
  into.sender = readU32(bytes, 4);
  into.run = readU32(bytes, 8);
  into.sequence = readU32(bytes, 12);
  into.subject = readU32(bytes, 16);
  into.digest = readU32(bytes, 20);
  into.isMember = (flags & memberFlag) !== 0;
  into.isLast = (flags & lastPageFlag) !== 0;
  into.updates = [];
  let at = headBytes;
  for (let left = readU16(bytes, 26); left > 0; left--) {
    const record = readRecord(bytes, at, length);
    if (typeof record === 'string') return record;
    into.updates.push(record);
    at += recordBytes(record);
  }
  return at === length ? null : 'length';
}

function readRecord(bytes: Uint8Array, at: number, end: number): MemberRecord | FrameFault {
  const addressStart = at + recordFixedBytes;
  if (addressStart > end) return 'length';
  const addressLength = bytes[addressStart - 1]!;
  if (addressStart + addressLength > end) return 'length';
  const status = memberStatuses[bytes[addressStart - 2]!];
  const incarnation = readU32(bytes, at + 8);
  const place = readU32(bytes, at + 12);
  const weight = readU32(bytes, at + 16);
  if (status === undefined || incarnation > maxIncarnation) return 'figure';
  if (place > maxPlace || weight < 1 || weight > maxWeight) return 'figure';
  if (!isAddress(bytes, addressStart, addressLength)) return 'figure';
  return {
    nodeId: readU32(bytes, at),
    incarnation,
    status,
    run: readU32(bytes, at + 4),
    place,
    weight,
    address: readBinary(bytes, addressStart, addressStart + addressLength),
  };
}

/** Whether these bytes may be an address: printable, no space. What else is wrong with it shows when something is sent there. */
export function isAddress(bytes: Uint8Array, start: number, length: number): boolean {
  if (length < 1 || length > maxAddressLength) return false;
  for (let at = start; at < start + length; at++) {
    if (bytes[at]! < firstPrintable || bytes[at]! > lastPrintable) return false;
  }
  return true;
}
