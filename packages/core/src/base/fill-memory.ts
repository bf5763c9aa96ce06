/**
 * Hands out pieces of the fill memory: a buddy allocator over one region of bytes that core itself
 * never sees.
 *
 * Pieces are powers of two from 4 KiB to 1 MiB, aligned to their size, named by their offset. The
 * region is the fill budget: when nothing fits, `allocate` says so, and the miss streams past the
 * cache instead.
 *
 * Invariants: pieces in use don't overlap and lie in the region; two free buddies are always
 * joined, so an empty allocator can hand out its largest pieces again. Memory: 9 bytes a page of 4
 * KiB.
 */
import { assert } from './assert.ts';

/** The smallest piece and the unit of alignment, in bytes. */
export const PAGE_BYTES = 4096;
/** The largest piece, in bytes. */
export const MAX_PIECE_BYTES = 1 << 20;
/** The region has no free piece that is large enough. */
export const NO_MEMORY = -1;

const MAX_ORDER = 8;
/**
 * State of a piece's first page: 0 for none, order + 1 when free, order + 1 + USED when handed out.
 */
const USED = 64;

export class FillMemory {
  /** Bytes of the region: the budget, rounded down to pages. */
  readonly bytes: number;
  readonly #pages: number;
  readonly #states: Uint8Array;
  /** Free pieces of each order as lists of page + 1; 0 ends a list. */
  readonly #heads = new Int32Array(MAX_ORDER + 1);
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  #usedBytes = 0;
  #refused = 0;

  constructor(budgetBytes: number) {
    assert(budgetBytes >= PAGE_BYTES, 'fill memory: budget below one page');
    this.#pages = Math.floor(budgetBytes / PAGE_BYTES);
    assert(this.#pages < 1 << 30, 'fill memory: budget too large');
    this.bytes = this.#pages * PAGE_BYTES;
    this.#states = new Uint8Array(this.#pages);
    this.#next = new Int32Array(this.#pages);
    this.#previous = new Int32Array(this.#pages);
    // From the end, so that the lists begin with the lowest pieces.
    const largest = 1 << MAX_ORDER;
    const whole = this.#pages - (this.#pages % largest);
    let rest = whole;
    for (let order = MAX_ORDER - 1; order >= 0; order--) {
      if ((this.#pages & (1 << order)) === 0) continue;
      this.#push(rest, order);
      rest += 1 << order;
    }
    for (let page = whole - largest; page >= 0; page -= largest) this.#push(page, MAX_ORDER);
  }

  /** Bytes handed out, counted as whole pieces. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** How often nothing fitted. */
  get refused(): number {
    return this.#refused;
  }

  /** The offset of a piece of at least `bytes` (1 to 1 MiB), or `NO_MEMORY`. */
  allocate(bytes: number): number {
    assert(bytes >= 1 && bytes <= MAX_PIECE_BYTES, 'fill memory: size out of range');
    let wanted = 0;
    while (PAGE_BYTES << wanted < bytes) wanted++;
    let order = wanted;
    while (order <= MAX_ORDER && this.#heads[order] === 0) order++;
    if (order > MAX_ORDER) {
      this.#refused++;
      return NO_MEMORY;
    }
    const page = this.#heads[order]! - 1;
    this.#remove(page, order);
    while (order > wanted) {
      order--;
      this.#push(page + (1 << order), order);
    }
    this.#states[page] = USED + order + 1;
    this.#usedBytes += PAGE_BYTES << order;
    return page * PAGE_BYTES;
  }

  /** Takes back a piece by the offset that `allocate` gave. */
  free(offset: number): void {
    assert(offset >= 0 && offset % PAGE_BYTES === 0, 'fill memory: no such offset');
    let page = offset / PAGE_BYTES;
    assert(
      page < this.#pages && this.#states[page]! > USED,
      'fill memory: freed what is not in use',
    );
    let order = this.#states[page]! - USED - 1;
    this.#states[page] = 0;
    this.#usedBytes -= PAGE_BYTES << order;
    while (order < MAX_ORDER) {
      const buddy = page ^ (1 << order);
      if (buddy >= this.#pages || this.#states[buddy] !== order + 1) break;
      this.#remove(buddy, order);
      page &= buddy;
      order++;
    }
    this.#push(page, order);
  }

  /** Bytes of the piece at an offset: the power of two that `allocate` rounded up to. */
  pieceBytes(offset: number): number {
    const state = this.#states[offset / PAGE_BYTES] ?? 0;
    assert(state > USED, 'fill memory: no piece in use there');
    return PAGE_BYTES << (state - USED - 1);
  }

  #push(page: number, order: number): void {
    const head = this.#heads[order]!;
    this.#next[page] = head;
    this.#previous[page] = 0;
    if (head !== 0) this.#previous[head - 1] = page + 1;
    this.#heads[order] = page + 1;
    this.#states[page] = order + 1;
  }

  #remove(page: number, order: number): void {
    const next = this.#next[page]!;
    const previous = this.#previous[page]!;
    if (previous === 0) this.#heads[order] = next;
    else this.#next[previous - 1] = next;
    if (next !== 0) this.#previous[next - 1] = previous;
    this.#states[page] = 0;
  }
}
