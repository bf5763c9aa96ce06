// A start that ends before the process has started, because something is in its way or because it is asked to stop: all is given back,
// and the blocks of earlier runs are as good as they were. The program runs in this process.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { pino } from 'pino';
import type { Running } from '../command-line.ts';
import { readConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { credentials, freePort } from '../testing/programs.ts';
import { until } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';
import { start } from './start.ts';

/** Listens on a port of the loopback until it is closed. */
async function listener(port: number, onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onSocket);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

suite('a start that ends early', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-early-'));
  let s3: MemoryS3;
  let lines: string[] = [];
  let port = 0;
  let admin = 0;
  let links = 0;

  before(async () => {
    s3 = await startMemoryS3({ buckets: ['bucket'] });
    s3.put('bucket', 'key', Buffer.from('bytes'));
    [port, admin, links] = await Promise.all([freePort(), freePort(), freePort()]);
    // Two lives ago something was stored.
    const running = await begin();
    const client = new S3Client(port, credentials);
    await until('it is ready', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok);
    assert.equal((await client.get('bucket', 'key')).status, 200);
    await until('it is stored', async () => (await metric('s3accel_node_blocks')) === 1);
    await running.stop();
  });
  after(async () => {
    await s3.close();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    lines = [];
  });

  /** A log that `onLine` hears as it is written. */
  const logTo = (onLine: (line: string) => void = () => undefined): Log =>
    pino(
      { level: 'info' },
      {
        write: (line: string) => {
          lines.push(line);
          onLine(line);
        },
      },
    );
  const begin = (
    { more = '', gateway = 'loops = 1', log = logTo() } = {},
    signal = new AbortController().signal,
  ): Promise<Running> => {
    const text = `
[origin]
endpoint = "http://127.0.0.1:${s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[cluster]
secret = "a secret that only these tests share"
nodes = [{ id = 0, address = "127.0.0.1:${links}" }]
[node]
id = 0
data_dir = "${directory}/data"
scrub_interval_s = 0
[cache]
capacity_bytes = "64MiB"
[cache.default_policy]
immutable = true
admit_on_first_read = true
[gateway]
listen = "127.0.0.1:${port}"
${gateway}
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[admin]
listen = "127.0.0.1:${admin}"
${more}
`;
    return start(readConfig(text, 'test.toml').config, log, { signal });
  };
  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }
  /** Starts once more: the directory is free, as are the ports, and the block is trusted. */
  async function assertAsBefore(): Promise<void> {
    lines = [];
    const running = await begin();
    try {
      const restored = lines.find((line) => line.includes('blocks of earlier runs are back'));
      assert.match(restored ?? '', /"restored":1,"trusted":1/);
      assert.equal(await metric('s3accel_node_blocks'), 1);
    } finally {
      await running.stop();
    }
  }

  test('because the admin port is taken: before the node’s run has begun', async () => {
    const taker = await listener(admin, (socket) => socket.destroy());
    try {
      await assert.rejects(begin(), { code: 'EADDRINUSE' });
      assert.ok(!lines.some((line) => line.includes('preparing the slab')));
    } finally {
      await close(taker);
    }
    await assertAsBefore();
  });

  test('because the port for links is taken: the data directory is free again', async () => {
    const taker = await listener(links, (socket) => socket.destroy());
    try {
      await assert.rejects(begin(), /EADDRINUSE|in use/i);
    } finally {
      await close(taker);
    }
    await assertAsBefore();
  });

  test('because it is asked to stop while the table is read', async () => {
    const stopping = new AbortController();
    const log = logTo((line) => {
      if (line.includes('preparing the slab')) stopping.abort();
    });
    await assert.rejects(begin({ log }, stopping.signal), { name: 'AbortError' });
    assert.ok(!lines.some((line) => line.includes('blocks of earlier runs are back')));
    await assertAsBefore();
  });

  test('because it is asked to stop while a service keeps it waiting: before the directory is opened', async () => {
    const stopping = new AbortController();
    const sockets: Socket[] = [];
    const silent = await listener(0, (socket) => {
      sockets.push(socket);
      stopping.abort();
    });
    const address = silent.address();
    assert.ok(address !== null && typeof address === 'object');
    const more = `
[metadata]
url = "http://127.0.0.1:${address.port}"
token = "the-token-of-this-test"
`;
    try {
      await assert.rejects(begin({ more }, stopping.signal), { name: 'AbortError' });
      assert.ok(!lines.some((line) => line.includes('preparing the slab')));
    } finally {
      for (const socket of sockets) socket.destroy();
      await close(silent);
    }
    await assertAsBefore();
  });

  test('because it is asked to stop while further loops come up', async () => {
    const stopping = new AbortController();
    const log = logTo((line) => {
      // Once their threads are there, and have hardly begun.
      if (line.includes('listening for clients')) setTimeout(() => stopping.abort(), 50);
    });
    const gateway = 'loops = 2';
    await assert.rejects(begin({ gateway, log }, stopping.signal));
    await assertAsBefore();
  });
});
