/**
 * Read requests on the wire: `lookup` to a home, `blocks` to an owner, and `cancel`.
 *
 * A hit at the owner needs the version and the positions only, so those stand at fixed places and the strings are
 * decoded when somebody asks for them: `ReadRequestView` allocates nothing for a hit. Its strings are read out of the
 * frame's bytes, so a view is good during the call that hands it over and no longer.
 *
 *     blocks   hash 16, version 16, first u64, last u64, partLast u64, size u64, lengths u16 × 3, zero u16,
 *              bucket, key, etag
 *     lookup   hash 16, confirmedWithinMs u64, first u64, last u64, bodyLimit u32, range kind u32,
 *              lengths u16 × 3, zero u16, bucket, key, failed etag
 *              flag 1: any age will do (confirmedWithinMs is Infinity); flag 2: checksums are needed
 *     both     flag 4: only what is held; flag 8: the node stands in for another
 *     cancel   nothing
 *
 * Every read is answered exactly once, a cancelled one too (with a failure, unless its answer was already on its way): that
 * is how the asker knows when a request id, or a link that is used by one read at a time, is free again.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { RangeKind } from '@s3-accelerator/core/s3/byte-range.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import {
  readBinary,
  readHash,
  readU16,
  readU32,
  readU64,
  writeBinary,
  writeHash,
  writeU16,
  writeU32,
  writeU64,
} from './bytes.ts';
import type { FrameFault, FrameHeader } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType, maxBodyBytes } from './frame.ts';

const blocksFixedBytes = 72;
const lookupFixedBytes = 56;
const anyAgeFlag = 1;
const needsChecksumsFlag = 2;
const onlyHeldFlag = 4;
const standsInFlag = 8;
const bothFlags = onlyHeldFlag | standsInFlag;
const rangeKinds: readonly RangeKind[] = ['none', 'bounded', 'from', 'suffix'];

/** Bytes that the request's frame takes at most. */
export function readRequestBound(request: ReadRequest): number {
  const strings =
    request.bucket.length + request.key.length + request.etag.length + request.failedEtag.length;
  return frameHeaderBytes + blocksFixedBytes + strings;
}

/** Writes the request's frame at `start`; returns the offset after it. Strings are at most 65,535 bytes each. */
export function encodeReadRequest(
  into: Uint8Array,
  start: number,
  requestId: number,
  request: ReadRequest,
): number {
  return request.kind === 'blocks'
    ? encodeBlocks(into, start, requestId, request)
    : encodeLookup(into, start, requestId, request);
}

function encodeBlocks(
  into: Uint8Array,
  start: number,
  requestId: number,
  request: ReadRequest,
): number {
  let at = start + frameHeaderBytes;
  at = writeHash(into, at, request.hash);
  at = writeHash(into, at, request.version);
  at = writeU64(into, at, request.first);
  at = writeU64(into, at, request.last);
  at = writeU64(into, at, request.partLast);
  at = writeU64(into, at, request.size);
  at = writeStrings(into, at, request.bucket, request.key, request.etag);
  const payloadLength = at - start - frameHeaderBytes;
  encodeFrameHeader(
    into,
    start,
    FrameType.readBlocks,
    flagsOfBoth(request),
    requestId,
    payloadLength,
    0,
  );
  return at;
}

function encodeLookup(
  into: Uint8Array,
  start: number,
  requestId: number,
  request: ReadRequest,
): number {
  const anyAge = request.confirmedWithinMs === Infinity;
  let at = start + frameHeaderBytes;
  at = writeHash(into, at, request.hash);
  // Rounded down: metadata that is too old by a fraction must not pass for fresh.
  at = writeU64(into, at, anyAge ? 0 : Math.floor(request.confirmedWithinMs));
  at = writeU64(into, at, request.first);
  at = writeU64(into, at, request.last);
  at = writeU32(into, at, request.bodyLimit);
  at = writeU32(into, at, rangeKinds.indexOf(request.rangeKind));
  at = writeStrings(into, at, request.bucket, request.key, request.failedEtag);
  const flags =
    (anyAge ? anyAgeFlag : 0) |
    (request.needsChecksums ? needsChecksumsFlag : 0) |
    flagsOfBoth(request);
  const payloadLength = at - start - frameHeaderBytes;
  encodeFrameHeader(into, start, FrameType.readLookup, flags, requestId, payloadLength, 0);
  return at;
}

function flagsOfBoth({ onlyHeld, standsIn }: ReadRequest): number {
  return (onlyHeld ? onlyHeldFlag : 0) | (standsIn ? standsInFlag : 0);
}

function writeStrings(
  into: Uint8Array,
  start: number,
  bucket: string,
  key: string,
  etag: string,
): number {
  let at = writeU16(into, start, bucket.length);
  at = writeU16(into, at, key.length);
  at = writeU16(into, at, etag.length);
  at = writeU16(into, at, 0);
  at = writeBinary(into, at, bucket);
  at = writeBinary(into, at, key);
  return writeBinary(into, at, etag);
}

