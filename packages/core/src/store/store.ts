/**
 * Which blocks this node holds and where: the only door to the store. Pure bookkeeping: bytes and
 * files are the driver's.
 *
 * A block's way in is `reserve` (takes a slot, evicting what it must; nobody finds it yet), then
 * the driver writes the bytes, then `publish` (found from now on) or `cancel`. Readers `find`,
 * `touch` and `pin` a slot, and `unpin` it when their bytes have gone out. `remove` and eviction
 * take a block out of the index at once; its slot is free again after the last unpin.
 *
 * Blocks outlive the process in rows of a slot table, which the journal writes (journal/journal.ts). It asks here what
 * left (`takeLeft`), and says which rows aren't empty (`setRecorded`). After a restart `restore` gives each row's slot its block
 * back, at its number and its place.
 *
 * Invariants
 *  1. A slot that is reserved, published or pinned is never handed out again, and no two such
 *     slots overlap in the file.
 *  2. `find` gives only published blocks of exactly the version and index asked for: all 128 bits
 *     and the index are compared.
 *  3. At most one slot is published for a block.
 *  4. Slots lie within the capacity.
 *
 * Memory a block, at 1 MiB blocks: record 48, extent 2, index 6.1, ghost 2.1, doorkeeper 2 × 1.25:
 * 60.7 bytes all told. Smaller blocks share extents, and index, ghosts and doorkeeper grow with
 * their number (store.bench.ts prints the figure).
 */
import { assert } from '../base/assert.ts';
import type { Hash128, U64 } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';
import { BlockClaims, type RestoreOutcome } from './block-claims.ts';
import { BlockIndex } from './block-index.ts';
import { BlockKey } from './block-key.ts';
import type { BlockPlace } from './block-place.ts';
import { Doorkeeper } from './doorkeeper.ts';
import { GhostQueue, MAX_GHOSTS } from './ghost-queue.ts';
import { fillIndex } from './index-filling.ts';
import { Room } from './room.ts';
import { DISOWNED, MAIN, S3Fifo, SMALL, type Queue } from './s3-fifo.ts';
import { SizeClasses } from './size-classes.ts';
import { SlotAllocator } from './slot-allocator.ts';
import { SlotSet } from './slot-set.ts';
import {
  FREE,
  LEAVING,
  MAX_BLOCK_INDEX,
  NIL,
  PUBLISHED,
  RESERVED,
  SlotRecords,
  type SlotId,
} from './slot-records.ts';

export type { SlotId } from './slot-records.ts';

/** What `find`, `reserve` and `takeLeft` say when there is no slot. */
export const NO_SLOT = -1;

/** Bytes at the beginning of the slab in which no slot lies. */
export const SLAB_HEADER_BYTES = 4096;

export interface StoreOptions {
  /** Bytes of the slab; whole extents of one largest slot are used. */
  readonly capacityBytes: number;
  /** Bytes of the largest block, 1 MiB at most. */
  readonly blockBytes: number;
  /** Random bits that only this process knows. */
  readonly seed: Readonly<U64>;
  /** Share of the bytes that new blocks have until they were read; 0.1 by default. */
  readonly smallShare?: number;
  /**
   * How long the doorkeeper remembers a block's first read, in milliseconds; ten minutes by
   * default.
   */
  readonly doorkeeperWindowMs?: number;
  /** Where the tables lie. */
  readonly allocate?: AllocateMemory;
}

/** Plain numbers for metrics. Totals since the start unless they are said to be present figures. */
export interface StoreCounters {
  /** Published blocks and their bytes, at present. */
  blocks: number;
  blockBytes: number;
  /** Slots reserved and not yet published or cancelled, at present. */
  reserved: number;
  /** Slots with at least one pin, at present. */
  pinned: number;
  /** Blocks that left to make room; those among them that stood in an extent that was emptied. */
  evictions: number;
  emptied: number;
  /** Blocks published that had been evicted not long ago. */
  ghostHits: number;
  /** Reservations refused because everything was pinned or reserved. */
  refused: number;
  /** Published blocks dropped because the block had been published meanwhile. */
  duplicates: number;
}

