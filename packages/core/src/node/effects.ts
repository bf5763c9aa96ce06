/**
 * What a node makes happen. The five rules of gateway/effects.ts hold here too: void, never throwing, never calling back
 * into the core, numbers and reusable records, one implementation a process.
 *
 * Memory: fetched bytes land in the fill memory, one region of `fillBudgetBytes` that the core hands out in pieces by
 * offset. The driver copies arriving bytes to where `receiveInto` says. An answer's bytes are taken from memory during the
 * effect call, so the core may reuse the memory right after. Bytes themselves never enter the core.
 */
import type { Hash128 } from '../base/hash.ts';
import type { JournalEffects } from '../journal/effects.ts';
import type { NodeMessage } from '../node-message.ts';
import type { HotHint, ObjectMetadata, OriginError, ReadFailure, ReadRequest } from '../read.ts';
import type { RangeKind } from '../s3/byte-range.ts';
import type { SlotId } from '../store/store.ts';

/** The driver's name for one read that waits for an answer; the core only hands it back. */
export type Asker = number;

/** The node's name for one fetch, from S3 or from another node: slot and generation. */
export type FetchId = number;

/** A GET or HEAD to the origin. Reused: encode during the call. */
export interface FetchRequest {
  bucket: string;
  key: string;
  /** HEAD when true: no bytes wanted. */
  headOnly: boolean;
  /** bounded: bytes=first-last. suffix: bytes=-first. none: no Range header. */
  rangeKind: RangeKind;
  first: number;
  last: number;
  /** Sent as If-Match, '' for none: '' only on first fetches. */
  ifMatch: string;
  /** Sent as If-None-Match, '' for none. */
  ifNoneMatch: string;
}

/** The origin's answer to a fetch, before its bytes. Reused: copy what is kept. */
export interface FetchHead {
  /** 200, 206, 304, or an error's. */
  status: number;
  /** Raw ETag header, quotes included; '' when it is missing or not a strong one. */
  etag: string;
  /** Bytes of the whole object (Content-Range's total, else Content-Length); -1 when unknown. */
  size: number;
  /** Position of the first byte of the body, and how many bytes the body has; 0 and 0 for HEAD. */
  first: number;
  length: number;
  lastModified: number;
  headerLines: Uint8Array;
  /** status ≥ 400: the error with its body, else null. */
  error: OriginError | null;
}

/** How a fetch ended after its head: every promised byte came, or it broke off. */
export type FetchEnd = 'complete' | 'broken';

export interface NodeEffects extends JournalEffects {
  /** What this asker is answered with during the present event, if it is, carries this hint: bytes out of a slot, or metadata. */
  hintHot(asker: Asker, hint: HotHint): void;
  /** Answers a lookup, without a body. Ages in milliseconds; lifetime Infinity for immutable. */
  answerMetadata(asker: Asker, metadata: ObjectMetadata, ageMs: number, lifetimeMs: number): void;
  /** Answers a lookup with `length` bytes from position `bodyFirst`, out of a slot (pinned until `onSlotSent`). */
  answerMetadataFromSlot(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    slot: SlotId,
    offset: number,
    length: number,
  ): void;
  /** The same out of fill memory. `isKept`: the bytes are to be stored. */
  answerMetadataFromMemory(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    memory: number,
    length: number,
    isKept: boolean,
  ): void;

  /** Answers a blocks read with `length` bytes at `offset` of a slot. The slot is pinned until `onSlotSent`. */
  answerFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void;
  /**
   * Begins an answer of `length` bytes that come by `continueFromMemory`, all of them, or end with `abortAnswer`. `isKept`: the
   * first of them are to be stored.
   */
  beginAnswer(asker: Asker, length: number, isKept: boolean): void;
  /** Sends bytes [memory, memory + length) of the fill memory; when they complete the answer, the asker is done. */
  continueFromMemory(asker: Asker, memory: number, length: number): void;
  /** An answer that had begun can't be completed. */
  abortAnswer(asker: Asker): void;
  /** Answers that there are no bytes, and why. */
  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void;

  /**
   * Sends a request to the origin. `onFetchHead` follows, or `onFetchFailed`; after the head `onFetchEnd`. The core is done with
   * a fetch at a head without a body (HEAD, 304, errors, nothing wanted): what the driver says of it later is ignored.
   */
  startFetch(fetch: FetchId, request: FetchRequest): void;
  /**
   * Asks another node, one that may have left the ring, for what it holds. `onPeerAnswer` follows, always; after an answer with a
   * body its bytes as those of a fetch from S3, and `onFetchEnd`. A fetch that brought nothing may be started anew, at another
   * node or at S3.
   */
  startPeerFetch(fetch: FetchId, nodeId: number, request: ReadRequest): void;
  /**
   * Where the fetch's next bytes go: at most `length` bytes at `memory`. The driver calls `onFetchBytes` as they come. Without
   * a place left, it reads no further (that is the back-pressure) until the next `receiveInto`.
   */
  receiveInto(fetch: FetchId, memory: number, length: number): void;
  /** Bytes bypass the memory: straight to one asker whose answer has begun, as they come. `onFetchEnd` follows. */
  receiveDirect(fetch: FetchId, asker: Asker): void;
  /** Tells another node something. It may arrive late or never, and nobody hears which. */
  sendToNode(nodeId: number, message: NodeMessage): void;
  /** Nobody wants it any more. No event follows for it. */
  cancelFetch(fetch: FetchId): void;

  /** Appends to the metadata log what the home learned of an object. No event, no promise. The record is immutable and may be kept. */
  logMetadata(hash: Hash128, metadata: ObjectMetadata): void;
  /** Appends that an object was forgotten. */
  logForgotten(hash: Hash128): void;
  /**
   * Most of the metadata log is out of date: writes a new one beside it out of `Node.metadataFrom`, piece by piece after this
   * event, with everything logged meanwhile behind what was written by then; renames it into place; then calls `onMetadataLogCompacted`.
   */
  compactMetadataLog(): void;
}

/** Pure functions of the driver that need SHA-256; the simulator has its own. */
export interface IdentityDigest {
  /** Counts up whenever a bucket may have come to point at another origin. */
  readonly originChanges: number;
  /**
   * Writes the identity of a version (first 128 bits of SHA-256 over object hash, origin identity and ETag) to `into`.
   * The origin identity (endpoint and real bucket) is found by bucket.
   */
  version(bucket: string, hash: Hash128, etag: string, into: Hash128): void;
  /** Recomputes the object hash from bucket and key and compares: a node trusts no hash before it fetches or stores. */
  objectHashMatches(bucket: string, key: string, hash: Hash128): boolean;
}
