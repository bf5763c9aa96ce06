/**
 * The storage node: answers gateways' reads from its store, and from S3 what it doesn't hold.
 *
 * A lookup goes to the home (home.ts): what an object is, confirmed recently enough. A blocks read goes to the owner
 * (owner.ts): bytes of one version. What is missing comes through a fill (fill.ts), once for all that wait, and is stored
 * if the doorkeeper lets it in (admission.ts). What moved here with a ring change comes from its previous owner
 * (handovers.ts), and what is read too much for one node is lent to others (hot-keys.ts). The journal (journal/journal.ts) brings it to disk, and blocks that come back from
 * there are verified first (verification.ts). Here events only find their way.
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
import type { Verdict } from '../journal/effects.ts';
import { Journal, type JournalCounters, type JournalLevels } from '../journal/journal.ts';
import type { LogReader } from '../journal/metadata-log.ts';
import type { TableHeader } from '../journal/table-header.ts';
import type { Layout } from '../layout.ts';
import type { NodeMessage } from '../node-message.ts';
import type { ObjectMetadata, OriginError, ReadAnswer, ReadRequest } from '../read.ts';
import type { DatedRing } from '../ring-history.ts';
import type { Ring } from '../ring.ts';
import { NO_SLOT, type SlotId, type Store } from '../store/store.ts';
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
import { Handovers } from './handovers.ts';
import { Home } from './home.ts';
import { HotKeys } from './hot-keys.ts';
import type { NodeLimits } from './limits.ts';
import { Lookups } from './lookup.ts';
import { MetadataTable } from './metadata-table.ts';
import { Owner } from './owner.ts';
import { OwnershipWalk } from './ownership-walk.ts';
import { Ownership } from './ownership.ts';
import type { NodeParts } from './parts.ts';
import type { PolicyOf } from './policy.ts';
import { Readers, type Reader } from './reader.ts';
import { Scrub } from './scrub.ts';
import { Verification, type VerificationCounters } from './verification.ts';

/** What a block write fails with that never began, because the slot table can't be written: EIO. */
const inputOutputError = 5;

export interface NodeOptions {
  readonly effects: NodeEffects;
  readonly digest: IdentityDigest;
  /** Empty, or as recovery left it. */
  readonly store: Store;
  /** The header of this run, as it stands in the files (journal/start-plan.ts). */
  readonly table: TableHeader;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly nodeId: number;
  readonly policyOf: PolicyOf;
  readonly limits: NodeLimits;
  /** Bits that outsiders don't know, for positions in tables. */
  readonly seed: Readonly<U64>;
}

/** What a node holds right now; all but metadata and leases is zero when no read waits and no fetch is out. */
export interface NodeLevels {
  readonly waitingReaders: number;
  readonly lookups: number;
  readonly fetches: number;
  readonly fillBytes: number;
  readonly metadataEntries: number;
  readonly metadataBytes: number;
  /** Placements that this node lends, and those that are lent to it; they end by themselves. */
  readonly leasesGranted: number;
  readonly leasesHeld: number;
}

export class Node {
  readonly counters: NodeCounters = newNodeCounters();
  /** What the journal counted and has under way, and what verification counted. */
  readonly journal: { readonly counters: Readonly<JournalCounters>; levels(): JournalLevels };
  readonly verification: { readonly counters: Readonly<VerificationCounters> };
  readonly #parts: NodeParts;
  readonly #scrub: Scrub;
  readonly #walk: OwnershipWalk;
  readonly #hotKeys: HotKeys;
  readonly #fills: Fills;
  readonly #lookups: Lookups;
  readonly #home: Home;
  readonly #owner: Owner;
  #isInside = false;