export class Store {
  /** Bytes that slots can lie in, and of the slab file, which has its header before them. */
  readonly capacityBytes: number;
  readonly slabBytes: number;
  readonly extentBytes: number;
  readonly blockBytes: number;
  /** Read only, for everybody else. */
  readonly counters: Readonly<StoreCounters>;
  readonly #counters: StoreCounters;
  readonly #allocate: AllocateMemory;
  readonly #records: SlotRecords;
  readonly #allocator: SlotAllocator;
  #index: BlockIndex;
  readonly #queues: S3Fifo;
  readonly #doorkeeper: Doorkeeper;
  readonly #key: BlockKey;
  readonly #claims: BlockClaims;
  readonly #room: Room;
  /** Slots whose row in the slot table speaks of a block that left. */
  readonly #left: SlotId[] = [];
  /** Slots whose rows may still speak of what was lost when the slab was cut. */
  #lost: SlotSet | null = null;
  #ghosts: GhostQueue;

  constructor(options: StoreOptions) {
    const { capacityBytes, blockBytes, seed, allocate = plainMemory } = options;
    this.#allocate = allocate;
    this.#records = new SlotRecords(allocate);
    const classes = new SizeClasses(blockBytes);
    this.#allocator = new SlotAllocator(this.#records, classes, capacityBytes);
    const extents = this.#allocator.extentCount;
    this.capacityBytes = extents * classes.extentBytes;
    this.slabBytes = SLAB_HEADER_BYTES + this.capacityBytes;
    this.extentBytes = classes.extentBytes;
    this.blockBytes = blockBytes;
    this.#key = new BlockKey(seed);
    this.#index = new BlockIndex(this.#records, extents, allocate);
    this.#queues = new S3Fifo(this.#records, options.smallShare ?? 0.1);
    this.#claims = new BlockClaims(this.#records, this.#allocator);
    this.#room = new Room(this.#records, this.#allocator, this.#queues, (slot, isDue) => {
      this.#evict(slot, isDue);
    });
    this.#ghosts = new GhostQueue(extents, allocate);
    this.#doorkeeper = new Doorkeeper(extents, options.doorkeeperWindowMs ?? 600_000, allocate);
    this.#counters = {
      blocks: 0,
      blockBytes: 0,
      reserved: 0,
      pinned: 0,
      evictions: 0,
      emptied: 0,
      ghostHits: 0,
      refused: 0,
      duplicates: 0,
    };
    this.counters = this.#counters;
  }

  /** The slot of a published block, or `NO_SLOT`. Allocates nothing. */
  find(version: Readonly<Hash128>, block: number): SlotId {
    this.#key.set(version, block);
    const slot = this.#index.find(this.#key, version, block);
    return slot === NIL ? NO_SLOT : slot;
  }

  /** Counts a read of a block, for eviction to see. */
  touch(slot: SlotId): void {
    this.#records.countRead(slot);
  }

  /** Bytes of the block in a slot. */
  length(slot: SlotId): number {
    return this.#records.length(slot);
  }

  /** Where the slot begins in the slab file, in bytes: a multiple of 4096. */
  fileOffset(slot: SlotId): number {
    return SLAB_HEADER_BYTES + this.#allocator.fileOffset(slot);
  }

  /**
   * Bytes that may be written from the slot's offset on: the length rounded up to 4096, or more.
   */
  slotBytes(slot: SlotId): number {
    return this.#allocator.slotBytes(slot);
  }

  /**
   * Takes a slot for `bytes` of a block (1 to `blockBytes`), evicting what it must. Nobody finds it
   * before `publish`. Several slots may be reserved for one block. `NO_SLOT` when what could make
   * room is pinned or reserved.
   */
  reserve(
    version: Readonly<Hash128>,
    block: number,
    placementHi: number,
    placementLo: number,
    bytes: number,
  ): SlotId {
    assert(bytes >= 1 && bytes <= this.blockBytes, 'store: block length out of range');
    assert(block >= 0 && block <= MAX_BLOCK_INDEX, 'store: block index out of range');
    const sizeClass = this.#allocator.classes.classOf(bytes);
    let slot = this.#allocator.takeOrLarger(sizeClass);
    if (slot === NIL) slot = this.#room.make(sizeClass);
    if (slot === NIL) {
      this.#counters.refused++;
      return NO_SLOT;
    }
    this.#records.assign(slot, version, block, placementHi, placementLo, bytes);
    this.#counters.reserved++;
    return slot;
  }

  /**
   * The reserved slot's bytes are in the file: from now on `find` gives it. When the block was
   * published meanwhile, that one stays, this slot is given up, and the answer is false.
   */
  publish(slot: SlotId): boolean {
    assert(this.#records.state(slot) === RESERVED, 'store: published a slot that is not reserved');
    this.#counters.reserved--;
    this.#key.setFromSlot(this.#records, slot);
    if (this.#index.hasBlockOf(this.#key, slot)) {
      this.#counters.duplicates++;
      this.#vacate(slot);
      return false;
    }
    const isGhost = this.#ghosts.take(this.#key);
    if (isGhost) this.#counters.ghostHits++;
    this.#records.setTrusted(slot);
    this.#admit(slot, isGhost ? MAIN : SMALL);
    return true;
  }

  /** The reserved slot isn't wanted, or its write failed: gives it up. */
  cancel(slot: SlotId): void {
    assert(this.#records.state(slot) === RESERVED, 'store: cancelled a slot that is not reserved');
    this.#counters.reserved--;
    this.#vacate(slot);
  }

  /**
   * Keeps the slot's bytes as they are until `unpin`, even if the block leaves the index. Pins add
   * up.
   */
  pin(slot: SlotId): void {
    assert(this.#records.state(slot) !== FREE, 'store: pinned a free slot');
    if (this.#records.pins(slot) === 0) this.#counters.pinned++;
    this.#records.addPin(slot);
  }

  /** Ends one pin. */
  unpin(slot: SlotId): void {
    this.#records.removePin(slot);
    if (this.#records.pins(slot) > 0) return;
    this.#counters.pinned--;
    if (this.#records.state(slot) === LEAVING) this.#allocator.release(slot);
  }

  /**
   * Takes a block out, for an invalidation or a purge; false when it isn't there. It isn't
   * remembered.
   */
  remove(version: Readonly<Hash128>, block: number): boolean {
    this.#key.set(version, block);
    const slot = this.#index.find(this.#key, version, block);
    if (slot === NIL) return false;
    this.#queues.remove(slot);
    this.#unpublish(slot);
    return true;
  }

  /**
   * Takes out the block of a slot whose bytes can't be read; nothing happens when it has left
   * already.
   */
  drop(slot: SlotId): void {
    if (this.#records.state(slot) !== PUBLISHED) return;
    this.#queues.remove(slot);
    this.#unpublish(slot);
  }

  /** Drops every block of which something lies past this offset of the slab: the file was cut there. How many. */
  dropPast(slabOffset: number): number {
    const records = this.#records;
    this.#lost = new SlotSet(records.end);
    let dropped = 0;
    for (let slot = 1; slot < records.end; slot++) {
      if (records.state(slot) === PUBLISHED) {
        if (this.fileOffset(slot) + records.length(slot) <= slabOffset) continue;
        this.drop(slot);
        dropped++;
      }
      // What left before may have lain there too.
      if (records.isRecorded(slot)) this.#lost.add(slot);
    }
    return dropped;
  }

  /**
   * Whether a slab that was cut at this offset mustn't have its length back yet: answers are still being sent from what lay behind it,
   * or rows of blocks that left aren't durably empty. After a crash those rows would be back, and speak of zeros; a slab that is
   * too short makes them doubtful.
   */
  mustStayCut(slabOffset: number): boolean {
    if (this.#lost !== null && this.#lost.size > 0) return true;
    const records = this.#records;
    for (let slot = 1; slot < records.end; slot++) {
      if (records.state(slot) === FREE || records.pins(slot) === 0) continue;
      if (this.fileOffset(slot) + this.slotBytes(slot) > slabOffset) return true;
    }
    return false;
  }

  /** One more than the highest slot that ever was: for walks over all slots, from 1 on. */
  get end(): SlotId {
    return this.#records.end;
  }

  /** Whether a slot has a block that can be found. */
  isPublished(slot: SlotId): boolean {
    return slot > NIL && slot < this.#records.end && this.#records.state(slot) === PUBLISHED;
  }

  /** Whether a block's bytes are known to be right: it was stored in this run, comes from one that ended clean, or was verified. */
  isTrusted(slot: SlotId): boolean {
    return this.#records.isTrusted(slot);
  }

  trust(slot: SlotId): void {
    this.#records.setTrusted(slot);
  }

  /** Whether the slot's row in the slot table isn't empty, or soon won't be. */
  isRecorded(slot: SlotId): boolean {
    return this.#records.isRecorded(slot);
  }

  /** For the journal, which writes the rows. */
  setRecorded(slot: SlotId, isRecorded: boolean): void {
    this.#records.setRecorded(slot, isRecorded);
    if (!isRecorded && this.#lost !== null) this.#lost.delete(slot);
  }

  /** A recorded slot whose block left since the last call, NO_SLOT when there is none. Each is told once. */
  takeLeft(): SlotId {
    return this.#left.pop() ?? NO_SLOT;
  }

  /** Writes down what a published slot's row is to say. */
  describe(slot: SlotId, into: BlockPlace): void {
    this.#claims.describe(slot, into);
  }

  /**
   * Gives a slot the block that its row speaks of, in a store that was never used; `finishRestoring` lets it be found. outside: the
   * block lies past the capacity, or past `slabBytes` of the file. contradictory: there is no such place, or another block has
   * it. Rows that are refused count as left.
   */
  restore(
    slot: SlotId,
    from: Readonly<BlockPlace>,
    isTrusted: boolean,
    slabBytes: number,
  ): RestoreOutcome {
    const outcome = this.#claims.claim(slot, from, slabBytes - SLAB_HEADER_BYTES);
    if (outcome !== 'restored') this.#left.push(slot);
    else if (isTrusted) this.#records.setTrusted(slot);
    return outcome;
  }

  /**
   * After the last `restore`: blocks are found from now on. Those that claim one place are given up, and all but one that claim to
   * be the same block.
   */
  finishRestoring(): { blocks: number; trusted: number; refused: number } {
    const records = this.#records;
    let refused = 0;
    const refuse = (slot: SlotId): void => {
      this.#left.push(slot);
      refused++;
    };
    this.#allocator.finishClaims(refuse);
    // Made as large as it will be: growing step by step would read the record of each block several times, in no order.
    const blocks = Math.max(this.#allocator.extentCount, records.count);
    this.#index = new BlockIndex(records, blocks, this.#allocate);
    const doubles = fillIndex(this.#index, records, this.#key);
    let trusted = 0;
    for (let slot = 1; slot < records.end; slot++) {
      if (records.state(slot) !== RESERVED) continue;
      if (doubles.has(slot)) {
        refuse(slot);
        this.#allocator.release(slot);
        continue;
      }
      if (records.isTrusted(slot)) trusted++;
      // Which of them were read often is forgotten. Main keeps them from leaving before blocks that are yet to be read twice.
      this.#enqueue(slot, MAIN);
    }
    return { blocks: this.#counters.blocks, trusted, refused };
  }

  /** True if the block was read within the doorkeeper's window, as of `now` (milliseconds). */
  wasRead(hash: Readonly<Hash128>, block: number, now: number): boolean {
    this.#key.set(hash, block);
    return this.#doorkeeper.has(this.#key, now);
  }

  /** The same, and marks it as read now. */
  admits(hash: Readonly<Hash128>, block: number, now: number): boolean {
    this.#key.set(hash, block);
    return this.#doorkeeper.seen(this.#key, now);
  }

  /**
   * After a ring change: looks at up to `limit` slots from number `from` on (0 to begin) and lets
   * blocks go first that `owns` denies, and no longer go first that it affirms. Returns where to go
   * on, 0 when all were seen.
   */
  recheckOwnership(
    from: number,
    limit: number,
    owns: (placementHi: number, placementLo: number) => boolean,
  ): number {
    const records = this.#records;
    const end = Math.min(Math.max(1, from) + limit, records.end);
    for (let slot = Math.max(1, from); slot < end; slot++) {
      if (records.state(slot) !== PUBLISHED) continue;
      const isOwned = owns(records.placementHi(slot), records.placementLo(slot));
      const isDisowned = records.queue(slot) === DISOWNED;
      if (isOwned !== isDisowned) continue;
      this.#queues.remove(slot);
      this.#queues.add(slot, isOwned ? MAIN : DISOWNED);
    }
    return end === records.end ? 0 : end;
  }

  /** Memory that the store takes, in bytes: records, extents, index, ghosts and doorkeeper. */
  get memoryBytes(): number {
    return (
      this.#records.bytes +
      this.#allocator.bytes +
      this.#index.bytes +
      this.#ghosts.bytes +
      this.#doorkeeper.bytes
    );
  }

  /**
   * Takes a block out to make room, because its turn had come (`isDue`) or its extent is wanted.
   */
  #evict(slot: SlotId, isDue: boolean): void {
    const queue = this.#records.queue(slot);
    // Blocks that main turned out had their chance.
    const isRemembered = queue === SMALL || (queue === MAIN && !isDue);
    this.#queues.remove(slot);
    this.#unpublish(slot);
    if (isRemembered) this.#ghosts.add(this.#key);
    this.#counters.evictions++;
    if (!isDue) this.#counters.emptied++;
  }

  /** Lets a slot's block be found. The key is set to it. */
  #admit(slot: SlotId, queue: Queue): void {
    this.#index.add(this.#key, slot);
    this.#enqueue(slot, queue);
  }

  /** Publishes a slot whose block is in the index. */
  #enqueue(slot: SlotId, queue: Queue): void {
    this.#records.setState(slot, PUBLISHED);
    this.#queues.add(slot, queue);
    this.#counters.blocks++;
    this.#counters.blockBytes += this.#records.length(slot);
    this.#rememberEnough();
  }

  /** Takes a block out of the index and gives its slot up. Leaves the key at that block. */
  #unpublish(slot: SlotId): void {
    if (this.#records.isRecorded(slot)) this.#left.push(slot);
    this.#key.setFromSlot(this.#records, slot);
    this.#index.remove(this.#key, slot);
    this.#counters.blocks--;
    this.#counters.blockBytes -= this.#records.length(slot);
    this.#vacate(slot);
  }

  /** Frees a slot that isn't in the index, now or after its last pin. */
  #vacate(slot: SlotId): void {
    if (this.#records.pins(slot) > 0) this.#records.setState(slot, LEAVING);
    else this.#allocator.release(slot);
  }

  /**
   * Many small blocks need more ghosts and marks than the store was made with: doubles them,
   * forgetting the ghosts.
   */
  #rememberEnough(): void {
    const slots = this.#records.count;
    if (slots <= 2 * this.#ghosts.capacity || this.#ghosts.capacity >= MAX_GHOSTS) return;
    this.#ghosts = new GhostQueue(slots, this.#allocate);
    this.#doorkeeper.widen(slots);
  }
}
