import { deepEqual, equal } from 'node:assert/strict';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '../store/store.ts';
import { writeFullCache } from './full-cache.bench.ts';
import { Recovery } from './recovery.ts';
import { planStart } from './start-plan.ts';
import { HEADER_BYTES, rowPosition } from './table-header.ts';
import { wordsOf } from './words.ts';

test('the files of a full cache bring all of its blocks back, trusted', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-full-cache-'));
  context.after(() => {
    rmSync(directory, { recursive: true });
  });
  const blocks = 20_000;
  const capacityBytes = 80 << 20;
  writeFullCache(directory, capacityBytes, blocks);
  const store = new Store({ capacityBytes, blockBytes: 1 << 20, seed: { hi: 3, lo: 4 } });
  const table = new Uint8Array(readFileSync(join(directory, 'slots')));
  const slabPath = join(directory, 'slab');
  const { size } = statSync(slabPath);
  const slab = new Uint8Array(HEADER_BYTES);
  const descriptor = openSync(slabPath, 'r');
  readSync(descriptor, slab);
  closeSync(descriptor);
  const newId = { h0: 0, h1: 0, h2: 0, h3: 1 };
  const plan = planStart(
    table.subarray(0, HEADER_BYTES),
    slab,
    { bytes: size, file: 0 },
    store,
    newId,
  );
  equal(plan.kind, 'restore');
  const recovery = new Recovery(store, plan.header, size);
  recovery.take(wordsOf(table.subarray(rowPosition(recovery.next))));
  deepEqual(recovery.finish(), {
    restored: blocks,
    trusted: blocks,
    damaged: 0,
    outside: 0,
    contradictory: 0,
  });
});
