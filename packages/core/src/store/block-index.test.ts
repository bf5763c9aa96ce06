import { equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { BlockIndex } from './block-index.ts';
import { BlockKey } from './block-key.ts';
import { FREE, NIL, SlotRecords, type SlotId } from './slot-records.ts';

class Rig {
  readonly records = new SlotRecords();
  readonly key = new BlockKey({ hi: 0xdead, lo: 0xbeef });
  readonly index: BlockIndex;

  constructor(expectedBlocks: number) {
    this.index = new BlockIndex(this.records, expectedBlocks);
  }

  add(version: Hash128, block: number): SlotId {
    const slot = this.records.make();
    this.records.assign(slot, version, block, 0, 0, 1);
    this.key.set(version, block);
    this.index.add(this.key, slot);
    return slot;
  }

  find(version: Hash128, block: number): SlotId {
    this.key.set(version, block);
    return this.index.find(this.key, version, block);
  }

  remove(version: Hash128, block: number, slot: SlotId): void {
    this.key.set(version, block);
    this.index.remove(this.key, slot);
  }
}

const versionOf = (i: number): Hash128 => ({ h0: i, h1: ~i >>> 0, h2: 5, h3: 0xffff_0000 });

test('random histories agree with a map, below and far beyond the expected number of blocks', () => {
  for (const expected of [16, 2_000, 20_000]) {
    const rig = new Rig(expected);
    const prng = new Prng(expected, 3);
    const model = new Map<number, SlotId>();
    const keys = 6_000;
    for (let step = 0; step < 60_000; step++) {
      const i = prng.below(keys);
      const version = versionOf(i >> 3);
      const block = i & 7;
      equal(rig.find(version, block), model.get(i) ?? NIL);
      // Grows, then shrinks, then grows again.
      const wanted = step % 20_000 < 12_000 ? 0.8 : 0.1;
      if (prng.chance(wanted)) {
        if (!model.has(i)) model.set(i, rig.add(version, block));
      } else {
        const slot = model.get(i);
        if (slot !== undefined) {
          rig.remove(version, block, slot);
          model.delete(i);
        }
      }
      equal(rig.index.count, model.size);
    }
    for (let i = 0; i < keys; i++) equal(rig.find(versionOf(i >> 3), i & 7), model.get(i) ?? NIL);
  }
});

test('keys that differ in one bit are never taken for each other', () => {
  const rig = new Rig(64);
  const base = versionOf(1234);
  const slot = rig.add(base, 9);
  for (const word of ['h0', 'h1', 'h2', 'h3'] as const) {
    for (let bit = 0; bit < 32; bit++) {
      equal(rig.find({ ...base, [word]: (base[word] ^ (1 << bit)) >>> 0 }, 9), NIL);
    }
  }
  equal(rig.find(base, 8), NIL);
  equal(rig.find(base, 9), slot);
});

test('removing what is not there is a bug', () => {
  const rig = new Rig(64);
  const slot = rig.add(versionOf(1), 0);
  rig.remove(versionOf(1), 0, slot);
  throws(() => {
    rig.remove(versionOf(1), 0, slot);
  });
});

test('lookups stay short after the blocks were replaced many times over', () => {
  // With one count a bucket, lookups of missing blocks came to walk 24 buckets: entries that were
  // passed on keep the count up long after their home bucket has room again.
  const rig = new Rig(4_096);
  const live: { i: number; slot: SlotId }[] = [];
  for (let i = 0; i < 4_096; i++) live.push({ i, slot: rig.add(versionOf(i), 0) });
  const prng = new Prng(1, 1);
  for (let i = 4_096; i < 120_000; i++) {
    const at = prng.below(live.length);
    rig.remove(versionOf(live[at]!.i), 0, live[at]!.slot);
    rig.records.setState(live[at]!.slot, FREE);
    rig.records.discard(live[at]!.slot);
    live[at] = { i, slot: rig.add(versionOf(i), 0) };
  }
  let walked = 0;
  for (let i = 0; i < 10_000; i++) {
    rig.key.set(versionOf(1_000_000 + i), 0);
    walked += rig.index.missWalk(rig.key);
  }
  ok(walked / 10_000 < 1.3, `a lookup of a missing block reads ${walked / 10_000} buckets`);
});

test('it takes about 6 bytes a block when there are as many blocks as expected', () => {
  const index = new BlockIndex(new SlotRecords(), 1_000_000);
  ok(index.bytes / 1_000_000 < 6.2, `${index.bytes / 1_000_000}`);
});
