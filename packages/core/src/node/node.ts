/**
 * The storage node: answers gateways' reads from its store, and from S3 what it doesn't hold.
 *
 * A lookup goes to the home (home.ts): what an object is, confirmed recently enough. A blocks read goes to the owner
 * (owner.ts): bytes of one version. What is missing comes through a fill (fill.ts), once for all that wait, and is stored
 * if the doorkeeper lets it in (admission.ts). Here events only find their way.
 *
 * Decides only; effects.ts makes it happen. Every read is answered exactly once: whole, with a failure, or cut short
 * after it had begun. Reads that must start over do so at the end of the event that told.
 *
 * Memory: the store's bytes a block, the metadata table, and the pools of limits.ts. A hit takes no record.
 */
import { assert } from '../base/assert.ts';
import { FillMemory } from '../base/fill-memory.ts';
import type { U64, Hash128 } from '../base/hash.ts';
import { LinkedList } from '../base/linked-list.ts';
import type { Layout } from '../layout.ts';
import type { OriginError, ReadRequest } from '../read.ts';
import type { Ring } from '../ring.ts';
import type { SlotId, Store } from '../store/store.ts';
import { Admission } from './admission.ts';
import { newNodeCounters, type NodeCounters } from './counters.ts';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  IdentityDigest,
  NodeEffects,
} from './effects.ts';
import { Fetches } from './fetch.ts';
import { Fills } from './fill.ts';
import { Home } from './home.ts';
import type { NodeLimits } from './limits.ts';
import { Lookups } from './lookup.ts';
import { MetadataTable } from './metadata-table.ts';
import { Owner } from './owner.ts';
import { Ownership } from './ownership.ts';
import type { NodeParts } from './parts.ts';
import type { PolicyOf } from './policy.ts';
import { Readers, type Reader } from './reader.ts';

export interface NodeOptions {
  readonly effects: NodeEffects;
  readonly digest: IdentityDigest;
  readonly store: Store;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly nodeId: number;
  readonly policyOf: PolicyOf;
  readonly limits: NodeLimits;
  /** Bits that outsiders don't know, for positions in tables. */
  readonly seed: Readonly<U64>;
}

/** What a node holds right now; all but the metadata is zero when no read waits and no fetch is out. */
export interface NodeLevels {
  readonly waitingReaders: number;
  readonly lookups: number;
  readonly fetches: number;
  readonly fillBytes: number;
  readonly metadataEntries: number;
  readonly metadataBytes: number;
}

export class Node {
  readonly counters: NodeCounters = newNodeCounters();
  readonly #parts: NodeParts;
  readonly #fills: Fills;
  readonly #lookups: Lookups;
  readonly #home: Home;
  readonly #owner: Owner;
  #isInside = false;

