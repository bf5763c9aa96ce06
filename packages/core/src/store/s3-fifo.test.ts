import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { DISOWNED, MAIN, S3Fifo, SMALL, type Queue } from './s3-fifo.ts';
import { NIL, SlotRecords, type SlotId } from './slot-records.ts';

const version = { h0: 1, h1: 2, h2: 3, h3: 4 };

class Rig {
  readonly records = new SlotRecords();
  readonly queues = new S3Fifo(this.records, 0.1);

  add(queue: Queue, reads = 0, bytes = 100): SlotId {
    const slot = this.records.make();
    this.records.assign(slot, version, 0, 0, 0, bytes);
    this.records.setReads(slot, reads);
    this.queues.add(slot, queue);
    return slot;
  }

  evict(): SlotId {
    const slot = this.queues.victim();
    if (slot !== NIL) this.queues.remove(slot);
    return slot;
  }

  evictAll(): SlotId[] {
    const order: SlotId[] = [];
    for (let slot = this.evict(); slot !== NIL; slot = this.evict()) order.push(slot);
    return order;
  }
}

test('blocks that nobody read leave small in the order of their arrival', () => {
  const rig = new Rig();
  const slots = [rig.add(SMALL), rig.add(SMALL), rig.add(SMALL)];
  deepEqual(rig.evictAll(), slots);
  equal(rig.queues.bytes(SMALL), 0);
});

test('a block that was read in small moves on to main', () => {
  const rig = new Rig();
  const once = rig.add(SMALL, 1);
  const often = rig.add(SMALL, 3);
  const unread = rig.add(SMALL);
  equal(rig.evict(), unread);
  equal(rig.records.queue(once), MAIN);
  equal(rig.records.reads(once), 0);
  equal(rig.records.reads(often), 2);
  equal(rig.queues.bytes(MAIN), 200);
});

test('small gives way above its share, main below it', () => {
  const rig = new Rig();
  const main = Array.from({ length: 9 }, () => rig.add(MAIN));
  const small = [rig.add(SMALL), rig.add(SMALL)];
  equal(rig.evict(), small[0]);
  // 100 bytes of 1,000 are small's due.
  equal(rig.evict(), main[0]);
  equal(rig.evict(), small[1]);
});

test('main lets a block go round once for each read', () => {
  const rig = new Rig();
  const a = rig.add(MAIN, 2);
  const b = rig.add(MAIN, 0);
  const c = rig.add(MAIN, 1);
  deepEqual(rig.evictAll(), [b, c, a]);
});

test('disowned blocks go before all others, however often they are read', () => {
  const rig = new Rig();
  const small = rig.add(SMALL);
  const disowned = rig.add(DISOWNED, 3);
  deepEqual(rig.evictAll(), [disowned, small]);
});

test('pinned blocks are passed over, and when all are pinned there is no victim', () => {
  const rig = new Rig();
  for (const queue of [SMALL, MAIN, DISOWNED] as const) {
    const pinned = rig.add(queue);
    const free = rig.add(queue);
    rig.records.addPin(pinned);
    equal(rig.evict(), free);
    equal(rig.evict(), NIL);
    rig.records.removePin(pinned);
    equal(rig.evict(), pinned);
  }
});

test('a victim is found in small although it was read and main is all pinned', () => {
  const rig = new Rig();
  for (let i = 0; i < 20; i++) rig.records.addPin(rig.add(MAIN));
  const read = rig.add(SMALL, 3);
  equal(rig.evict(), read);
});

test('an eviction passes over a bounded number of blocks although all were read', () => {
  const rig = new Rig();
  const slots = Array.from({ length: 5_000 }, () => rig.add(MAIN, 3));
  const victim = rig.evict();
  equal(victim, slots[1024]);
  equal(slots.filter((slot) => rig.records.reads(slot) < 3).length, 1024);
});
