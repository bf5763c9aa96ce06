/**
 * What gateways ask nodes and what nodes answer: the only words that the two machines share. Nodes use them among each other, too,
 * when what one of them owns now is still with its previous owner.
 *
 * The records are plain and reusable: a driver encodes one during the call that hands it over, and nobody keeps a
 * reference to a request or an answer past that call. `ObjectMetadata` is the exception: it is immutable and shared.
 *
 * Buckets, keys and ETags are binary strings: one character for each byte, so that they stay exact.
 * No wall clock crosses the wire: ages and lifetimes are durations in milliseconds.
 */
import type { Hash128 } from './base/hash.ts';
import type { RangeKind } from './s3/byte-range.ts';

/** One version of an object, as its origin described it. Immutable. */
export interface ObjectMetadata {
  /** The raw ETag header, quotes included; always strong. */
  readonly etag: string;
  /** Bytes of the whole object. */
  readonly size: number;
  /** Seconds since 1970, from Last-Modified; 0 when the origin sent none. */
  readonly lastModified: number;
  /**
   * The origin's headers that describe the object, as `Name: value\r\n` lines, byte for byte. Without Content-Length,
   * Content-Range and connection headers: those belong to one answer. Checksums of the whole object stand first, where
   * they are known. Opaque to core.
   */
  readonly headerLines: Uint8Array;
  /** Whether S3 was asked in the way that makes it tell the checksums that it has: for the whole object. */
  readonly knowsChecksums: boolean;
  /** Identity of this version, derived from object hash, origin and ETag: blocks are kept under it. */
  readonly version: Hash128;
}

export interface ReadRequest {
  /** `lookup` asks the home for metadata, and for bytes along the way. `blocks` asks an owner for bytes of a version. */
  kind: 'lookup' | 'blocks';
  bucket: string;
  key: string;
  /** SHA-256 of length-prefixed bucket and key, truncated. */
  hash: Hash128;
  /**
   * Another node asks: answer with what is held, metadata of any age or a stored block, and never ask anybody else for it. `absent`
   * when it isn't held.
   */
  onlyHeld: boolean;
  /** The node that ranks first failed, or is suspected to: the one that is asked stores what it fetches, as if it owned it. */
  standsIn: boolean;

  /** lookup: metadata must have been confirmed at most this long ago; Infinity when any age within the policy will do. */
  confirmedWithinMs: number;
  /** lookup: an ETag that was just found to be gone, '' when none. Metadata with it doesn't count as known. */
  failedEtag: string;
  /** lookup: bytes of the answer's body at most; 0 asks for metadata alone. */
  bodyLimit: number;
  /** lookup: the client is to be told the object's checksums: metadata that doesn't know them won't do. */
  needsChecksums: boolean;
  /** lookup: the client's range. bounded: first and last; from: first; suffix: `first` bytes from the end. */
  rangeKind: RangeKind;

  /** blocks: first and last byte, inclusive, within one block. lookup: the range's figures. */
  first: number;
  last: number;
  /** blocks: the last byte that the reader will want in this chunk after `last`, so that one fetch can bring it all. */
  partLast: number;
  /** blocks: the version wanted. */
  version: Hash128;
  etag: string;
  size: number;
}

/** A record to fill in before it is handed on. */
export function newReadRequest(): ReadRequest {
  return {
    kind: 'lookup',
    bucket: '',
    key: '',
    hash: { h0: 0, h1: 0, h2: 0, h3: 0 },
    onlyHeld: false,
    standsIn: false,
    confirmedWithinMs: Infinity,
    failedEtag: '',
    bodyLimit: 0,
    needsChecksums: false,
    rangeKind: 'none',
    first: 0,
    last: 0,
    partLast: 0,
    version: { h0: 0, h1: 0, h2: 0, h3: 0 },
    etag: '',
    size: 0,
  };
}

/** An answer of the origin that isn't an object: relayed as it came. */
export interface OriginError {
  readonly status: number;
  /** The S3 error code when known ('NoSuchKey'), else ''. */
  readonly code: string;
  /** Headers as `Name: value\r\n` lines without Content-Length, Transfer-Encoding and connection headers. */
  readonly headerLines: Uint8Array;
  /** At most 64 KiB: longer bodies are cut. */
  readonly body: Uint8Array;
}

/**
 * Why a read brought no bytes.
 * changed: the version asked for is gone at the origin; ask the home anew.
 * uncacheable: the object has no strong ETag or can't be held: pass the client's request through.
 * busy: a pool is full; S3's SlowDown.
 * origin: the origin answered with an error (`error` has it) or couldn't be reached (`error` is null).
 * peer: the node couldn't be reached, or left while answering.
 * absent: only what is held was asked for, and it isn't.
 */
export type ReadFailure = 'changed' | 'uncacheable' | 'busy' | 'origin' | 'peer' | 'absent';

/**
 * A placement that is read so much that its owner lent it to others: whoever follows the hint spreads its reads over them all.
 */
export interface HotHint {
  /** How long the leases last from sending the answer on, in milliseconds; 0 for no hint. */
  remainingMs: number;
  /** Node ids: the owner, then those that hold a lease. */
  readonly nodes: number[];
}

/** The most nodes that an owner lends a placement to. */
export const maxHotReplicas = 8;

/** A record to fill in: no hint. */
export function newHotHint(): HotHint {
  return { remainingMs: 0, nodes: [] };
}

export function copyHotHint(from: Readonly<HotHint>, into: HotHint): void {
  into.remainingMs = from.remainingMs;
  into.nodes.length = from.nodes.length;
  for (let at = 0; at < from.nodes.length; at++) into.nodes[at] = from.nodes[at]!;
}

/**
 * Where the bytes of an answer come from. slot: they were stored. fetched: they were brought for whoever reads them now. kept: the
 * same, and they are being stored.
 */
export type BodySource = 'slot' | 'fetched' | 'kept';

export interface ReadAnswer {
  kind: 'metadata' | 'bytes' | 'failure';
  /** metadata: the object, as confirmed `ageMs` ago, good for `lifetimeMs` from that confirmation (Infinity: immutable). */
  metadata: ObjectMetadata | null;
  /** Counted from sending the confirming request to S3 to sending this answer. */
  ageMs: number;
  lifetimeMs: number;
  /** Bytes of the object that follow with this answer. */
  bodyLength: number;
  /** metadata: the position of the first of them. Bytes of a blocks read begin where they were asked for. */
  bodyFirst: number;
  /** Of the bytes that follow; for those who ask, nothing depends on it. */
  source: BodySource;
  failure: ReadFailure;
  error: OriginError | null;
  /** metadata, bytes: of the placement that was asked about, home or chunk. */
  readonly hot: HotHint;
}

/** A record to fill in: as it is, the answer of a node that couldn't be reached. */
export function newReadAnswer(): ReadAnswer {
  return {
    kind: 'failure',
    metadata: null,
    ageMs: 0,
    lifetimeMs: 0,
    bodyLength: 0,
    bodyFirst: 0,
    source: 'slot',
    failure: 'peer',
    error: null,
    hot: newHotHint(),
  };
}
