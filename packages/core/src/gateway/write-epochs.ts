/**
 * Read your writes, for all loops of a gateway's process at once: since when what S3 says of an object counts.
 *
 * Time on the process's clock is cut into epochs. A table of words, shared by all loops, has for each object's slot the first
 * epoch whose answers of S3 are new enough; 0 where nobody wrote. Objects share slots: then one demands a little more than it had to.
 *
 * | what happens | who | what it does |
 * | a write is about to be forwarded | the loop that has it | raises the slot to the epoch that begins next |
 * | it was answered, or surely failed | the same, before its client hears of it | the same |
 * | nobody knows its outcome | the same | raises the slot to the epoch in which it can't take effect any more |
 * | a read | any loop | uses no metadata that S3 gave before the slot's epoch; if that lies ahead, none but what S3 says now |
 *
 * Why a read that begins after a write's answer sees the write, whichever loop it comes by:
 * 1. The raise came before the answer, so the read finds it: words are read and raised atomically.
 * 2. The slot's epoch begins after the write took effect, since it begins after the raise; so what S3 was asked in it or later
 *    has the write. That is all that the read may use.
 * 3. Metadata is held against the slot on each use, with the moment at which S3 gave it. So it doesn't matter when a lookup that was out
 *    during the write comes back, nor to which loop.
 * 4. A slot only ever rises: no raise undoes another, whatever their order. In particular a write that went well leaves the doubt of an
 *    earlier one alone.
 * The raise at the start isn't needed for that. It has reads that come during the write ask S3, so that none shows the old object once
 * another has shown the new one, and it stands for a write whose end is never told.
 *
 * Nobody clears a slot. Metadata from before a write may come to light long after, from a stand-in or a replica, and only the
 * slot tells; what it costs is one confirmation at S3 for each object of the slot that was confirmed last before the write. With W writes
 * that is W × (objects in use) / (slots) confirmations in all. Nor can there be too many marks: the table is as large as it is.
 *
 * Clocks of loops may differ by less than `clockSkewMs`. After 2^32 epochs, two years, raised slots stay ahead for ever: reads
 * of their objects are confirmed each time.
 *
 * Memory: 4 bytes a slot, for the whole process.
 */
import { assert } from '../base/assert.ts';
import { mix32, type Hash128 } from '../base/hash.ts';

/** Right after a write its object is confirmed on every read for as long as this at most. */
export const epochMs = 16;
/** How far the clocks of two loops may be apart. */
export const clockSkewMs = 1;

/** 4 MiB: so many that few of the objects in use are ever confirmed for a write of another. */
export const defaultWriteSlots = 1 << 20;

/** In no epoch yet. */
const lastEpoch = 0xffff_ffff;

export class WriteEpochs {
  readonly #words: Uint32Array;
  readonly #mask: number;
  readonly #seed: number;

  /**
   * `words` is zeroed, shared memory where several loops share the epochs, and a power of two long. `seed` is 32 bits that outsiders don't
   * know, the same for all loops: nobody who chooses keys can aim at another's slot.
   */
  constructor(words: Uint32Array, seed: number) {
    assert((words.length & (words.length - 1)) === 0, 'write epochs: slots are a power of two');
    this.#words = words;
    this.#mask = words.length - 1;
    this.#seed = seed | 0;
  }

  /** The moment from which on what S3 says of the object counts: -Infinity when nobody wrote it; it may lie ahead. */
  since(hash: Readonly<Hash128>): number {
    const epoch = Atomics.load(this.#words, this.#slotOf(hash));
    if (epoch === 0) return -Infinity;
    return epoch === lastEpoch ? Infinity : epoch * epochMs;
  }

  /** From an epoch that begins after this moment on. */
  raise(hash: Readonly<Hash128>, moment: number): void {
    assert(moment >= 0, 'write epochs: the clock began before 0');
    const slot = this.#slotOf(hash);
    const epoch = Math.min(Math.floor((moment + clockSkewMs) / epochMs) + 1, lastEpoch);
    let known = Atomics.load(this.#words, slot);
    while (known < epoch) {
      const found = Atomics.compareExchange(this.#words, slot, known, epoch);
      if (found === known) return;
      known = found;
    }
  }

  #slotOf({ h0, h1 }: Readonly<Hash128>): number {
    return mix32(h0 ^ mix32(h1 ^ this.#seed)) & this.#mask;
  }
}