  constructor(options: NodeOptions) {
    const { effects, digest, store, table, layout, ring, nodeId, policyOf, limits, seed } = options;
    const { maxFetches, metadataEntries, metadataBytes } = limits;
    // A fetch brings at most a chunk; one that is cut to the object's end may touch a block more.
    const maxSegments =
      Math.ceil(Math.max(layout.chunkBytes, layout.tailBytes) / layout.blockBytes) + 1;
    const journal = new Journal({ store, effects, limits, header: table });
    const again = new LinkedList<Reader>();
    const verification = new Verification({ store, journal, effects, limits, again });
    this.journal = journal;
    this.verification = verification;
    this.#scrub = new Scrub(store, verification, limits.scrubIntervalMs);
    const { fallbackWindowMs, standInMs } = limits;
    const ownership = new Ownership(ring, nodeId, layout, fallbackWindowMs, standInMs);
    const { counters } = this;
    this.#hotKeys = new HotKeys(effects, ownership, layout, limits, counters, seed);
    const { held } = this.#hotKeys;
    this.#walk = new OwnershipWalk(store, ownership, held);
    this.#parts = {
      effects,
      digest,
      policyOf,
      layout,
      ownership,
      handovers: new Handovers(effects, ownership, held, limits, counters),
      limits,
      counters,
      store,
      journal,
      verification,
      memory: new FillMemory(limits.fillBudgetBytes),
      metadata: new MetadataTable(metadataEntries, metadataBytes, seed.hi, digest, effects),
      admission: new Admission(store, policyOf),
      fetches: new Fetches(maxFetches, maxSegments),
      readers: new Readers(limits.maxReaders),
      again,
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
    if (!request.onlyHeld) {
      const hint = this.#hotKeys.onRead(now, request);
      if (hint !== null) this.#parts.effects.hintHot(asker, hint);
    }
    if (request.kind === 'lookup') this.#home.read(now, asker, request);
    else this.#owner.read(now, asker, request);
    this.#leave(now);
  }

