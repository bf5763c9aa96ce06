// What is stored outlives the process: after a clean end it is served at once, after a crash once it was verified, and what the
// disk lost meanwhile comes from S3 again.
import assert from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Lives, type Life } from '../testing/lives.ts';
import { until } from '../testing/rig.ts';
import { assertReads, version } from '../testing/versions.ts';

const mib = 1 << 20;
const sizes = [700, 30_000, 100_000, 700_000, mib, 3 * mib + 17];
const blocksOf = (size: number): number => Math.ceil(size / mib);
const allBlocks = sizes.reduce((sum, size) => sum + blocksOf(size), 0);

interface Stored {
  readonly bucket: string;
  readonly key: string;
  readonly bytes: Buffer;
}

/** Puts an object of each size at S3 and reads it once: then it is stored. */
async function fill(lives: Lives, life: Life, bucket = 'immutable'): Promise<Stored[]> {
  const all = sizes.map((size) => ({ bucket, key: `of-${size}`, bytes: version(`${size}`, size) }));
  for (const { key, bytes } of all) {
    lives.s3.put(bucket, key, bytes);
    await assertReads(life.client, bucket, key, bytes);
  }
  await life.holds(allBlocks);
  return all;
}

async function assertReadsAll(life: Life, all: readonly Stored[]): Promise<void> {
  for (const { bucket, key, bytes } of all) await assertReads(life.client, bucket, key, bytes);
}

/** Changes bytes of a file in place. */
function overwrite(path: string, position: number, bytes: Uint8Array): void {
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

/** Flips one bit of each of these objects' stored bytes, wherever they are in the slab. */
function flipBits(slab: string, objects: readonly Stored[]): void {
  const bytes = readFileSync(slab);
  for (const { bytes: of } of objects) {
    const at = bytes.indexOf(of.subarray(0, Math.min(of.length, 4096)));
    assert.ok(at > 0, 'the block is in the slab');
    overwrite(slab, at + 100, Uint8Array.of(bytes[at + 100]! ^ 8));
  }
}

test('after a clean end everything is served without S3, at once', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const second = await lives.start();
  assert.equal(await second.metric('s3accel_node_restored_blocks'), allBlocks);
  assert.equal(await second.metric('s3accel_node_restored_trusted_blocks'), allBlocks);
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), 0);
  assert.equal(await second.metric('s3accel_node_verified_blocks_total'), 0);
  await second.stop();
  const third = await lives.start();
  assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), allBlocks);
  await assertReadsAll(third, all);
  assert.equal(lives.s3.traffic.count(), 0);
});

test('after a crash what was recorded is served without S3, verified first, and trusted from then on', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.kill();
  const second = await lives.start();
  assert.equal(await second.metric('s3accel_node_restored_blocks'), allBlocks);
  assert.equal(await second.metric('s3accel_node_restored_trusted_blocks'), 0);
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), 0);
  const intact = 'verdict="intact"';
  assert.equal(await second.metric('s3accel_node_verified_blocks_total', intact), allBlocks);
  await assertReadsAll(second, all);
  assert.equal(await second.metric('s3accel_node_verified_blocks_total', intact), allBlocks);
  await second.holds(allBlocks);
  await second.stop();
  const third = await lives.start();
  assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), allBlocks);
});

test('blocks that nobody read after a crash stay untrusted through a clean end', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.kill();
  await (await lives.start()).stop();
  flipBits(join(lives.dataDir, 'slab'), all);
  const third = await lives.start();
  assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), 0);
  await assertReadsAll(third, all);
});

test('bits that flipped in a crash are noticed, and the blocks filled again', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.kill();
  const damaged = all.filter((_, index) => index % 2 === 0);
  flipBits(join(lives.dataDir, 'slab'), damaged);
  const second = await lives.start();
  await assertReadsAll(second, all);
  const verdict = 'verdict="damaged"';
  assert.equal(await second.metric('s3accel_node_verified_blocks_total', verdict), damaged.length);
  assert.equal(lives.s3.traffic.count('GetObject'), damaged.length);
  assert.match(second.log(), /"fault":"disk-damaged"/);
  await second.holds(allBlocks);
  lives.s3.traffic.clear();
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), 0);
});

test('the scrub finds bits that flipped in blocks of a run that ended clean', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const [some] = all;
  flipBits(join(lives.dataDir, 'slab'), [some!]);
  const second = await lives.start({ scrubIntervalS: 1 });
  await second.metricIs('s3accel_node_blocks', allBlocks - 1);
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count('GetObject'), 1);
  await until('everything is scrubbed', async () => {
    return (await second.metric('s3accel_node_scrubbed_blocks_total')) >= 2 * allBlocks;
  });
});

