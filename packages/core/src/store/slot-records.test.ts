import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { LEAVING, MAX_BLOCK_INDEX, PUBLISHED, RESERVED, SlotRecords } from './slot-records.ts';

const version = { h0: 0xffff_ffff, h1: 0x8000_0000, h2: 1, h3: 0 };

test('a record keeps every field at its limits, and no field disturbs another', () => {
  const records = new SlotRecords();
  const slot = records.make();
  records.locate(slot, (1 << 24) - 1, 254, 77);
  records.assign(slot, version, MAX_BLOCK_INDEX, 0xffff_fffe, 0x8000_0001, 1 << 20);
  records.setState(slot, PUBLISHED);
  records.setQueue(slot, 2);
  for (let read = 0; read < 5; read++) records.countRead(slot);
  records.addPin(slot);
  records.setNext(slot, 5);
  records.setPrevious(slot, 6);
  deepEqual(
    [
      records.isOf(slot, version, MAX_BLOCK_INDEX),
      records.block(slot),
      records.length(slot),
      records.reads(slot),
      records.state(slot),
      records.queue(slot),
      records.pins(slot),
      records.placementHi(slot),
      records.placementLo(slot),
      records.extent(slot),
      records.place(slot),
      records.nextInExtent(slot),
      records.next(slot),
      records.previous(slot),
    ],
    [
      true,
      MAX_BLOCK_INDEX,
      1 << 20,
      3,
      PUBLISHED,
      2,
      1,
      0xffff_fffe,
      0x8000_0001,
      (1 << 24) - 1,
      254,
      77,
      5,
      6,
    ],
  );
  records.setReads(slot, 1);
  records.setState(slot, LEAVING);
  equal(records.reads(slot), 1);
  equal(records.block(slot), MAX_BLOCK_INDEX);
  records.assign(slot, version, 0, 0, 0, 1);
  equal(records.state(slot), RESERVED);
  equal(records.length(slot), 1);
  equal(records.reads(slot), 0);
});

test('a block is told from those that differ in one bit of the key', () => {
  const records = new SlotRecords();
  const slot = records.make();
  records.assign(slot, version, 5, 0, 0, 1);
  ok(records.isOf(slot, version, 5));
  ok(!records.isOf(slot, version, 4));
  for (const word of ['h0', 'h1', 'h2', 'h3'] as const) {
    for (let bit = 0; bit < 32; bit++) {
      ok(!records.isOf(slot, { ...version, [word]: version[word] ^ (1 << bit) }, 5));
    }
  }
});

test('pins count beyond what the record has bits for', () => {
  const records = new SlotRecords();
  const slot = records.make();
  records.locate(slot, 0, 0, slot);
  records.assign(slot, version, 5, 0, 0, 4096);
  for (let pins = 1; pins <= 10_000; pins++) {
    records.addPin(slot);
    equal(records.pins(slot), pins);
  }
  equal(records.length(slot), 4096);
  for (let pins = 9_999; pins >= 0; pins--) {
    records.removePin(slot);
    equal(records.pins(slot), pins);
  }
  throws(() => {
    records.removePin(slot);
  });
});

test('records grow segment by segment, and discarded ones are used first', () => {
  const records = new SlotRecords();
  for (let i = 1; i <= 20_000; i++) equal(records.make(), i);
  equal(records.count, 20_000);
  records.discard(7);
  records.discard(19_999);
  equal(records.count, 19_998);
  equal(records.make(), 19_999);
  equal(records.make(), 7);
  equal(records.make(), 20_001);
  records.setState(3, RESERVED);
  throws(() => {
    records.discard(3);
  });
});