  /** Nobody waits for this answer any more. */
  onReadCancelled(now: number, asker: Asker): void {
    this.#enter();
    const reader = this.#parts.readers.of(asker);
    if (reader?.waitsFor === 'lookup') this.#home.leave(now, reader);
    else if (reader?.waitsFor === 'verification') this.#leaveVerification(reader);
    else if (reader !== null) this.#fills.leave(now, reader);
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

  /** Another node answered a fetch; a body's bytes follow as those of one from S3. */
  onPeerAnswer(now: number, id: FetchId, answer: ReadAnswer): void {
    this.#enter();
    const fetch = this.#parts.fetches.get(id);
    if (fetch?.stream === 'asked' && fetch.peer >= 0) {
      if (fetch.purpose === 'lookup') this.#home.onPeerAnswer(now, fetch, answer);
      else this.#fills.onPeerAnswer(now, fetch, answer);
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

  /** A `writeSlot` ended; errno 0 when the bytes are in the file. `checksum` is the CRC32C of the block's bytes. */
  onSlotWritten(now: number, slot: SlotId, errno: number, checksum: number): void {
    this.#enter();
    this.#parts.journal.ended();
    this.#fills.onSlotWritten(now, slot, errno, checksum);
    this.#leave(now);
  }

  /** A `syncSlab` ended; errno 0 when everything written before it is durable. */
  onSlabSynced(now: number, errno: number): void {
    this.#enter();
    this.#parts.journal.slabSynced(now, errno);
    this.#leave(now);
  }

  /** A `syncTable` ended; errno 0 when every row written before it is in the file and durable. */
  onTableSynced(now: number, errno: number): void {
    this.#enter();
    const { journal } = this.#parts;
    journal.tableSynced(now, errno);
    for (let slot = journal.takeFailed(); slot !== NO_SLOT; slot = journal.takeFailed()) {
      this.#fills.onSlotWritten(now, slot, inputOutputError, 0);
    }
    this.#leave(now);
  }

  /** A `verifySlot` ended; `checksum` is the CRC32C of the block's bytes when it is intact. */
  onSlotVerified(now: number, slot: SlotId, verdict: Verdict, checksum: number): void {
    this.#enter();
    this.#parts.verification.onVerified(now, slot, verdict, checksum);
    this.#scrub.onVerified(now, slot);
    this.#leave(now);
  }

  /** The slab was found to end at `slabBytes`, shorter than it should: all past that is gone, at once. */
  onSlabTruncated(now: number, slabBytes: number): void {
    this.#enter();
    this.#parts.verification.onTruncated(slabBytes);
    this.#leave(now);
  }

  /**
   * The process is about to end: nothing more is stored, and all that is stored becomes durable. Once `journal.levels().unflushed` is
   * 0 the run may be marked as ended clean; from then on the driver writes nothing else.
   */
  onShutdown(now: number): void {
    this.#enter();
    this.#parts.journal.shutdown();
    this.#leave(now);
  }

  /** Takes what the metadata log of earlier runs says; before the first read. */
  get metadataLog(): LogReader {
    return this.#parts.metadata;
  }

  /**
   * What a new metadata log is made of: shows about `limit` entries from `from` on (0 to begin), and returns where to go on, 0 when
   * that was all. Between events only; records are immutable, hashes reused.
   */
  metadataFrom(
    from: number,
    limit: number,
    each: (hash: Hash128, metadata: ObjectMetadata) => void,
  ): number {
    return this.#parts.metadata.visit(from, limit, each);
  }

  /** A `compactMetadataLog` ended, well or not. */
  onMetadataLogCompacted(now: number): void {
    this.#enter();
    this.#parts.metadata.onCompacted();
    this.#leave(now);
  }

  /** A write of the object passes through this node: call it before it goes to S3, and again before it is answered. */
  onWrite(now: number, hash: Hash128, phase: 'started' | 'finished'): void {
    this.#enter();
    if (phase === 'finished') this.counters.writesSeen += 1;
    this.#home.onWrite(hash);
    this.#hotKeys.onWrite(now, hash);
    this.#leave(now);
  }

  /** Another node tells something. */
  onMessage(now: number, message: NodeMessage): void {
    this.#enter();
    if (message.kind === 'written') {
      this.counters.writesHeardOf += 1;
      this.#home.onWrite(message.hash);
    } else {
      this.#hotKeys.onMessage(now, message);
    }
    this.#leave(now);
  }

  /** A newer ring, with those that were replaced within the window, newest first: their members have what moved here. */
  onRing(now: number, ring: Ring, replaced: readonly DatedRing[] = []): void {
    this.#enter();
    this.#parts.ownership.setRing(now, ring, replaced);
    this.#leave(now);
  }

  /** Call it once `nextDeadline()` has passed. */
  onTick(now: number): void {
    this.#enter();
    this.#fallBack(now);
    this.#fills.onTick(now);
    this.#scrub.onTick(now);
    this.#walk.onTick(now);
    this.#hotKeys.onTick(now);
    this.#leave(now);
  }

  /** The moment that `onTick` is due, Infinity when nothing waits. */
  nextDeadline(): number {
    const { journal, handovers } = this.#parts;
    return Math.min(
      this.#fills.deadline,
      handovers.deadline,
      journal.deadline,
      this.#scrub.deadline,
      this.#walk.deadline,
      this.#hotKeys.deadline,
    );
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
      leasesGranted: this.#hotKeys.granted.count,
      leasesHeld: this.#hotKeys.held.count,
    };
  }

  #enter(): void {
    assert(!this.#isInside, 'effects never call the node back');
    this.#isInside = true;
  }

  /** Fetches that waited too long for a previous owner go on without it. */
  #fallBack(now: number): void {
    const { handovers } = this.#parts;
    for (let fetch = handovers.takeLate(now); fetch !== null; fetch = handovers.takeLate(now)) {
      if (fetch.purpose === 'lookup') this.#home.fallBack(now, fetch);
      else this.#fills.fallBack(now, fetch);
    }
  }

  #leaveVerification(reader: Reader): void {
    this.#parts.verification.leave(reader);
    this.#parts.readers.release(reader);
  }

  /** Readers that must start over do so now that the event has been dealt with, and the journal goes on. */
  #leave(now: number): void {
    const { again, journal } = this.#parts;
    for (let reader = again.shift(); reader !== null; reader = again.shift()) {
      if (reader.kind === 'blocks') this.#owner.readAgain(now, reader);
      else if (reader.waitsFor === 'delivery') this.#home.goOn(now, reader);
      else this.#home.begin(now, reader);
    }
    journal.advance(now);
    this.#isInside = false;
  }
}
