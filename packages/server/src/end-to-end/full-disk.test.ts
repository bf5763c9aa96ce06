// Real file systems that are full or read-only. They are mounted in memory for the test, which only root may do.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Lives } from '../testing/lives.ts';
import { until } from '../testing/rig.ts';
import { assertReads, version } from '../testing/versions.ts';

/** Mounts a file system of so many bytes; false when that isn't allowed. */
function mounted(directory: string, bytes: number): boolean {
  const options = ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', directory];
  return spawnSync('mount', options).status === 0;
}

function mayMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-mount-'));
  const may = mounted(directory, 65536);
  if (may) spawnSync('umount', [directory]);
  rmSync(directory, { recursive: true });
  return may;
}

const skip = mayMount() ? false : 'only root may mount a file system';

function smallDisk(context: TestContext, bytes: number): string {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-mount-'));
  assert.ok(mounted(directory, bytes));
  context.after(() => {
    spawnSync('umount', ['-l', directory]);
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

test(
  'a disk that fills up costs what is stored, never a read, until there is room',
  { skip },
  async (context) => {
    const disk = smallDisk(context, 80 << 20);
    const lives = await Lives.begin(context);
    const life = await lives.start({ dataDir: join(disk, 'data') });
    const { bavail, bsize } = statfsSync(disk);
    const filler = join(disk, 'filler');
    writeFileSync(filler, new Uint8Array(bavail * bsize));
    assert.equal(statfsSync(disk).bavail, 0);
    const put = (key: string): Buffer => {
      const bytes = version(key, 200_000);
      lives.s3.put('immutable', key, bytes);
      return bytes;
    };
    // Rows beyond the table's first page have no place.
    for (let i = 0; i < 20; i++) {
      const bytes = put(`key-${i}`);
      await assertReads(life.client, 'immutable', `key-${i}`, bytes);
      await assertReads(life.client, 'immutable', `key-${i}`, bytes);
    }
    await until('it is said', () => /"errno":"ENOSPC","fault":"table-sync"/.test(life.log()));
    assert.equal(await life.metric('s3accel_node_rows_total'), 0);
    unlinkSync(filler);
    await until('rows are written', async () => {
      return (await life.metric('s3accel_node_rows_total', 'recorded')) > 0;
    });
    const bytes = put('last');
    const before = await life.metric('s3accel_node_blocks');
    await until('blocks are stored again', async () => {
      await assertReads(life.client, 'immutable', 'last', bytes);
      return (await life.metric('s3accel_node_blocks')) > before;
    });
    await life.stop();
  },
);

test('a file system that is read-only is refused, with what to do', { skip }, async (context) => {
  const disk = smallDisk(context, 80 << 20);
  const lives = await Lives.begin(context);
  const dataDir = join(disk, 'data');
  await (await lives.start({ dataDir })).stop();
  assert.equal(spawnSync('mount', ['-o', 'remount,ro', disk]).status, 0);
  await assert.rejects(lives.start({ dataDir }), /read-only/);
  assert.equal(spawnSync('mount', ['-o', 'remount,rw', disk]).status, 0);
  await (await lives.start({ dataDir })).stop();
});
