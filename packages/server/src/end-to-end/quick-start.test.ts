// What the README promises somebody who tries it: the first read streams, the second stores, the third comes from disk.
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { credentials, freePort } from '../testing/programs.ts';
import { arrangements, startRig, until, type Rig } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';

const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-quick-start-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const root = join(import.meta.dirname, '../../../..');
const hasCurl =
  spawnSync('curl', ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--version']).status === 0;

const blockReads = (rig: Rig, source: string): Promise<number> =>
  rig.cluster.metric('node', 's3accel_node_block_reads_total', `source="${source}"`);

/** Reads an object three times and asserts where each read came from. */
async function assertThreeReads(rig: Rig, size: number): Promise<void> {
  const key = `object-of-${size}`;
  rig.s3.putSynthetic('bucket', key, size);
  const expected = rig.s3.get('bucket', key)?.bytes;
  for (const read of ['first', 'second', 'third'] as const) {
    rig.s3.traffic.clear();
    const before = await blockReads(rig, 'disk');
    const { status, body } = await rig.client.get('bucket', key);
    assert.equal(status, 200);
    assert.ok(expected !== undefined && body.equals(expected));
    assert.equal(rig.s3.traffic.count() > 0, read !== 'third', `${read} read of ${size} bytes`);
    // The second read of a long object may meet blocks at its end that it has just had stored.
    const fromDisk = (await blockReads(rig, 'disk')) - before;
    if (read === 'first') assert.equal(fromDisk, 0, 'nothing is stored yet');
    if (read === 'third') assert.ok(fromDisk > 0, 'the third read came from disk');
    // A block is read from disk once its bytes are in the file.
    await until('what is being stored is stored', async () => {
      return (await rig.cluster.metric('node', 's3accel_node_slots_reserved')) === 0;
    });
  }
}

for (const { name, processes } of arrangements) {
  test(`three reads: from S3, stored, from disk (${name})`, async () => {
    const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    try {
      for (const size of [1, 4096, 40_000, 1 << 20, 5 * (1 << 20) + 17]) {
        await assertThreeReads(rig, size);
      }
      const metrics = await rig.cluster.metrics('node');
      assert.match(metrics, /s3accel_node_block_reads_total\{source="disk"\} [1-9]/);
    } finally {
      await rig.stop();
    }
  });
}

/** config/local.toml, with ports that are free and a data directory of the test's own. */
async function localConfig(): Promise<{
  file: string;
  gateway: number;
  admin: number;
  s3: number;
}> {
  const [s3, node, gateway, admin] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const file = join(directory, 'local.toml');
  const { accessKeyId, secretAccessKey } = credentials;
  writeFileSync(
    file,
    `
[origin]
endpoint = "http://127.0.0.1:${s3}"
region = "us-east-1"
access_key_id = "${accessKeyId}"
secret_access_key = "${secretAccessKey}"
[cluster]
secret = "a secret of this test"
nodes = [{ id = 0, address = "127.0.0.1:${node}" }]
[node]
id = 0
data_dir = "${directory}/data"
[cache]
capacity_bytes = "64MiB"
[[clients]]
access_key_id = "${accessKeyId}"
secret_access_key = "${secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[gateway]
listen = "127.0.0.1:${gateway}"
[admin]
listen = "127.0.0.1:${admin}"
`,
  );
  return { file, gateway, admin, s3 };
}

interface Started {
  readonly said: () => string;
  readonly hasEnded: () => boolean;
  stop(): Promise<number | null>;
}

function runScript(...args: string[]): Started {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, INIT_CWD: directory },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    said: () => said,
    hasEnded: () => child.exitCode !== null,
    stop: async () => {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 30_000);
      const code = await ended;
      clearTimeout(killer);
      return code;
    },
  };
}

test('npm start and the embedded S3 start, serve what the README shows, and stop', async () => {
  const { file, gateway, admin, s3 } = await localConfig();
  const embedded = runScript('packages/memory-s3/src/main.ts', '--port', String(s3));
  const accelerator = runScript('scripts/start.ts', file);
  try {
    await until('npm start says something final', () => {
      return accelerator.said().includes('Ready.') || accelerator.hasEnded();
    });
    assert.ok(!accelerator.hasEnded(), accelerator.said());
    assert.ok(accelerator.said().includes(`http://127.0.0.1:${gateway}`));
    assert.ok(!accelerator.said().includes(credentials.secretAccessKey), 'secrets stay unsaid');
    const client = new S3Client(gateway, credentials);
    assert.equal((await client.call({ method: 'PUT', target: '/demo' })).status, 200);
    const body = Buffer.from('what the README shows');
    assert.equal((await client.put('demo', 'README.md', body)).status, 200);
    for (let read = 1; read <= 3; read++) {
      assert.ok((await client.get('demo', 'README.md')).body.equals(body));
    }
    if (hasCurl) await assertCurlReads(`http://127.0.0.1:${gateway}/demo/README.md`, body);
    // The block is on its way to the disk meanwhile, and served from memory: a slow disk takes longer than three reads.
    await until('a read comes from disk', async () => {
      assert.ok((await client.get('demo', 'README.md')).body.equals(body));
      const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
      return /s3accel_node_block_reads_total\{source="disk"\} [1-9]/.test(metrics);
    });
    assert.equal(await accelerator.stop(), 0, accelerator.said());
  } finally {
    await accelerator.stop();
    await embedded.stop();
  }
  await assert.rejects(fetch(`http://127.0.0.1:${admin}/healthz`), 'nothing listens any more');
});

async function assertCurlReads(url: string, body: Buffer): Promise<void> {
  const { accessKeyId, secretAccessKey } = credentials;
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--fail', '--max-time', '20'],
    ...['--user', `${accessKeyId}:${secretAccessKey}`, '--aws-sigv4', 'aws:amz:us-east-1:s3'],
    ...['-H', 'x-amz-content-sha256: UNSIGNED-PAYLOAD', url],
  ]);
  assert.equal(stdout, body.toString());
}
