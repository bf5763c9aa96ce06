/** What a run has seen so far, and what it found wrong. */

export interface Tally {
  /** Lives of the program: each start of it counts. */
  lives: number;
  /** Answers compared with the origin, byte for byte. */
  reads: number;
  bytes: number;
  /** Writes that ended well: behind the cache, and through the gateway. */
  overwrites: number;
  puts: number;
  /** Reads and writes that a kill, damage or a change excuses for having ended without all their bytes. */
  excused: number;
  /** Blocks that lives began with, and those among them that were trusted without a look. */
  recovered: number;
  trusted: number;
  /** Blocks that were verified and found intact; those found damaged, refused at the start, or lost to a fault. */
  verified: number;
  dropped: number;
  /** Writes that were rolled back between lives, and damage done to files. */
  rolledBack: number;
  damages: number;
  /** Each thing that must never be, in words. */
  readonly wrong: string[];
}

export function emptyTally(): Tally {
  return {
    lives: 0,
    reads: 0,
    bytes: 0,
    overwrites: 0,
    puts: 0,
    excused: 0,
    recovered: 0,
    trusted: 0,
    verified: 0,
    dropped: 0,
    rolledBack: 0,
    damages: 0,
    wrong: [],
  };
}