const emptied: readonly { what: string; reason: string; damage: (dataDir: string) => void }[] = [
  {
    what: 'its slot table is gone',
    reason: 'table-missing',
    damage: (dataDir) => {
      rmSync(join(dataDir, 'slots'));
    },
  },
  {
    what: 'the header of its slot table is noise',
    reason: 'table-damaged',
    damage: (dataDir) => {
      overwrite(join(dataDir, 'slots'), 0, new Uint8Array(4096).fill(0xa5));
    },
  },
  {
    what: 'its slab is gone',
    reason: 'slab-missing',
    damage: (dataDir) => {
      rmSync(join(dataDir, 'slab'));
    },
  },
  {
    what: 'its slab was emptied',
    reason: 'slab-missing',
    damage: (dataDir) => {
      truncateSync(join(dataDir, 'slab'), 0);
    },
  },
  {
    what: 'its slab is something else',
    reason: 'slab-damaged',
    damage: (dataDir) => {
      writeFileSync(join(dataDir, 'slab'), new Uint8Array(2 * mib).fill(1));
    },
  },
];

for (const { what, reason, damage } of emptied) {
  test(`a node starts empty when ${what}`, async (context) => {
    const lives = await Lives.begin(context);
    const first = await lives.start();
    const all = await fill(lives, first);
    await first.stop();
    damage(lives.dataDir);
    const second = await lives.start();
    assert.match(second.log(), new RegExp(`"reason":"${reason}"`));
    assert.equal(await second.metric('s3accel_node_blocks'), 0);
    await assertReadsAll(second, all);
    await second.holds(allBlocks);
    await second.stop();
    const third = await lives.start();
    assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), allBlocks);
  });
}

test('a slab of another data directory gives none of its blocks', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const other = join(lives.directory, 'other');
  const second = await lives.start({ dataDir: other });
  await fill(lives, second);
  await second.stop();
  cpSync(join(other, 'slab'), join(lives.dataDir, 'slab'));
  const third = await lives.start();
  assert.match(third.log(), /"reason":"slab-foreign"/);
  assert.equal(await third.metric('s3accel_node_blocks'), 0);
  await assertReadsAll(third, all);
});

test('an older copy of the slab is verified block by block', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  await fill(lives, first, 'strict');
  await first.stop();
  cpSync(join(lives.dataDir, 'slab'), join(lives.directory, 'copy'));
  const second = await lives.start();
  const all = await fill(lives, second).catch(() => []);
  await second.stop();
  cpSync(join(lives.directory, 'copy'), join(lives.dataDir, 'slab'));
  const third = await lives.start();
  assert.match(third.log(), /every block is verified/);
  assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), 0);
  await assertReadsAll(third, all);
});

test('rows that are damaged cost their own blocks and no others', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const table = join(lives.dataDir, 'slots');
  const rows: number[] = [];
  const bytes = readFileSync(table);
  for (let at = 4096 + 64; at < bytes.length; at += 64) {
    if (bytes.subarray(at, at + 64).some((byte) => byte !== 0)) rows.push(at);
  }
  assert.equal(rows.length, allBlocks);
  overwrite(table, rows[0]! + 20, Uint8Array.of(bytes[rows[0]! + 20]! ^ 1));
  overwrite(table, rows[3]!, new Uint8Array(64).fill(0xff));
  const second = await lives.start();
  assert.equal(await second.metric('s3accel_node_restored_blocks'), allBlocks - 2);
  assert.equal(await second.metric('s3accel_node_refused_rows'), 2);
  await assertReadsAll(second, all);
});

test('a slab that was cut between two lives keeps what lies before the cut', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const slab = join(lives.dataDir, 'slab');
  truncateSync(slab, 3 * mib);
  const second = await lives.start();
  assert.equal(statSync(slab).size, 64 * mib + 4096);
  const restored = await second.metric('s3accel_node_restored_blocks');
  assert.ok(restored > 0 && restored < allBlocks, `${restored} blocks are back`);
  await assertReadsAll(second, all);
  await second.holds(allBlocks);
});

test('a larger capacity keeps everything, a smaller one what fits', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start({ capacity: '96MiB' });
  const many = Array.from({ length: 80 }, (_, i) => ({
    bucket: 'immutable',
    key: `block-${i}`,
    bytes: version(`block-${i}`, mib),
  }));
  for (const { bucket, key, bytes } of many) {
    lives.s3.put(bucket, key, bytes);
    await assertReads(first.client, bucket, key, bytes);
  }
  await first.holds(80);
  await first.stop();
  const grown = await lives.start({ capacity: '128MiB' });
  assert.equal(await grown.metric('s3accel_node_restored_blocks'), 80);
  // What the slab gained are zeros, so every block is compared with its checksum once.
  assert.equal(await grown.metric('s3accel_node_restored_trusted_blocks'), 0);
  await assertReadsAll(grown, many);
  assert.equal(lives.s3.traffic.count(), 0);
  await grown.stop();
  const shrunk = await lives.start({ capacity: '64MiB' });
  const kept = await shrunk.metric('s3accel_node_restored_blocks');
  assert.ok(kept > 50 && kept <= 64, `${kept} blocks fit`);
  assert.equal(statSync(join(lives.dataDir, 'slab')).size, 64 * mib + 4096);
  await assertReadsAll(shrunk, many);
  await shrunk.stop();
  const again = await lives.start({ capacity: '128MiB' });
  await assertReadsAll(again, many);
});

