/**
 * Damage that a disk, a file system or a person may do to a node's files while it doesn't run, drawn at random.
 *
 * The slot table and the metadata log may be hurt at any time. The slab only after a life that wasn't stopped cleanly, and then only
 * where no block of a cleanly ended run lies: those are trusted without a look, as the documentation says.
 */
import { copyFileSync, existsSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Dice } from '../dice.ts';
import { scribble } from './scribble.ts';
import type { StoppedRuns } from './trusted-pages.ts';

const files = ['slab', 'slots', 'metadata-log'] as const;
type File = (typeof files)[number];

/** What may be done to table and log, with how often. */
const damages = {
  'flipped bits': 30,
  'zeroed pages': 20,
  'garbage pages': 10,
  'garbage behind the end': 5,
  'cut short': 15,
  removed: 8,
  'an older copy': 12,
} as const;

/** To the slab. Nothing goes behind its end: that would be bytes in the place of blocks that a cut took away. */
const slabDamages = {
  'flipped bits': 30,
  'zeroed pages': 20,
  'garbage pages': 10,
  'pages at another place': 10,
  'cut short': 15,
  removed: 5,
  'an older copy': 10,
} as const;

type Kind = keyof typeof damages | keyof typeof slabDamages;

export class Damage {
  readonly #dataDir: string;
  readonly #olderDir: string;
  readonly #stopped: StoppedRuns;

  /** `olderDir` is an existing directory for copies of the files as they once were. */
  constructor(dataDir: string, olderDir: string, stopped: StoppedRuns) {
    this.#dataDir = dataDir;
    this.#olderDir = olderDir;
    this.#stopped = stopped;
  }

  /** Keeps a copy of one of the files, to come back later. */
  keepCopy(dice: Dice): void {
    const file = dice.pick(files);
    const path = join(this.#dataDir, file);
    if (existsSync(path)) copyFileSync(path, join(this.#olderDir, file));
  }

  /** Hurts some of the files that may be hurt after such an end, each in one way. Returns what was done, for a person. */
  inflict(isClean: boolean, dice: Dice): string[] {
    const done: string[] = [];
    const allowed = files.filter((file) => file !== 'slab' || !isClean);
    const first = dice.pick(allowed);
    for (const file of allowed) {
      if (file !== first && !dice.chance(0.3)) continue;
      const what: Kind = file === 'slab' ? dice.weighted(slabDamages) : dice.weighted(damages);
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
        scribble(path, what, file === 'slab' ? this.#spared(path) : new Set(), dice);
        return true;
    }
  }

  /** Pages of the slab that are trusted now, or would be if the older slot table came back. */
  #spared(slab: string): Set<number> {
    const tables = [this.#dataDir, this.#olderDir].map((directory) => join(directory, 'slots'));
    return new Set(tables.flatMap((table) => [...this.#stopped.trustedPages(slab, table)]));
  }
}
