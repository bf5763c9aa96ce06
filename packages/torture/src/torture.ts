/**
 * The kill test: lives of the real program on one data directory, ended at random moments, with its files damaged between them, while
 * clients compare every byte they get with the origin.
 *
 * A round is one life and what happens to its files afterwards:
 *
 *   plan ── life under load ── its end ── roll back writes no sync covered ── damage ──▶ next round
 *
 * What may be done to the files
 *  1. After any end, a random subset of the writes since the last completed sync is rolled back, whole or torn at 512 bytes, as a
 *     loss of power would. SIGKILL alone keeps the page cache, so the program notes in an undo file what each write replaced.
 *  2. The slot table and the metadata log are damaged at any time: flipped bits, zeroed pages, cut short, removed, an older copy.
 *  3. The slab is damaged only after a life that wasn't stopped cleanly, and not where a run that was has stored: the blocks of a clean
 *     run are trusted as long as the drive holds them, which is documented. It may be cut short, removed or older all the same.
 *
 * What must hold
 *  1. No read brings a byte or a header that the origin couldn't have answered (origin/history.ts says when a version could be seen).
 *  2. Reads and writes end without all their bytes only around an end, after damage, or when their object changed meanwhile.
 *  3. The program starts and stops whatever was done to its files, and never ends by itself.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from './dice.ts';
import { Damage } from './disk/damage.ts';
import { rollBack } from './disk/roll-back.ts';
import { StoppedRuns } from './disk/trusted-pages.ts';
import { emptyTally, type Tally } from './load/tally.ts';
import { Origin } from './origin/origin.ts';
import { drawPlan, Life, type Surroundings } from './program/life.ts';

/** How many ends are followed by damage, by a loss of power, by a copy of a file for later. */
const damageShare = 0.4;
const powerLossShare = 0.7;
const copyShare = 0.15;

export interface TortureOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Ends after the first round that finds something wrong and leaves its files. */
  readonly keep: boolean;
  /** An empty directory for its files. It is removed in the end, unless the files of a failure are kept. */
  readonly directory: string;
}

/** What one round was, for the progress line. */
export interface Round {
  readonly number: number;
  readonly life: string;
  readonly after: string;
}

export interface Outcome {
  readonly tally: Tally;
  /** Rounds that were played. */
  readonly rounds: number;
  /** Where the files of a failure are; null when none were left. */
  readonly kept: string | null;
}

/** Plays the rounds. `onRound` hears of each as it ends. */
export async function torture(
  options: TortureOptions,
  onRound: (round: Round, tally: Tally) => void,
): Promise<Outcome> {
  const dice = new Dice(options.seed);
  const { directory } = options;
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  // Should it be interrupted, nothing of it stays behind.
  process.once('exit', remove);
  const dataDir = join(directory, 'data');
  const olderDir = join(directory, 'older');
  mkdirSync(dataDir, { mode: 0o700 });
  mkdirSync(olderDir);
  const stopped = new StoppedRuns();
  const damage = new Damage(dataDir, olderDir, stopped);
  const tally = emptyTally();
  const origin = await Origin.start(dice.for('origin'));
  const around = { directory, dataDir, undoFile: join(directory, 'undo'), origin, tally };
  let rounds = 0;
  let isDamaged = false;
  try {
    while (rounds < options.rounds && !(options.keep && tally.wrong.length > 0)) {
      const number = ++rounds;
      const ofRound = dice.for(`round ${number}`);
      const plan = drawPlan(ofRound.for('plan'));
      const isClean = await Life.live(plan, around, ofRound.for('life'), isDamaged);
      await origin.settle();
      // One that was killed while it stopped may have said already that it ended clean.
      if (plan.end === 'stop' || plan.end === 'kill while stopping') {
        stopped.add(join(dataDir, 'slots'));
      }
      const after = [isClean ? 'stopped cleanly' : 'ended'];
      const lost = takeBack(around, ofRound.for('roll back'));
      if (lost > 0) after.push(`${lost} writes rolled back`);
      const ofDamage = ofRound.for('damage');
      const damages = ofDamage.chance(damageShare) ? damage.inflict(isClean, ofDamage) : [];
      after.push(...damages);
      if (ofDamage.chance(copyShare)) damage.keepCopy(ofDamage);
      isDamaged = damages.length > 0;
      tally.rolledBack += lost;
      tally.damages += damages.length;
      const life = `${plan.processes === 1 ? 'one process' : 'two processes'}, ${plan.end}`;
      onRound({ number, life, after: after.join(', ') }, tally);
    }
  } finally {
    await origin.stop();
    process.off('exit', remove);
    if (!options.keep || tally.wrong.length === 0) remove();
  }
  return { tally, rounds, kept: options.keep && tally.wrong.length > 0 ? directory : null };
}

/** Rolls back what the last life's undo file allows; a life may have ended before it began one. */
function takeBack({ dataDir, undoFile }: Surroundings, dice: Dice): number {
  if (!existsSync(undoFile)) return 0;
  // Some ends are a process's alone: the page cache survives, and with it everything that was written.
  const lost = dice.chance(powerLossShare) ? rollBack(dataDir, undoFile, dice) : 0;
  rmSync(undoFile);
  return lost;
}
