import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstHeader } from '@s3-accelerator/core/journal/table-header.ts';
import { Store } from '@s3-accelerator/core/store/store.ts';
import type { DiskFiles, DoneWithChecksum } from './disk-files.ts';
import { Slots, type SlotEvents } from './slots.ts';

const blockBytes = 64 * 1024;
const version = { h0: 1, h1: 2, h2: 3, h3: 4 };

const nobody: SlotEvents = {
  onSlotWritten: () => undefined,
  onSlabSynced: () => undefined,
  onTableSynced: () => undefined,
  onSlotVerified: () => undefined,
};

test('nobody’s former bytes are written behind a block', () => {
  const store = new Store({ capacityBytes: 4 * blockBytes, blockBytes, seed: { hi: 1, lo: 2 } });
  const memory = new Uint8Array(2 * blockBytes).fill(0xaa);
  const written: { bytes: Uint8Array; checked: number }[] = [];
  const files: Pick<DiskFiles, 'writeSlab'> = {
    writeSlab(
      _offset: number,
      at: number,
      length: number,
      checked: number,
      done: DoneWithChecksum,
    ) {
      written.push({ bytes: memory.slice(at, at + length), checked });
      done(0, 7);
    },
  };
  const header = firstHeader(version, store);
  const slots = new Slots(files as DiskFiles, store, header, memory, nobody);

  const slot = store.reserve(version, 0, 0, 0, 5000);
  slots.write(slot, blockBytes, 8192);

  const { bytes, checked } = written[0]!;
  assert.equal(checked, 5000, 'the checksum is of the block alone');
  assert.deepEqual(bytes.subarray(0, 5000), new Uint8Array(5000).fill(0xaa));
  assert.deepEqual(bytes.subarray(5000), new Uint8Array(3192));
  assert.equal(memory[blockBytes - 1], 0xaa, 'what lies before is somebody’s block');
  assert.equal(memory[blockBytes + 8192], 0xaa, 'and what lies behind');
});
