import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import { LOG_HEADER_BYTES, type LogReader } from '@s3-accelerator/core/journal/metadata-log.ts';
import type { ObjectMetadata } from '@s3-accelerator/core/read.ts';
import { MetadataLog } from './metadata-log.ts';
import { readMetadataLog, type LogFound } from './read-log.ts';
import { openRig, temporaryDirectory, type DiskRig } from './testing/disk-rig.ts';

const cacheId = { h0: 5, h1: 6, h2: 7, h3: 8 };
const hashOf = (i: number): Hash128 => ({ h0: i, h1: 1, h2: 2, h3: 3 });

const metadataOf = (name: string): ObjectMetadata => ({
  etag: `"${name}"`,
  size: 5_000_000_000,
  lastModified: 1_700_000_000_000,
  headerLines: Buffer.from(`x-amz-meta-name: ${name}\r\n`),
  knowsChecksums: true,
  version: { h0: 1, h1: 2, h2: 3, h3: 4 },
});

/** What a log says in the end: names by the first word of their hash. */
async function contents(
  directory: string,
  told: number[] = [],
): Promise<{ names: Map<number, string>; found: LogFound }> {
  const names = new Map<number, string>();
  const reader: LogReader = {
    put: ({ h0 }, { etag, size }) => {
      assert.equal(size, 5_000_000_000);
      names.set(h0, etag);
    },
    forgotten: ({ h0 }) => {
      names.delete(h0);
    },
  };
  const found = await readMetadataLog(directory, cacheId, reader, {
    tell: (done, all) => {
      told.push(done / all);
      return Promise.resolve();
    },
  });
  return { names, found };
}

interface Log {
  readonly log: MetadataLog;
  readonly replaced: Promise<void>;
}

/** A log over a rig's file, which knows these objects when it is replaced. */
function logOf(
  rig: DiskRig,
  known: ReadonlyMap<number, string>,
  onWalk: () => void = () => undefined,
): Log {
  let isReplaced: () => void = () => undefined;
  const replaced = new Promise<void>((resolve) => (isReplaced = resolve));
  const all = [...known];
  const log = new MetadataLog({
    files: rig.files,
    cacheId,
    metadataFrom: (from, limit, each) => {
      if (from > 0) onWalk();
      const end = Math.min(all.length, from + limit);
      for (const [i, name] of all.slice(from, end)) each(hashOf(i), metadataOf(name));
      return end === all.length ? 0 : end;
    },
    onReplaced: () => {
      isReplaced();
    },
    onFault: (errno) => assert.fail(`errno ${errno}`),
  });
  return { log, replaced };
}

test('what was put and not forgotten is read again', async (context) => {
  const rig = await openRig(context);
  await contents(rig.path);
  const { log } = logOf(rig, new Map());
  log.put(hashOf(1), metadataOf('a'));
  log.put(hashOf(2), metadataOf('b'));
  log.put(hashOf(1), metadataOf('newer'));
  log.forgotten(hashOf(2));
  await rig.close();
  const { names, found } = await contents(rig.path);
  assert.deepEqual([...names], [[1, '"newer"']]);
  assert.deepEqual({ entries: found.entries, state: found.state }, { entries: 4, state: 'whole' });
});

test('a replaced log holds what is known, and what came meanwhile', async (context) => {
  const rig = await openRig(context);
  await contents(rig.path);
  const known = new Map(Array.from({ length: 1000 }, (_, i) => [i + 1, `object-${i}`]));
  let meanwhile = 5000;
  const { log, replaced } = logOf(rig, known, () => {
    log.put(hashOf(meanwhile++), metadataOf('late'));
  });
  for (let i = 0; i < 2000; i++) log.put(hashOf(7), metadataOf('outdated'));
  log.replace();
  await replaced;
  log.put(hashOf(6000), metadataOf('later'));
  await rig.close();
  const { names, found } = await contents(rig.path);
  assert.ok(meanwhile > 5000);
  assert.equal(names.size, 1000 + meanwhile - 5000 + 1);
  assert.equal(names.get(7), '"object-6"');
  assert.equal(names.get(5000), '"late"');
  assert.equal(names.get(6000), '"later"');
  assert.ok(found.entries < 1010, `${found.entries} entries`);
});

test('a torn end is cut off, and what is appended later is read', async (context) => {
  const rig = await openRig(context);
  await contents(rig.path);
  const path = join(rig.path, 'metadata-log');
  const { log } = logOf(rig, new Map());
  log.put(hashOf(1), metadataOf('a'));
  log.put(hashOf(2), metadataOf('b'));
  await rig.close();
  const whole = readFileSync(path);
  for (const damage of [
    (): void => {
      truncateSync(path, whole.length - 5);
    },
    (): void => {
      const flipped = Buffer.from(whole);
      flipped[whole.length - 9]! ^= 1;
      writeFileSync(path, flipped);
    },
  ]) {
    damage();
    const { names, found } = await contents(rig.path);
    assert.deepEqual([...names], [[1, '"a"']]);
    assert.equal(found.state, 'torn');
    assert.equal(statSync(path).size, found.goodBytes);
    appendFileSync(path, whole.subarray(found.goodBytes));
    assert.deepEqual([...(await contents(rig.path)).names.values()], ['"a"', '"b"']);
  }
});

test('a log that is missing, empty or somebody else’s is begun anew', async (context) => {
  const directory = temporaryDirectory(context);
  const path = join(directory, 'metadata-log');
  assert.equal((await contents(directory)).found.state, 'new');
  assert.equal(statSync(path).size, LOG_HEADER_BYTES);
  assert.equal((await contents(directory)).found.state, 'whole');
  writeFileSync(path, Buffer.alloc(100_000, 3));
  assert.equal((await contents(directory)).found.state, 'foreign');
  assert.equal(statSync(path).size, LOG_HEADER_BYTES);
});

test('reading a long log tells how far it is', async (context) => {
  const rig = await openRig(context);
  const headerLines = Buffer.alloc(200_000, 65);
  await contents(rig.path);
  const { log } = logOf(rig, new Map());
  for (let i = 0; i < 30; i++) log.put(hashOf(i), { ...metadataOf('a'), headerLines });
  await rig.close();
  const told: number[] = [];
  assert.equal((await contents(rig.path, told)).found.entries, 30);
  assert.equal(told.length, 2);
  assert.ok(told[0]! > 0.5 && told[0]! < 1 && told[1] === 1);
});