test('a directory that was copied under a running process is trusted in nothing', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const second = await lives.start();
  const copy = join(lives.directory, 'copy');
  cpSync(lives.dataDir, copy, { recursive: true });
  await second.stop();
  const third = await lives.start({ dataDir: copy });
  assert.equal(await third.metric('s3accel_node_restored_blocks'), allBlocks);
  assert.equal(await third.metric('s3accel_node_restored_trusted_blocks'), 0);
  await assertReadsAll(third, all);
  assert.equal(await third.metric('s3accel_node_verified_blocks_total'), allBlocks);
  assert.equal(lives.s3.traffic.count(), 0);
});

test('a data directory goes with its bytes to a node of another id', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start({ nodeId: 1 });
  const all = await fill(lives, first);
  await first.stop();
  const moved = join(lives.directory, 'moved');
  cpSync(lives.dataDir, moved, { recursive: true });
  const second = await lives.start({ nodeId: 7, dataDir: moved });
  assert.equal(await second.metric('s3accel_node_restored_trusted_blocks'), allBlocks);
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), 0);
});

test('metadata that may change is confirmed once after a restart, with its ETag and without its bytes', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first, 'strict');
  await first.stop();
  const second = await lives.start();
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), all.length);
  for (const { headers, status, bytesSent } of lives.s3.traffic.log) {
    assert.ok(headers.get('if-none-match'));
    assert.deepEqual({ status, bytesSent }, { status: 304, bytesSent: 0 });
  }
  await second.stop();
  const [changed] = all;
  const newer = version('newer', 5000);
  lives.s3.put('strict', changed!.key, newer);
  const third = await lives.start();
  await assertReads(third.client, 'strict', changed!.key, newer);
});

test('objects that were deleted through the cache stay deleted after a restart', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const [one] = await fill(lives, first);
  assert.equal((await first.client.delete('immutable', one!.key)).status, 204);
  await first.stop();
  const second = await lives.start();
  assert.equal((await second.client.get('immutable', one!.key)).status, 404);
});

test('a metadata log that is damaged or gone costs a request for each object that it knew', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const all = await fill(lives, first);
  await first.stop();
  const log = join(lives.dataDir, 'metadata-log');
  truncateSync(log, Math.floor(statSync(log).size / 2));
  const second = await lives.start();
  const objects = await second.metric('s3accel_node_restored_objects');
  assert.ok(objects > 0 && objects < all.length, `${objects} objects are known`);
  await assertReadsAll(second, all);
  assert.equal(lives.s3.traffic.count(), all.length - objects);
  await second.stop();
  rmSync(log);
  const third = await lives.start();
  assert.equal(await third.metric('s3accel_node_restored_objects'), 0);
  await assertReadsAll(third, all);
  await third.stop();
  await assertReadsAll(await lives.start(), all);
  assert.equal(lives.s3.traffic.count(), 0);
});

test('a crash in the middle of filling loses at most what was not recorded', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  const many = Array.from({ length: 40 }, (_, i) => ({
    bucket: 'immutable',
    key: `block-${i}`,
    bytes: version(`block-${i}`, 200_000 + i * 10_000),
  }));
  for (const { bucket, key, bytes } of many) lives.s3.put(bucket, key, bytes);
  await assertReadsAll(first, many.slice(0, 20));
  await first.holds(20);
  const reads = many.slice(20).map(({ bucket, key }) => first.client.get(bucket, key));
  await Promise.race(reads);
  await first.kill();
  await Promise.allSettled(reads);
  const second = await lives.start();
  assert.ok((await second.metric('s3accel_node_restored_blocks')) >= 20);
  await assertReadsAll(second, many);
  assert.equal(await second.metric('s3accel_node_verified_blocks_total', 'verdict="damaged"'), 0);
});

test('the table holds rows of 64 bytes, none of them for what was evicted', async (context) => {
  const lives = await Lives.begin(context);
  const first = await lives.start();
  for (let i = 0; i < 150; i++) {
    const bytes = version(`block-${i}`, mib);
    lives.s3.put('immutable', `block-${i}`, bytes);
    await assertReads(first.client, 'immutable', `block-${i}`, bytes);
  }
  await first.metricIs('s3accel_node_unrecorded_blocks', 0);
  await first.metricIs('s3accel_node_uncleared_rows', 0);
  const blocks = await first.metric('s3accel_node_blocks');
  await first.stop();
  const path = join(lives.dataDir, 'slots');
  const table = openSync(path, 'r');
  const row = new Uint8Array(64);
  let rows = 0;
  for (let at = 4096 + 64; at < statSync(path).size; at += 64) {
    readSync(table, row, 0, 64, at);
    if (row.some((byte) => byte !== 0)) rows++;
  }
  closeSync(table);
  assert.equal(rows, blocks);
});
