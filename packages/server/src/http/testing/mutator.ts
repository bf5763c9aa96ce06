/** A small mutation engine for the fuzzers: deterministic for a seed, grown from a corpus and a dictionary. */

export class Mutator {
  #state: number;
  readonly #corpus: readonly Buffer[];
  readonly #words: readonly Buffer[];

  constructor(seed: number, corpus: readonly Buffer[], words: readonly string[]) {
    this.#state = (seed ^ 0x9e37_79b9) >>> 0;
    this.#corpus = corpus;
    this.#words = words.map((word) => Buffer.from(word, 'latin1'));
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  /** The next mutant: a corpus entry with up to four changes. */
  next(): Buffer {
    let bytes = this.#pick();
    for (let changes = this.below(5); changes > 0; changes -= 1) bytes = this.#change(bytes);
    return bytes;
  }

  #pick(): Buffer {
    return this.#corpus[this.below(this.#corpus.length)]!;
  }

  #change(bytes: Buffer): Buffer {
    const at = this.below(bytes.length + 1);
    const length = this.below(8);
    switch (this.below(6)) {
      case 0: {
        const flipped = Buffer.from(bytes);
        if (at < flipped.length) flipped[at] = this.below(256);
        return flipped;
      }
      case 1:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
      case 2:
        return bytes.subarray(0, at);
      case 3:
        return Buffer.concat([
          bytes.subarray(0, at),
          this.#words[this.below(this.#words.length)]!,
          bytes.subarray(at),
        ]);
      case 4:
        return Buffer.concat([
          bytes.subarray(0, at),
          bytes.subarray(at, at + length),
          bytes.subarray(at),
        ]);
      default: {
        const other = this.#pick();
        return Buffer.concat([bytes.subarray(0, at), other.subarray(this.below(other.length))]);
      }
    }
  }
}
