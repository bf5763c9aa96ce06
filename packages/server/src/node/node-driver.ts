/**
 * Runs the node's core over its disk, an S3 client and whoever asks.
 *
 * Askers come from two sides: the gateway in this process and links from others. The core sees one number for each: even ones are
 * the gateway's, odd ones a link's. An effect acts at once, since none of what it calls comes back into the core; outcomes
 * arrive later as events, from the reactor (disk, sent) or the S3 client.
 */
import { constants } from 'node:os';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import type { Verdict } from '@s3-accelerator/core/journal/effects.ts';
import type { TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import { Node } from '@s3-accelerator/core/node/node.ts';
import type { NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import type { PolicyOf } from '@s3-accelerator/core/node/policy.ts';
import type { U64, Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type {
  BodySource,
  HotHint,
  ObjectMetadata,
  OriginError,
  ReadAnswer,
  ReadFailure,
  ReadRequest,
} from '@s3-accelerator/core/read.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { DiskFiles } from '../disk/disk-files.ts';
import { NodeDisk, type NodeDiskEvents } from '../disk/node-disk.ts';
import type { FaultLog } from '../log.ts';
import type { ObjectHash } from '../object-hash.ts';
import type { FetchEvents, Fetcher } from '../origin/fetcher.ts';
import type { Confirmation, NodeAnswers } from './answers.ts';
import { FillPlaces } from './fill-places.ts';
import type { PeerFetches } from './peer-fetches.ts';

export interface NodeDriverOptions {
  readonly reactor: Reactor;
  readonly files: DiskFiles;
  /** Empty, or with the blocks of earlier runs. */
  readonly store: Store;
  /** The header of this run, as it stands in the files. */
  readonly table: TableHeader;
  /** Memory whose address is a multiple of 4096; registered with the reactor. */
  readonly fillMemory: Uint8Array;
  readonly nodeId: number;
  readonly ring: Ring;
  readonly layout: Layout;
  readonly limits: NodeLimits;
  readonly policyOf: PolicyOf;
  readonly digest: ObjectHash;
  readonly seed: U64;
  /** Milliseconds from a monotonic clock. */
  readonly now: () => number;
  readonly faults: FaultLog;
}

/** What reading a damaged disk or a truncated file fails with; all else is the connection's. */
const unreadable: ReadonlySet<number> = new Set([constants.errno.EIO, constants.errno.ENXIO]);

const nowhere: NodeAnswers = {
  answerMetadata: () => undefined,
  answerMetadataFromFile: () => undefined,
  answerMetadataFromBytes: () => undefined,
  answerFromFile: () => undefined,
  beginAnswer: () => undefined,
  continueAnswer: () => undefined,
  abortAnswer: () => undefined,
  answerFailure: () => undefined,
};

const noMetadata: ObjectMetadata = {
  etag: '',
  size: 0,
  lastModified: 0,
  headerLines: new Uint8Array(0),
  knowsChecksums: true,
  version: { h0: 0, h1: 0, h2: 0, h3: 0 },
};

/** Names no read. */
const noAsker: Asker = -1;

/** The core's name for a read of this process's gateway. */
export const localAsker = (id: number): Asker => id * 2;
/** The core's name for a read that came over a link. */
export const linkAsker = (id: number): Asker => id * 2 + 1;

export class NodeDriver implements NodeEffects, FetchEvents, NodeDiskEvents {
  readonly node: Node;
  /** Set by the composition: answers to the gateway of this process, and over links. */
  localAnswers: NodeAnswers = nowhere;
  linkAnswers: NodeAnswers = nowhere;
  /**
   * Set by the composition: runs after each event that didn't come from the gateway, so that this process's gateway has taken an
   * answer's bytes before the next ones are written to the fill memory.
   */
  afterEvent: () => void = () => undefined;
  /** Set by the composition: what carries out fetches. */
  fetcher: Fetcher | null = null;
  /** Set by the composition: what fetches from other nodes. */
  peerFetches: PeerFetches | null = null;
  /** Set by the composition: what brings messages to other nodes. */
  sendMessage: (nodeId: number, message: NodeMessage) => void = () => undefined;
  readonly #options: NodeDriverOptions;
  readonly #disk: NodeDisk;
  readonly #places = new FillPlaces();
  readonly #confirmation: Confirmation = {
    metadata: noMetadata,
    ageMs: 0,
    lifetimeMs: 0,
    hot: null,
  };
  /** The hint of the present event, and whose answer it belongs to. */
  #hint: HotHint | null = null;
  #hinted: Asker = noAsker;

  constructor(options: NodeDriverOptions) {
    this.#options = options;
    const { store, table, nodeId, ring, layout, limits, policyOf, digest, seed } = options;
    options.reactor.files.registerFillMemory(options.fillMemory);
    this.#disk = new NodeDisk({ ...options, header: table }, this);
    this.node = new Node({
      effects: this,
      store,
      table,
      nodeId,
      ring,
      layout,
      limits,
      policyOf,
      digest,
      seed,
    });
  }

  // Events for the core, from whoever asks.

  onRead(asker: Asker, request: ReadRequest): void {
    this.node.onRead(this.#options.now(), asker, request);
    this.#hinted = noAsker;
  }

  /** Another node tells something. */
  onMessage(message: NodeMessage): void {
    this.node.onMessage(this.#options.now(), message);
    this.#leave();
  }

  onReadCancelled(asker: Asker): void {
    this.node.onReadCancelled(this.#options.now(), asker);
  }

  /** The bytes of a slot that an answer was made of went out (errno 0), can't be read, or their connection died. */
  onSlotSent(slot: SlotId, errno: number): void {
    const now = this.#options.now();
    if (unreadable.has(errno)) {
      this.#disk.readFailed(errno);
      this.node.onSlotUnreadable(now, slot);
    }
    this.node.onSlotSent(now, slot);
  }

  /** The hash of an object, for `onWrite`: a fresh record. */
  hashOf(bucket: string, key: string): Hash128 {
    return this.#options.digest.of(bucket, key);
  }

  /** Call it a few times a second. */
  tick(): void {
    const now = this.#options.now();
    this.#disk.tick(now);
    if (this.node.nextDeadline() > now) return;
    this.node.onTick(now);
    this.#leave();
  }

  /** Stores nothing more; what is stored becomes durable, as `isFlushed` then tells. Go on calling `tick`. */
  shutdown(): void {
    this.node.onShutdown(this.#options.now());
    this.#leave();
  }

  get isFlushed(): boolean {
    return this.node.journal.levels().unflushed === 0;
  }

  /** Marks the run as ended clean, once all is flushed; nothing is written after that. */
  endRun(done: (errno: number) => void): void {
    this.#disk.endRun(done);
  }

  onWrite(hash: Hash128, phase: 'started' | 'finished'): void {
    this.node.onWrite(this.#options.now(), hash, phase);
  }

  // Events of the disk.

  onSlotWritten(slot: SlotId, errno: number, checksum: number): void {
    this.node.onSlotWritten(this.#options.now(), slot, errno, checksum);
    this.#leave();
  }

  onSlabSynced(errno: number): void {
    this.node.onSlabSynced(this.#options.now(), errno);
    this.#leave();
  }

  onTableSynced(errno: number): void {
    this.node.onTableSynced(this.#options.now(), errno);
    this.#leave();
  }

  onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number): void {
    this.node.onSlotVerified(this.#options.now(), slot, verdict, checksum);
    this.#leave();
  }

  onSlabTruncated(slabBytes: number): void {
    this.node.onSlabTruncated(this.#options.now(), slabBytes);
    this.#leave();
  }

  onMetadataLogCompacted(): void {
    this.node.onMetadataLogCompacted(this.#options.now());
    this.#leave();
  }

  metadataFrom(
    from: number,
    limit: number,
    each: (hash: Hash128, metadata: ObjectMetadata) => void,
  ): number {
    return this.node.metadataFrom(from, limit, each);
  }

  // Events of fetches, from S3 and from other nodes.

  onPeerAnswer(fetch: FetchId, answer: ReadAnswer): void {
    this.node.onPeerAnswer(this.#options.now(), fetch, answer);
    this.#leave();
  }

  onHead(fetch: FetchId, head: FetchHead): void {
    this.node.onFetchHead(this.#options.now(), fetch, head);
    this.#leave();
  }

  onBytes(fetch: FetchId, bytes: Uint8Array): number {
    const { fillMemory, now } = this.#options;
    let taken = 0;
    while (taken < bytes.length) {
      const place = this.#places.get(fetch);
      if (place === null) break;
      if (place.direct >= 0) {
        const rest = bytes.subarray(taken);
        this.#answersOf(place.direct).continueAnswer(place.direct >>> 1, rest);
        taken = bytes.length;
        this.afterEvent();
        break;
      }
      const length = Math.min(bytes.length - taken, place.room);
      if (length === 0) break;
      fillMemory.set(bytes.subarray(taken, taken + length), place.memory);
      place.memory += length;
      place.room -= length;
      taken += length;
      this.node.onFetchBytes(now(), fetch, length);
      this.afterEvent();
    }
    this.#options.reactor.schedule();
    return taken;
  }

  onEnd(fetch: FetchId, end: FetchEnd): void {
    this.#places.forget(fetch);
    this.node.onFetchEnd(this.#options.now(), fetch, end);
    this.#leave();
  }

  onFailed(fetch: FetchId, error: OriginError | null): void {
    this.#places.forget(fetch);
    this.node.onFetchFailed(this.#options.now(), fetch, error);
    this.#leave();
  }

  // Effects of the core.

  hintHot(asker: Asker, hint: HotHint): void {
    this.#hinted = asker;
    this.#hint = hint;
  }

  sendToNode(nodeId: number, message: NodeMessage): void {
    this.sendMessage(nodeId, message);
  }

  answerMetadata(asker: Asker, metadata: ObjectMetadata, ageMs: number, lifetimeMs: number): void {
    const confirmed = this.#confirm(asker, metadata, ageMs, lifetimeMs);
    this.#answersOf(asker).answerMetadata(asker >>> 1, confirmed);
  }

  answerMetadataFromSlot(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    slot: SlotId,
    offset: number,
    length: number,
  ): void {
    const confirmed = this.#confirm(asker, metadata, ageMs, lifetimeMs);
    const fileOffset = this.#options.store.fileOffset(slot) + offset;
    const answers = this.#answersOf(asker);
    answers.answerMetadataFromFile(asker >>> 1, confirmed, bodyFirst, fileOffset, length, slot);
  }

  answerMetadataFromMemory(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    memory: number,
    length: number,
    isKept: boolean,
  ): void {
    const confirmed = this.#confirm(asker, metadata, ageMs, lifetimeMs);
    const bytes = this.#options.fillMemory.subarray(memory, memory + length);
    const answers = this.#answersOf(asker);
    answers.answerMetadataFromBytes(asker >>> 1, confirmed, bodyFirst, bytes, sourceOf(isKept));
  }

  answerFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    const fileOffset = this.#options.store.fileOffset(slot) + offset;
    const hot = this.#hintOf(asker);
    this.#answersOf(asker).answerFromFile(asker >>> 1, fileOffset, length, slot, hot);
  }

  beginAnswer(asker: Asker, length: number, isKept: boolean): void {
    this.#answersOf(asker).beginAnswer(asker >>> 1, length, sourceOf(isKept));
  }

  continueFromMemory(asker: Asker, memory: number, length: number): void {
    const bytes = this.#options.fillMemory.subarray(memory, memory + length);
    this.#answersOf(asker).continueAnswer(asker >>> 1, bytes);
  }

  abortAnswer(asker: Asker): void {
    this.#answersOf(asker).abortAnswer(asker >>> 1);
  }

  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void {
    this.#answersOf(asker).answerFailure(asker >>> 1, failure, error);
  }

  startFetch(fetch: FetchId, request: FetchRequest): void {
    this.fetcher?.start(fetch, request);
  }

  startPeerFetch(fetch: FetchId, nodeId: number, request: ReadRequest): void {
    this.peerFetches?.start(fetch, nodeId, request);
  }

  receiveInto(fetch: FetchId, memory: number, length: number): void {
    this.#places.into(fetch, memory, length);
    this.fetcher?.more(fetch);
  }

  receiveDirect(fetch: FetchId, asker: Asker): void {
    this.#places.direct(fetch, asker);
    this.fetcher?.more(fetch);
  }

  cancelFetch(fetch: FetchId): void {
    this.#places.forget(fetch);
    this.fetcher?.cancel(fetch);
    this.peerFetches?.cancel(fetch);
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    this.#disk.writeSlot(slot, memory, length);
  }

  syncSlab(): void {
    this.#disk.syncSlab();
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.#disk.writeRecord(slot, record);
  }

  syncTable(): void {
    this.#disk.syncTable();
  }

  verifySlot(slot: SlotId): void {
    this.#disk.verifySlot(slot);
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    this.#disk.logMetadata(hash, metadata);
  }

  logForgotten(hash: Hash128): void {
    this.#disk.logForgotten(hash);
  }

  compactMetadataLog(): void {
    this.#disk.compactMetadataLog();
  }

  #leave(): void {
    this.afterEvent();
    this.#options.reactor.schedule();
  }

  #answersOf(asker: Asker): NodeAnswers {
    return asker % 2 === 0 ? this.localAnswers : this.linkAnswers;
  }

  #hintOf(asker: Asker): HotHint | null {
    return asker === this.#hinted ? this.#hint : null;
  }

  #confirm(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
  ): Confirmation {
    const confirmed = this.#confirmation;
    confirmed.metadata = metadata;
    confirmed.ageMs = ageMs;
    confirmed.lifetimeMs = lifetimeMs;
    confirmed.hot = this.#hintOf(asker);
    return confirmed;
  }
}

/** Of bytes out of the fill memory. */
function sourceOf(isKept: boolean): BodySource {
  return isKept ? 'kept' : 'fetched';
}
