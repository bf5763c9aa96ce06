/**
 * Remembers which blocks were read lately, so that a block is stored on its second read and not on
 * its first.
 *
 * A Bloom filter in two generations. Reads mark the present one and are looked up in both; after a
 * window the present one becomes the past one, and the past is forgotten. A mark therefore lasts at
 * least one window and at most two. A generation that has as many marks as it was made for ends
 * early, so that false answers stay rare (about 2% when full).
 *
 * All bits of a block lie in one cache line of 512. Memory: 1.25 bytes a mark in each generation.
 */
import { assert } from '../base/assert.ts';
import { mix32, spread } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';
import type { BlockKey } from './block-key.ts';

const LINE_WORDS = 16;
const BITS_PER_MARK = 10;
const PROBES = 5;
const MAX_LINES = 1 << 20;
const MIN_LINES = 8;

export class Doorkeeper {
  readonly #windowMs: number;
  readonly #allocate: AllocateMemory;
  #present: Uint32Array;
  #past: Uint32Array;
  #presentSince = -Infinity;
  #marks = 0;
  #earlyTurns = 0;

  /** For about `marks` blocks read in `windowMs` milliseconds. */
  constructor(marks: number, windowMs: number, allocate: AllocateMemory = plainMemory) {
    assert(windowMs > 0, 'doorkeeper: the window is positive');
    this.#windowMs = windowMs;
    this.#allocate = allocate;
    this.#present = this.#newGeneration(linesFor(marks));
    this.#past = this.#newGeneration(linesFor(marks));
  }

  /** Generations that ended before their window because they were full. */
  get earlyTurns(): number {
    return this.#earlyTurns;
  }

  get bytes(): number {
    return this.#present.byteLength + this.#past.byteLength;
  }

  /** Marks that a generation takes. */
  get capacity(): number {
    return Math.floor((this.#present.length * 32) / BITS_PER_MARK);
  }

  /** Makes coming generations large enough for this many marks; never smaller. */
  widen(marks: number): void {
    if (marks > this.capacity) this.#turn(this.#newGeneration(linesFor(marks)));
  }

  /** Whether the block that `key` is set to was marked within the window (or up to one more). */
  has(key: BlockKey, now: number): boolean {
    this.#age(now);
    const bits = mix32(key.a ^ 0x2545f491);
    return isMarked(this.#present, key.b, bits) || isMarked(this.#past, key.b, bits);
  }

  /**
   * The same, and marks it. `now` in milliseconds, never going back by more than it matters.
   */
  seen(key: BlockKey, now: number): boolean {
    this.#age(now);
    let bits = mix32(key.a ^ 0x2545f491);
    const isPast = isMarked(this.#past, key.b, bits);
    const line = spread(key.b, this.#present.length / LINE_WORDS) * LINE_WORDS;
    let isPresent = true;
    for (let probe = 0; probe < PROBES; probe++) {
      const at = line + ((bits >>> 5) & (LINE_WORDS - 1));
      const bit = 1 << (bits & 31);
      if ((this.#present[at]! & bit) === 0) {
        isPresent = false;
        this.#present[at]! |= bit;
      }
      bits = Math.imul(bits ^ (bits >>> 15), 0x9e3779b1);
    }
    if (!isPresent && ++this.#marks >= this.capacity) {
      this.#earlyTurns++;
      this.#turn(this.#past);
      this.#presentSince = now;
    }
    return isPresent || isPast;
  }

  /** Generations begin a window apart, however seldom anybody asks: else a mark could last for three. */
  #age(now: number): void {
    if (this.#presentSince === -Infinity) this.#presentSince = now;
    const windows = Math.floor((now - this.#presentSince) / this.#windowMs);
    if (windows < 1) return;
    if (windows >= 2) this.#present.fill(0);
    this.#turn(this.#past);
    this.#presentSince += windows * this.#windowMs;
  }

  /** The present becomes the past, and `next` is cleared for the marks to come. */
  #turn(next: Uint32Array): void {
    const present = this.#present;
    this.#present =
      next.length >= present.length ? next : this.#newGeneration(present.length / LINE_WORDS);
    this.#present.fill(0);
    this.#past = present;
    this.#marks = 0;
  }

  #newGeneration(lines: number): Uint32Array {
    return new Uint32Array(this.#allocate(lines * LINE_WORDS * 4));
  }
}

function linesFor(marks: number): number {
  const lines = Math.ceil((marks * BITS_PER_MARK) / (LINE_WORDS * 32));
  return Math.min(Math.max(MIN_LINES, lines), MAX_LINES);
}

function isMarked(generation: Uint32Array, b: number, bits: number): boolean {
  const line = spread(b, generation.length / LINE_WORDS) * LINE_WORDS;
  for (let probe = 0; probe < PROBES; probe++) {
    const word = generation[line + ((bits >>> 5) & (LINE_WORDS - 1))]!;
    if ((word & (1 << (bits & 31))) === 0) return false;
    bits = Math.imul(bits ^ (bits >>> 15), 0x9e3779b1);
  }
  return true;
}