  constructor(options: NodeOptions) {
    const { effects, digest, store, layout, ring, nodeId, policyOf, limits, seed } = options;
    const { maxFetches, metadataEntries, metadataBytes } = limits;
    // A fetch brings at most a chunk; one that is cut to the object's end may touch a block more.
    const maxSegments =
      Math.ceil(Math.max(layout.chunkBytes, layout.tailBytes) / layout.blockBytes) + 1;
    this.#parts = {
      effects,
      digest,
      policyOf,
      layout,
      ownership: new Ownership(ring, nodeId, layout),
      limits,
      counters: this.counters,
      store,
      memory: new FillMemory(limits.fillBudgetBytes),
      metadata: new MetadataTable(metadataEntries, metadataBytes, seed.hi, digest),
      admission: new Admission(store, policyOf),
      fetches: new Fetches(maxFetches, maxSegments),
      readers: new Readers(limits.maxReaders),
      again: new LinkedList<Reader>(),
      arrivals: 0,
    };
    this.#fills = new Fills(this.#parts);
    this.#lookups = new Lookups(maxFetches, seed.lo);
    this.#home = new Home(this.#parts, this.#fills, this.#lookups);
    this.#owner = new Owner(this.#parts, this.#fills);
  }

  /** A gateway's read; answered exactly once by one of the answer effects, unless cancelled. */
  onRead(now: number, asker: Asker, request: ReadRequest): void {
    this.#enter();
    if (request.kind === 'lookup') this.#home.read(now, asker, request);
    else this.#owner.read(now, asker, request);
    this.#leave(now);
  }

  /** Nobody waits for this answer any more. */
  onReadCancelled(now: number, asker: Asker): void {
    this.#enter();
    const reader = this.#parts.readers.of(asker);
    if (reader !== null) {
      if (reader.waitsFor === 'lookup') this.#home.leave(now, reader);
      else this.#fills.leave(now, reader);
    }
    this.#leave(now);
  }

  /** An answer out of a slot has left, or never will: the slot's pin for it ends. */
  onSlotSent(now: number, slot: SlotId): void {
    this.#enter();
    this.#parts.store.unpin(slot);
    this.#leave(now);
  }

  /** A slot's bytes couldn't be read: its block is a miss from now on. The answer's pin still ends with `onSlotSent`. */
  onSlotUnreadable(now: number, slot: SlotId): void {
    this.#enter();
    this.counters.unreadableBlocks += 1;
    this.#parts.store.drop(slot);
    this.#leave(now);
  }

  /** S3 answered a fetch. */
  onFetchHead(now: number, id: FetchId, head: FetchHead): void {
    this.#enter();
    const fetch = this.#parts.fetches.get(id);
    if (fetch?.stream === 'asked') {
      if (fetch.purpose === 'lookup') this.#home.onHead(now, fetch, head);
      else this.#fills.onHead(now, fetch, head);
    }
    this.#leave(now);
  }

  /** `count` bytes of a fetch's body arrived where the last `receiveInto` said. */
  onFetchBytes(now: number, id: FetchId, count: number): void {
    this.#enter();
    const fetch = this.#parts.fetches.get(id);
    if (fetch?.stream === 'flowing') this.#fills.onBytes(now, fetch, count);
    this.#leave(now);
  }

  /** A fetch's body is complete, or broke off. */
  onFetchEnd(now: number, id: FetchId, end: FetchEnd): void {
    this.#enter();
    const fetch = this.#parts.fetches.get(id);
    if (fetch?.stream === 'flowing') this.#fills.onEnd(now, fetch, end);
    this.#leave(now);
  }

  /** A fetch got no usable answer at all; `error` is null when the origin couldn't be reached. */
  onFetchFailed(now: number, id: FetchId, error: OriginError | null): void {
    this.#enter();
    const fetch = this.#parts.fetches.get(id);
    if (fetch?.stream === 'asked') {
      if (fetch.purpose === 'lookup') this.#home.onFailed(now, fetch, error);
      else this.#fills.onFailed(now, fetch, error);
    }
    this.#leave(now);
  }

  /** A `writeSlot` ended; errno 0 when the bytes are in the file. */
  onSlotWritten(now: number, slot: SlotId, errno: number): void {
    this.#enter();
    this.#fills.onSlotWritten(now, slot, errno);
    this.#leave(now);
  }

  /** A write of the object passes through this node: call it before it goes to S3, and again before it is answered. */
  onWrite(now: number, hash: Hash128, phase: 'started' | 'finished'): void {
    this.#enter();
    if (phase === 'finished') this.counters.writesSeen += 1;
    this.#home.onWrite(hash);
    this.#leave(now);
  }

  /** A newer ring. */
  onRing(now: number, ring: Ring): void {
    this.#enter();
    this.#parts.ownership.ring = ring;
    this.#leave(now);
  }

  /** Call it once `nextDeadline()` has passed. */
  onTick(now: number): void {
    this.#enter();
    this.#fills.onTick(now);
    this.#leave(now);
  }

  /** The moment that `onTick` is due, Infinity when nothing waits. */
  nextDeadline(): number {
    return this.#fills.deadline;
  }

  levels(): NodeLevels {
    const { readers, fetches, memory, metadata } = this.#parts;
    return {
      waitingReaders: readers.inUse,
      lookups: this.#lookups.inUse,
      fetches: fetches.inUse,
      fillBytes: memory.usedBytes,
      metadataEntries: metadata.count,
      metadataBytes: metadata.bytes,
    };
  }

  #enter(): void {
    assert(!this.#isInside, 'effects never call the node back');
    this.#isInside = true;
  }

  /** Readers that must start over do so now that the event has been dealt with. */
  #leave(now: number): void {
    const { again } = this.#parts;
    for (let reader = again.shift(); reader !== null; reader = again.shift()) {
      if (reader.kind === 'lookup') this.#home.begin(now, reader);
      else this.#owner.readAgain(now, reader);
    }
    this.#isInside = false;
  }
}
