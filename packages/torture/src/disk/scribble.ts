/** Writes what doesn't belong there into a file as it is, at random places. Its length stays, but for what is put behind its end. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Dice } from '../dice.ts';

const pageBytes = 4096;
const extentBytes = 1 << 20;
/** A flip in the middle of nothing would hurt nobody: this often another place is looked for. */
const tries = 30;

export type Scribble =
  | 'flipped bits'
  | 'zeroed pages'
  | 'garbage pages'
  | 'garbage behind the end'
  | 'pages at another place';

/** Hurts the file, but for the pages whose numbers are in `spared`. */
export function scribble(
  path: string,
  what: Scribble,
  spared: ReadonlySet<number>,
  dice: Dice,
): void {
  const victim = new Victim(path, spared, dice);
  try {
    switch (what) {
      case 'flipped bits':
        for (let times = dice.between(1, 40); times > 0; times--) victim.flip();
        return;
      case 'zeroed pages':
        for (let times = dice.between(1, 60); times > 0; times--) {
          victim.overwrite(Buffer.alloc(dice.chance(0.8) ? pageBytes : 512));
        }
        return;
      case 'garbage pages':
        for (let times = dice.between(1, 20); times > 0; times--) {
          victim.overwrite(Buffer.from(Array.from({ length: pageBytes }, () => dice.below(256))));
        }
        return;
      case 'garbage behind the end':
        victim.append(Buffer.alloc(dice.between(1, 9000), 'garbage'));
        return;
      case 'pages at another place':
        for (let times = dice.between(1, 8); times > 0; times--) victim.moveExtent();
        return;
    }
  } finally {
    victim.close();
  }
}

/** One open file and the pages of it that are left alone. */
class Victim {
  readonly #descriptor: number;
  readonly #size: number;
  readonly #spared: ReadonlySet<number>;
  readonly #dice: Dice;

  constructor(path: string, spared: ReadonlySet<number>, dice: Dice) {
    this.#descriptor = openSync(path, 'r+');
    this.#size = fstatSync(this.#descriptor).size;
    this.#spared = spared;
    this.#dice = dice;
  }

  /** Flips one bit of a byte that has other bytes around it. */
  flip(): void {
    const around = Buffer.alloc(64);
    for (let attempt = 0; attempt < tries; attempt++) {
      const position = this.#dice.below(this.#size);
      const length = readSync(this.#descriptor, around, 0, around.length, position);
      if (this.#isSpared(position) || around.subarray(0, length).every((byte) => byte === 0)) {
        continue;
      }
      const byte = Buffer.from([(around[0] ?? 0) ^ (1 << this.#dice.below(8))]);
      writeSync(this.#descriptor, byte, 0, 1, position);
      return;
    }
  }

  /** Puts at most a page of bytes over a page, as far as the file goes. */
  overwrite(bytes: Buffer): void {
    const pages = Math.max(1, Math.floor(this.#size / pageBytes));
    const position = this.#dice.below(pages) * pageBytes;
    if (this.#isSpared(position)) return;
    const length = Math.min(bytes.length, this.#size - position);
    writeSync(this.#descriptor, bytes, 0, length, position);
  }

  /** Copies an extent over another one, as a disk does that mistakes the place. */
  moveExtent(): void {
    const extents = Math.floor((this.#size - pageBytes) / extentBytes);
    if (extents < 2) return;
    const extent = Buffer.alloc(extentBytes);
    const anyExtent = (): number => pageBytes + this.#dice.below(extents) * extentBytes;
    readSync(this.#descriptor, extent, 0, extentBytes, anyExtent());
    const to = anyExtent();
    for (let at = 0; at < extentBytes; at += pageBytes) {
      if (!this.#isSpared(to + at)) writeSync(this.#descriptor, extent, at, pageBytes, to + at);
    }
  }

  append(bytes: Buffer): void {
    writeSync(this.#descriptor, bytes, 0, bytes.length, this.#size);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #isSpared(position: number): boolean {
    return this.#spared.has(Math.floor(position / pageBytes));
  }
}
