/**
 * A loss of power, played on the files of a life that has ended: of the writes that no completed sync covers, a random subset is taken
 * back, whole or in part, in any order. Parts are sectors of 512 bytes; a write shorter than that goes whole.
 *
 * A sector keeps what the last write that reached it left there. So writes are undone from the last to the first, and one that is kept
 * shields what lies below it from the undoing of earlier ones.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Dice } from '../dice.ts';
import { readUndoFile, recordedFiles, type RecordedFile, type RecordedWrite } from './undo-file.ts';

const sectorBytes = 512;
/** What a shield covers: the smallest write that there is. */
const shieldBytes = 64;

/** How likely a write is lost, drawn once for a whole roll back: few, half of them, nearly all. */
const lossShares = [0.1, 0.5, 0.9, 1];
/** Of the lost writes, how many lose only some of their sectors. */
const tornShare = 0.3;

/** Rolls back in the files of `dataDir` what `undoFile` says may be lost. Returns how many writes were lost, wholly or in part. */
export function rollBack(dataDir: string, undoFile: string, dice: Dice): number {
  const lossShare = dice.pick(lossShares);
  const isLost = (): 'kept' | 'lost' | 'torn' => {
    if (!dice.chance(lossShare)) return 'kept';
    return dice.chance(tornShare) ? 'torn' : 'lost';
  };
  const writes = readUndoFile(undoFile).filter(({ isDurable }) => !isDurable);
  let lost = 0;
  for (const file of recordedFiles) {
    const ofFile = writes.filter((write) => write.file === file);
    if (ofFile.length > 0) lost += rollBackFile(dataDir, file, ofFile, isLost, dice);
  }
  return lost;
}

function rollBackFile(
  dataDir: string,
  file: RecordedFile,
  writes: readonly RecordedWrite[],
  fateOf: () => 'kept' | 'lost' | 'torn',
  dice: Dice,
): number {
  let descriptor: number;
  try {
    descriptor = openSync(join(dataDir, file), 'r+');
  } catch {
    return 0;
  }
  let lost = 0;
  try {
    const shield = new Shield(fstatSync(descriptor).size);
    for (const write of writes.toReversed()) {
      const fate = fateOf();
      if (fate !== 'kept') lost++;
      for (const { start, end } of sectorsOf(write)) {
        const isKept = fate === 'kept' || (fate === 'torn' && dice.chance(0.5));
        if (isKept) shield.cover(start, end);
        else undo(descriptor, write, start, end, shield);
      }
    }
  } finally {
    closeSync(descriptor);
  }
  return lost;
}

/** The parts of a write that a disk writes as one, as positions in the file. */
function* sectorsOf({ position, former }: RecordedWrite): Iterable<{ start: number; end: number }> {
  const end = position + former.length;
  for (let start = position; start < end;) {
    const next = Math.min(end, start - (start % sectorBytes) + sectorBytes);
    yield { start, end: next };
    start = next;
  }
}

function undo(
  descriptor: number,
  { position, former }: RecordedWrite,
  start: number,
  end: number,
  shield: Shield,
): void {
  for (let at = start; at < end;) {
    const next = Math.min(end, at - (at % shieldBytes) + shieldBytes);
    if (!shield.covers(at)) {
      writeSync(descriptor, former, at - position, next - at, at);
    }
    at = next;
  }
}

/** Which places of a file hold what a kept write left. */
class Shield {
  readonly #covered: Uint8Array;

  constructor(fileBytes: number) {
    this.#covered = new Uint8Array(Math.ceil(fileBytes / shieldBytes));
  }

  cover(start: number, end: number): void {
    this.#covered.fill(1, Math.floor(start / shieldBytes), Math.ceil(end / shieldBytes));
  }

  covers(position: number): boolean {
    return this.#covered[Math.floor(position / shieldBytes)] === 1;
  }
}
