/**
 * Bytes of a version: from the store if the block is there, else from a fill in flight, else by a fill of its own. A block of an earlier
 * run is verified before its first reader gets it. Another node gets what is in the store and nothing else.
 *
 * The way of a hit is the whole of `read` down to its first return: no record is taken, nothing is allocated.
 */
import type { ReadRequest } from '../read.ts';
import { NO_SLOT, type SlotId } from '../store/store.ts';
import { answerFailure, arrive } from './answers.ts';
import type { Asker } from './effects.ts';
import type { Fills } from './fill.ts';
import { OriginCheck } from './origin-check.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

export class Owner {
  readonly #parts: NodeParts;
  readonly #fills: Fills;
  readonly #originCheck: OriginCheck;

  constructor(parts: NodeParts, fills: Fills) {
    this.#parts = parts;
    this.#fills = fills;
    this.#originCheck = new OriginCheck(parts.digest, parts.limits.metadataEntries);
  }

  /** A gateway asks for bytes [first, last] of one block. */
  read(now: number, asker: Asker, request: ReadRequest): void {
    const { layout, store, effects, counters } = this.#parts;
    const { first, last } = request;
    const block = layout.blockOf(first);
    const slot = store.find(request.version, block);
    const offset = first - layout.blockStart(block);
    const length = last - first + 1;
    const isHeld = slot !== NO_SLOT && length > 0 && offset + length <= store.length(slot);
    if (isHeld && !this.#originCheck.isOfItsOrigin(request)) {
      effects.answerFailure(asker, 'changed', null);
      return;
    }
    if (isHeld && store.isTrusted(slot)) {
      if (request.onlyHeld) counters.handedOver += 1;
      this.#answerFromSlot(asker, slot, offset, length);
      return;
    }
    if (!this.#isSensible(request)) {
      counters.badRequests += 1;
      effects.answerFailure(asker, 'peer', null);
      return;
    }
    if (request.onlyHeld && !isHeld) {
      counters.notHeld += 1;
      effects.answerFailure(asker, 'absent', null);
      return;
    }
    const reader = arrive(this.#parts, asker, request);
    if (reader === null) return;
    if (isHeld) this.#verify(now, reader, slot);
    else this.#miss(now, reader);
  }

  /** Reads anew for a reader whose fetch ended without it, or whose block was verified. */
  readAgain(now: number, reader: Reader): void {
    const { layout, store, readers } = this.#parts;
    const block = layout.blockOf(reader.first);
    const slot = store.find(reader.version, block);
    if (slot === NO_SLOT) {
      this.#miss(now, reader);
      return;
    }
    if (!store.isTrusted(slot)) {
      this.#verify(now, reader, slot);
      return;
    }
    const { asker, first, length } = reader;
    readers.release(reader);
    this.#answerFromSlot(asker, slot, first - layout.blockStart(block), length);
  }

  #answerFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    const { store, effects, counters } = this.#parts;
    counters.readsFromDisk += 1;
    counters.bytesFromDisk += length;
    store.touch(slot);
    store.pin(slot);
    effects.answerFromSlot(asker, slot, offset, length);
  }

  /** Past the bound of verifications the block counts as missing, and isn't stored a second time. */
  #verify(now: number, reader: Reader, slot: SlotId): void {
    if (this.#parts.verification.wait(slot, reader)) return;
    reader.mustStream = true;
    this.#miss(now, reader);
  }

  #miss(now: number, reader: Reader): void {
    const { digest, counters } = this.#parts;
    if (reader.onlyHeld) {
      counters.notHeld += 1;
      answerFailure(this.#parts, reader, 'absent', null);
      return;
    }
    const segment = reader.mustStream ? null : this.#fills.find(reader);
    if (segment !== null) {
      this.#fills.join(now, segment, reader);
      return;
    }
    const { bucket, key, hash } = reader;
    if (!digest.objectHashMatches(bucket, key, hash)) {
      counters.badRequests += 1;
      answerFailure(this.#parts, reader, 'peer', null);
      return;
    }
    if (!this.#originCheck.isOfItsOrigin(reader)) {
      answerFailure(this.#parts, reader, 'changed', null);
      return;
    }
    this.#fills.start(now, reader);
  }

  /** Within one block of the object, and what is wanted afterwards lies behind it. */
  #isSensible({ first, last, partLast, size }: ReadRequest): boolean {
    const { layout } = this.#parts;
    if (!(first >= 0 && first <= last && last <= partLast && partLast < size)) return false;
    return layout.blockOf(first) === layout.blockOf(last);
  }
}
