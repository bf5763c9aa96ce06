import assert from 'node:assert/strict';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Dice } from '../dice.ts';
import { rollBack } from './roll-back.ts';
import { readUndoFile, UndoWriter } from './undo-file.ts';

const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-roll-back-'));
after(() => rmSync(directory, { recursive: true }));
const slab = join(directory, 'slab');
const undoFile = join(directory, 'undo');
const sectorBytes = 512;
const sectors = 24;

/** A program's life on a small slab: what each sector held, write after write, and which of it is durable. */
class SmallLife {
  readonly undo = new UndoWriter(undoFile);
  /** Of each sector, what it may hold after a loss of power: the last is what it holds now. */
  readonly #possible: number[][] = Array.from({ length: sectors }, () => [0]);
  #fill = 0;

  constructor() {
    writeFileSync(slab, Buffer.alloc(sectors * sectorBytes));
  }

  /** Writes `count` sectors with a byte of their own. Returns the write's id. */
  write(first: number, count: number): number {
    const fill = ++this.#fill;
    const length = count * sectorBytes;
    const former = readFileSync(slab).subarray(first * sectorBytes, first * sectorBytes + length);
    const id = this.undo.writeBegins('slab', first * sectorBytes, former);
    const descriptor = openSync(slab, 'r+');
    writeSync(descriptor, Buffer.alloc(length, fill), 0, length, first * sectorBytes);
    closeSync(descriptor);
    for (let sector = first; sector < first + count; sector++) this.#possible[sector]!.push(fill);
    return id;
  }

  /** All that was written becomes durable. */
  sync(): void {
    this.undo.syncEnds(this.undo.syncBegins('slab'), 'slab');
    for (const [sector, fills] of this.#possible.entries()) {
      this.#possible[sector] = fills.slice(-1);
    }
  }

  /** Asserts that each sector holds one of what it may hold. Returns how many lost something. */
  assertPossible(): number {
    const bytes = readFileSync(slab);
    let lost = 0;
    for (const [sector, fills] of this.#possible.entries()) {
      const held = bytes.subarray(sector * sectorBytes, (sector + 1) * sectorBytes);
      const fill = held[0]!;
      assert.ok(held.every((byte) => byte === fill));
      assert.ok(fills.includes(fill), `sector ${sector} holds ${fill} of ${fills.join(', ')}`);
      if (fill !== fills.at(-1)) lost++;
    }
    return lost;
  }
}

test('a roll back leaves each sector as one of its writes since the last sync left it', () => {
  let lost = 0;
  for (let seed = 0; seed < 200; seed++) {
    const dice = new Dice(seed);
    const life = new SmallLife();
    for (let step = dice.between(1, 30); step > 0; step--) {
      if (dice.chance(0.1)) life.sync();
      else {
        const first = dice.below(sectors);
        life.undo.writeEnds(life.write(first, dice.between(1, sectors - first)), 'slab');
      }
    }
    life.undo.close();
    rollBack(directory, undoFile, dice);
    lost += life.assertPossible();
  }
  assert.ok(lost > 200, `only ${lost} sectors lost anything`);
});

test('a write is durable once a sync succeeded that began after its end', () => {
  const life = new SmallLife();
  const { undo } = life;
  undo.writeEnds(life.write(0, 1), 'slab');
  const during = life.write(1, 1);
  const sync = undo.syncBegins('slab');
  undo.writeEnds(during, 'slab');
  undo.writeEnds(life.write(2, 1), 'slab');
  undo.syncEnds(sync, 'slab');
  const failed = undo.syncBegins('slab');
  assert.notEqual(failed, sync);
  undo.syncEnds(undo.syncBegins('slots'), 'slots');
  undo.close();
  const durable = readUndoFile(undoFile).map(({ isDurable }) => isDurable);
  assert.deepEqual(durable, [true, false, false]);
});

test('an entry that was cut short is no write', () => {
  const life = new SmallLife();
  life.write(0, 1);
  life.write(1, 2);
  life.undo.close();
  const whole = readFileSync(undoFile).length;
  for (const [cut, writes] of [
    [1, 1],
    [2 * sectorBytes + 23, 1],
    [2 * sectorBytes + 24, 1],
    [whole, 0],
  ] as const) {
    truncateSync(undoFile, whole - cut);
    assert.equal(readUndoFile(undoFile).length, writes);
  }
});

test('a slab that has become shorter, or is gone, is rolled back as far as it goes', () => {
  const life = new SmallLife();
  life.write(0, sectors);
  life.undo.close();
  truncateSync(slab, sectorBytes);
  rollBack(directory, undoFile, new Dice(1));
  rmSync(slab);
  assert.equal(rollBack(directory, undoFile, new Dice(1)), 0);
});