const noBytes = new Uint8Array(0);

/** A read request as decoded from a frame. Reused: good until the next `decode`, and only while its bytes are. */
export class ReadRequestView implements ReadRequest {
  kind: 'lookup' | 'blocks' = 'blocks';
  readonly hash: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  readonly version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  onlyHeld = false;
  standsIn = false;
  confirmedWithinMs = Infinity;
  bodyLimit = 0;
  needsChecksums = false;
  rangeKind: RangeKind = 'none';
  first = 0;
  last = 0;
  partLast = 0;
  size = 0;

  #bytes: Uint8Array = noBytes;
  #bucketStart = 0;
  #keyStart = 0;
  #etagStart = 0;
  #end = 0;

  get bucket(): string {
    return readBinary(this.#bytes, this.#bucketStart, this.#keyStart);
  }

  get key(): string {
    return readBinary(this.#bytes, this.#keyStart, this.#etagStart);
  }

  get etag(): string {
    return this.kind === 'blocks' ? readBinary(this.#bytes, this.#etagStart, this.#end) : '';
  }

  get failedEtag(): string {
    return this.kind === 'lookup' ? readBinary(this.#bytes, this.#etagStart, this.#end) : '';
  }

  /** Reads the payload [start, end) of a frame with this header. Returns null, or what is wrong with it. */
  decode(bytes: Uint8Array, start: number, end: number, header: FrameHeader): FrameFault | null {
    if (header.bodyLength !== 0) return 'limit';
    switch (header.type) {
      case FrameType.readBlocks:
        return this.#decodeBlocks(bytes, start, end, header.flags);
      case FrameType.readLookup:
        return this.#decodeLookup(bytes, start, end, header.flags);
      default:
        return 'type';
    }
  }

  #decodeBlocks(bytes: Uint8Array, start: number, end: number, flags: number): FrameFault | null {
    if (end - start < blocksFixedBytes) return 'length';
    if ((flags & ~bothFlags) !== 0) return 'reserved';
    this.kind = 'blocks';
    this.#takeFlagsOfBoth(flags);
    this.confirmedWithinMs = Infinity;
    this.bodyLimit = 0;
    this.needsChecksums = false;
    this.rangeKind = 'none';
    readHash(bytes, start, this.hash);
    readHash(bytes, start + 16, this.version);
    this.first = readU64(bytes, start + 32);
    this.last = readU64(bytes, start + 40);
    this.partLast = readU64(bytes, start + 48);
    this.size = readU64(bytes, start + 56);
    const { first, last, partLast, size } = this;
    const ordered = first >= 0 && first <= last && last <= partLast && partLast < size;
    if (!ordered || last - first >= maxBodyBytes) return 'figure';
    return this.#findStrings(bytes, start + 64, end);
  }

  #decodeLookup(bytes: Uint8Array, start: number, end: number, flags: number): FrameFault | null {
    if (end - start < lookupFixedBytes) return 'length';
    if ((flags & ~(anyAgeFlag | needsChecksumsFlag | bothFlags)) !== 0) return 'reserved';
    this.kind = 'lookup';
    this.#takeFlagsOfBoth(flags);
    const { version } = this;
    version.h0 = version.h1 = version.h2 = version.h3 = 0;
    this.partLast = 0;
    this.size = 0;
    readHash(bytes, start, this.hash);
    const within = readU64(bytes, start + 16);
    const anyAge = (flags & anyAgeFlag) !== 0;
    this.needsChecksums = (flags & needsChecksumsFlag) !== 0;
    this.confirmedWithinMs = anyAge ? Infinity : within;
    this.first = readU64(bytes, start + 24);
    this.last = readU64(bytes, start + 32);
    this.bodyLimit = readU32(bytes, start + 40);
    const rangeKind = rangeKinds[readU32(bytes, start + 44)];
    if (anyAge && within !== 0) return 'figure';
    if (within < 0 || this.first < 0 || this.last < 0) return 'figure';
    if (this.bodyLimit > maxBodyBytes || rangeKind === undefined) return 'figure';
    this.rangeKind = rangeKind;
    return this.#findStrings(bytes, start + 48, end);
  }

  #takeFlagsOfBoth(flags: number): void {
    this.onlyHeld = (flags & onlyHeldFlag) !== 0;
    this.standsIn = (flags & standsInFlag) !== 0;
  }

  #findStrings(bytes: Uint8Array, lengths: number, end: number): FrameFault | null {
    if (readU16(bytes, lengths + 6) !== 0) return 'reserved';
    this.#bytes = bytes;
    this.#bucketStart = lengths + 8;
    this.#keyStart = this.#bucketStart + readU16(bytes, lengths);
    this.#etagStart = this.#keyStart + readU16(bytes, lengths + 2);
    this.#end = this.#etagStart + readU16(bytes, lengths + 4);
    return this.#end === end ? null : 'length';
  }
}
