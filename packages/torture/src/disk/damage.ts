/**
 * Damage that a disk, a file system or a person may do to a node's files while it doesn't run, drawn at random.
 *
 * The slot table and the metadata log may be hurt at any time. The slab only after a life that wasn't stopped cleanly: what a
 * clean run stored is trusted without a look, as the documentation says.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Dice } from '../dice.ts';

const files = ['slab', 'slots', 'metadata-log'] as const;
type File = (typeof files)[number];

const pageBytes = 4096;
const extentBytes = 1 << 20;

/** What may be done to a file, with how often. */
const damages = {
  'flipped bits': 30,
  'zeroed pages': 20,
  'garbage pages': 10,
  'cut short': 15,
  'garbage behind the end': 5,
  removed: 8,
  'an older copy': 12,
} as const;

/** The slab's own: bytes that were written to another block's place. */
const slabDamages = { ...damages, 'pages at another place': 10 } as const;

type Kind = keyof typeof slabDamages;
/** Those that write into a file as it is. */
type Scribble = Exclude<Kind, 'removed' | 'cut short' | 'an older copy'>;

export class Damage {
  readonly #dataDir: string;
  readonly #olderDir: string;

  /** `olderDir` is an existing directory for copies of the files as they once were. */
  constructor(dataDir: string, olderDir: string) {
    this.#dataDir = dataDir;
    this.#olderDir = olderDir;
  }

  /** Keeps a copy of one of the files, to come back later. */
  keepCopy(dice: Dice): void {
    const file = dice.pick(files);
    const path = join(this.#dataDir, file);
    if (existsSync(path)) copyFileSync(path, join(this.#olderDir, file));
  }

  /** Hurts one to three of the files that may be hurt after such an end. Returns what was done, for a person. */
  inflict(isClean: boolean, dice: Dice): string[] {
    const done: string[] = [];
    for (let times = dice.between(1, 3); times > 0; times--) {
      const file = dice.pick(isClean ? files.filter((one) => one !== 'slab') : files);
      const what = dice.weighted(file === 'slab' ? slabDamages : damages);
      if (this.#hurt(file, what, dice)) done.push(`${file}: ${what}`);
    }
    return done;
  }

  /** False when there is nothing there to be hurt in this way. */
  #hurt(file: File, what: Kind, dice: Dice): boolean {
    const path = join(this.#dataDir, file);
    if (!existsSync(path)) return false;
    const { size } = statSync(path);
    if (size === 0 && what !== 'removed') return false;
    switch (what) {
      case 'removed':
        rmSync(path);
        return true;
      case 'cut short':
        truncateSync(path, dice.chance(0.2) ? 0 : dice.below(size));
        return true;
      case 'an older copy': {
        const older = join(this.#olderDir, file);
        if (!existsSync(older)) return false;
        copyFileSync(older, path);
        return true;
      }
      case 'flipped bits':
      case 'zeroed pages':
      case 'garbage pages':
      case 'garbage behind the end':
      case 'pages at another place':
        scribble(path, what, dice);
        return true;
    }
  }
}

function scribble(path: string, what: Scribble, dice: Dice): void {
  const descriptor = openSync(path, 'r+');
  try {
    const { size } = fstatSync(descriptor);
    const page = Buffer.alloc(pageBytes);
    switch (what) {
      case 'flipped bits':
        for (let times = dice.between(1, 40); times > 0; times--) flip(descriptor, size, dice);
        return;
      case 'zeroed pages':
        for (let times = dice.between(1, 60); times > 0; times--) {
          writeSync(descriptor, page, 0, pageIn(size, dice), placeIn(size, dice));
        }
        return;
      case 'garbage pages':
        for (let times = dice.between(1, 20); times > 0; times--) {
          for (let at = 0; at < pageBytes; at++) page[at] = dice.below(256);
          writeSync(descriptor, page, 0, pageIn(size, dice), placeIn(size, dice));
        }
        return;
      case 'garbage behind the end':
        writeSync(descriptor, Buffer.alloc(9000, 'garbage'), 0, dice.between(1, 9000), size);
        return;
      case 'pages at another place':
        for (let times = dice.between(1, 8); times > 0; times--) moveExtent(descriptor, size, dice);
        return;
    }
  } finally {
    closeSync(descriptor);
  }
}

const tries = 30;

/** Flips one bit of a byte that isn't in the middle of nothing. */
function flip(descriptor: number, size: number, dice: Dice): void {
  const row = Buffer.alloc(64);
  for (let attempt = 0; attempt < tries; attempt++) {
    const position = dice.below(size);
    const length = readSync(descriptor, row, 0, row.length, position);
    if (row.subarray(0, length).every((byte) => byte === 0)) continue;
    const byte = Buffer.from([(row[0] ?? 0) ^ (1 << dice.below(8))]);
    writeSync(descriptor, byte, 0, 1, position);
    return;
  }
}

/** Where a page begins; a file shorter than a page has one place only. */
function placeIn(size: number, dice: Dice): number {
  return dice.below(Math.max(1, Math.floor(size / pageBytes))) * pageBytes;
}

/** Bytes of a page in a file of this size: damage of this kind makes no file longer. */
function pageIn(size: number, dice: Dice): number {
  return Math.min(size, dice.chance(0.8) ? pageBytes : 512);
}

function moveExtent(descriptor: number, size: number, dice: Dice): void {
  const extent = Buffer.alloc(extentBytes);
  const extents = Math.floor((size - pageBytes) / extentBytes);
  if (extents < 2) return;
  const at = (): number => pageBytes + dice.below(extents) * extentBytes;
  readSync(descriptor, extent, 0, extentBytes, at());
  writeSync(descriptor, extent, 0, extentBytes, at());
}
