// A disk that fails while the node runs: reads go on, bytes stay right, what can't be kept is dropped and said, and once the disk works
// again blocks are stored again. The program runs in this process, on files that fail when told to.
import assert from 'node:assert/strict';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { Running } from '../command-line.ts';
import { readConfig } from '../config/config.ts';
import { createLog } from '../log.ts';
import { start } from '../start/start.ts';
import { FailingFiles } from '../testing/failing-files.ts';
import { credentials, freePort } from '../testing/programs.ts';
import { until } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';
import { assertReads, version } from '../testing/versions.ts';

class Rig {
  readonly files = new FailingFiles();
  readonly s3: MemoryS3;
  readonly directory: string;
  #running: Running | null = null;
  #ports: readonly [number, number] = [0, 0];

  private constructor(s3: MemoryS3, directory: string) {
    this.s3 = s3;
    this.directory = directory;
  }

  static async begin(context: TestContext): Promise<Rig> {
    const s3 = await startMemoryS3({ buckets: ['bucket'] });
    const rig = new Rig(s3, mkdtempSync(join(tmpdir(), 's3-accelerator-failing-')));
    context.after(async () => {
      await rig.#running?.stop();
      await s3.close();
      rmSync(rig.directory, { recursive: true, force: true });
    });
    await rig.start();
    return rig;
  }

  get client(): S3Client {
    return new S3Client(this.#ports[0], credentials);
  }

  log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  async start(): Promise<void> {
    this.#ports = [await freePort(), await freePort()];
    const [gateway, admin] = this.#ports;
    const text = `
[origin]
endpoint = "http://127.0.0.1:${this.s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[node]
id = 0
data_dir = "${this.directory}/data"
scrub_interval_s = 0
[cache]
capacity_bytes = "64MiB"
[cache.default_policy]
immutable = true
admit_on_first_read = true
[gateway]
listen = "127.0.0.1:${gateway}"
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[admin]
listen = "127.0.0.1:${admin}"
`;
    const log = createLog('info', openSync(join(this.directory, 'log'), 'a'));
    const options = { wrapFiles: this.files.wrap };
    this.#running = await start(readConfig(text, 'test.toml').config, log, options);
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  async metric(name: string, label = ''): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#ports[1]}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  async metricIs(name: string, value: number): Promise<void> {
    await until(`${name} = ${value}`, async () => (await this.metric(name)) === value);
  }

  /** An object that S3 has and nobody read yet; reads it, and reads it again. */
  async readNew(key: string, size = 300_000): Promise<void> {
    this.s3.put('bucket', key, version(key, size));
    await this.read(key, size);
    await this.read(key, size);
  }

  async read(key: string, size = 300_000): Promise<void> {
    await assertReads(this.client, 'bucket', key, version(key, size));
  }
}

test('a slot that can’t be written costs its block, and the next one is stored', async (context) => {
  const rig = await Rig.begin(context);
  rig.files.fail('write-slab', 'EIO');
  await rig.readNew('a');
  assert.equal(await rig.metric('s3accel_node_blocks'), 0);
  assert.match(rig.log(), /"errno":"EIO","fault":"disk-write"/);
  rig.files.mend();
  await rig.readNew('b');
  await rig.metricIs('s3accel_node_blocks', 1);
});

test('after a sync of the slab that failed no block counts as durable that it was to cover', async (context) => {
  const rig = await Rig.begin(context);
  await rig.readNew('durable');
  await rig.metricIs('s3accel_node_blocks', 1);
  await until('it is recorded', async () => (await rig.metric('s3accel_node_rows_total')) === 1);
  rig.files.fail('sync-slab');
  await rig.readNew('lost');
  await until('the sync failed', async () => {
    return (await rig.metric('s3accel_node_lost_blocks_total', 'unsynced')) === 1;
  });
  assert.match(rig.log(), /"fault":"slab-sync"/);
  await rig.metricIs('s3accel_node_blocks', 1);
  await rig.read('lost');
  rig.files.mend();
  await until('blocks are stored again', async () => {
    await rig.read('lost');
    return (await rig.metric('s3accel_node_blocks')) === 2;
  });
  await rig.stop();
  await rig.start();
  assert.equal(await rig.metric('s3accel_node_restored_trusted_blocks'), 2);
  rig.s3.traffic.clear();
  await rig.read('durable');
  await rig.read('lost');
  assert.equal(rig.s3.traffic.count(), 0);
});

test('while the slot table can’t be written nothing is stored, and reads go on', async (context) => {
  const rig = await Rig.begin(context);
  rig.files.fail('write-table', 'ENOSPC');
  await rig.readNew('first');
  await until('the sync failed', () => /"errno":"ENOSPC","fault":"table-sync"/.test(rig.log()));
  await rig.readNew('second');
  await rig.read('first');
  assert.equal(await rig.metric('s3accel_node_rows_total'), 0);
  assert.ok((await rig.metric('s3accel_limits_reached_total', 'node_journal')) > 0);
  rig.files.mend();
  await until('the rows that waited are written', async () => {
    return (await rig.metric('s3accel_node_rows_total', 'recorded')) >= 1;
  });
  await until('blocks are stored again', async () => {
    await rig.read('second');
    return (await rig.metric('s3accel_node_blocks')) === 2;
  });
});

test('a node whose table can’t be written when it ends isn’t trusted when it is back', async (context) => {
  const rig = await Rig.begin(context);
  await rig.readNew('a');
  await until('it is recorded', async () => (await rig.metric('s3accel_node_rows_total')) === 1);
  rig.files.fail('write-table', 'EROFS');
  await rig.stop();
  assert.match(rig.log(), /the next start verifies what is stored/);
  rig.files.mend();
  await rig.start();
  assert.equal(await rig.metric('s3accel_node_restored_blocks'), 1);
  assert.equal(await rig.metric('s3accel_node_restored_trusted_blocks'), 0);
  await rig.read('a');
});

test('blocks of an earlier run that can’t be verified are filled again', async (context) => {
  const rig = await Rig.begin(context);
  await rig.readNew('a');
  await rig.readNew('b');
  await until('both are recorded', async () => (await rig.metric('s3accel_node_rows_total')) === 2);
  rig.files.fail('write-table');
  await rig.stop();
  rig.files.mend();
  await rig.start();
  rig.files.fail('read-slab');
  await rig.read('a');
  rig.files.mend();
  rig.files.fail('read-table');
  await rig.read('b');
  assert.equal(await rig.metric('s3accel_node_verified_blocks_total', 'unreadable'), 2);
  assert.match(rig.log(), /"fault":"disk-read"/);
  rig.files.mend();
  await rig.read('a');
  await rig.read('b');
  await rig.metricIs('s3accel_node_blocks', 2);
});

test('a metadata log that can’t be written is said, and costs no answer', async (context) => {
  const rig = await Rig.begin(context);
  rig.files.fail('log', 'ENOSPC');
  await rig.readNew('a');
  await until('it is said', () => /"errno":"ENOSPC","fault":"metadata-log"/.test(rig.log()));
  rig.files.mend();
  // It is written anew at the next look, since what couldn't be appended is missing in it.
  await until('it is written anew', () => {
    return readFileSync(join(rig.directory, 'data', 'metadata-log')).length > 64;
  });
});
