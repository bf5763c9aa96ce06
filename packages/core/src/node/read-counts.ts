/**
 * How often each placement was read in the present window, in a table of fixed size: enough to notice the few that are read most.
 *
 * A placement has one cell. Another one that has the same cell counts against it, and takes the cell over once it is the one that
 * is read more: so whatever is read more than all else in its cell together is found, counted too low by that. Whose cells meet
 * follows from a seed that outsiders don't know.
 *
 * A read costs one look at one cell, and allocates nothing. Memory: 16 bytes a cell, 128 KiB.
 */
import { mix32 } from '../base/hash.ts';

const cells = 8192;
const wordsEach = 4;

export class ReadCounts {
  /** Of each cell: high and low word of its placement, the window that it was last used in, reads in that window. */
  readonly #table = new Int32Array(cells * wordsEach);
  readonly #windowMs: number;
  readonly #seed: number;

  constructor(windowMs: number, seed: number) {
    this.#windowMs = windowMs;
    this.#seed = seed;
  }

  /** Counts a read; returns how many the placement has in this window, 0 while its cell is another one's. */
  count(now: number, hi: number, lo: number): number {
    const table = this.#table;
    const window = Math.floor(now / this.#windowMs) | 0;
    const at = (mix32(hi ^ mix32(lo ^ this.#seed)) & (cells - 1)) * wordsEach;
    if (table[at + 2] !== window) {
      table[at + 2] = window;
      table[at + 3] = 0;
    }
    if (table[at] === (hi | 0) && table[at + 1] === (lo | 0)) return ++table[at + 3]!;
    if (table[at + 3]! > 0) {
      table[at + 3]! -= 1;
      return 0;
    }
    table[at] = hi;
    table[at + 1] = lo;
    table[at + 3] = 1;
    return 1;
  }
}
