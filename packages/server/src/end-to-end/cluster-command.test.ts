// scripts/cluster as somebody uses it who tries the system out: start, status, kill, add, leave, stop.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { isReady, isRunning, signal, startPart } from '../../../../scripts/local-cluster/part.ts';
import { credentials } from '../testing/programs.ts';
import { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const script = join(import.meta.dirname, '../../../../scripts/cluster.ts');
const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-cluster-command-'));
const folder = join(directory, 'cluster');

/** Runs the command; its output. @throws when it fails, with what it said. */
async function cluster(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    ...args,
    '--dir',
    folder,
  ]);
  return stdout;
}

after(async () => {
  await cluster('stop');
  rmSync(directory, { recursive: true, force: true });
});

/** The columns of a process in the status. */
function rowOf(status: string, name: string): string[] {
  const line = status.split('\n').find((row) => row.startsWith(`${name} `));
  assert.ok(line !== undefined, status);
  return line.trim().split(/\s+/);
}

test('bad arguments are told with the usage, and nothing is started', () => {
  const bad: readonly (readonly [string[], RegExp])[] = [
    [[], /which command\?/],
    [['begin'], /begin: no such command/],
    [['constructor'], /constructor: no such command/],
    [['start'], /start: how many nodes\?/],
    [['start', '0'], /start 0: must be a whole number from 1 to 100/],
    [['start', '3', '4'], /start: too many words/],
    [['start', 'three'], /start three: must be a whole number from 1 to 100/],
    [['start', '3', '--port-base', '65500'], /--port-base 65500: must be a whole number/],
    [['stop', '1'], /stop: too many words/],
    [['stop', '--metadata'], /stop: --metadata belongs to start/],
    [['add', '--hot-threshold', '5'], /add: --hot-threshold belongs to start/],
    [['start', '3', '--hot-threshold', '0'], /--hot-threshold 0: must be a whole number/],
    [['kill'], /kill: which node\?/],
    [['leave', '-1'], /There is no option -1\./],
    [['status', '--colour'], /^scripts\/cluster: There is no option --colour\.$/m],
  ];
  for (const [args, told] of bad) {
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, told);
    assert.match(stderr, /^Usage: scripts\/cluster start N/m);
  }
});

test('what can not become ready any more is not waited for', async () => {
  const log = join(directory, 'sleeper.log');
  const part = startPart('sleeper', ['-e', 'setTimeout(() => {}, 60_000)'], log, 1);
  try {
    let asked = 0;
    assert.equal(await isReady(part, 50_000, () => ++asked < 2), false);
    assert.equal(asked, 2);
    assert.ok(isRunning(part));
  } finally {
    signal(part, 'SIGKILL');
  }
});

/**
 * The command takes some hundreds of ports from its base on. They lie below those that the kernel hands out to everybody, so that
 * tests beside this one hardly ever have one of them.
 */
async function startOf(
  nodes: number,
  ...flags: readonly string[]
): Promise<{ port: number; told: string }> {
  for (let attempt = 1; ; attempt++) {
    const port = 12_000 + 500 * randomInt(40);
    try {
      const count = String(nodes);
      return { port, told: await cluster('start', count, '--port-base', String(port), ...flags) };
    } catch (error) {
      const isTaken = /is taken|EADDRINUSE|another process listens there/.test(String(error));
      if (!isTaken || attempt === 10) throw error;
      await cluster('stop');
    }
  }
}

test('a cluster of two starts, loses a node, gets it back, and stops', async () => {
  await assert.rejects(cluster('status'), /nothing runs: scripts\/cluster start N/);
  const { port, told } = await startOf(2, '--hot-threshold', '50');
  assert.match(told, new RegExp(`Ready at http://127\\.0\\.0\\.1:${port}\\.`));
  await assert.rejects(cluster('start', '2', '--port-base', String(port)), /it runs already/);
  assert.match(readFileSync(join(folder, 'node-1.toml'), 'utf8'), /^hot_threshold = 50$/m);

  const client = new S3Client(port, credentials);
  const objects = Array.from({ length: 8 }, (_, at) => version(`object-${at}`, 100_000));
  const read = async (): Promise<void> => {
    for (const [at, bytes] of objects.entries()) {
      const { body } = await client.get('demo', `object-${at}`);
      assert.ok(body.equals(bytes), `object-${at}`);
    }
  };
  for (const [at, bytes] of objects.entries()) {
    assert.equal((await client.put('demo', `object-${at}`, bytes)).status, 200);
  }
  await read();

  const before = await cluster('status');
  const [, , , ring, members] = rowOf(before, 'gateway');
  assert.equal(members, '2');
  for (const name of ['node-0', 'node-1']) assert.equal(rowOf(before, name)[3], ring);

  assert.match(await cluster('kill', '1'), /node 1 is dead/);
  assert.equal(rowOf(await cluster('status'), 'node-1')[2], 'ended');
  await read();
  await assert.rejects(cluster('kill', '1'), /node 1 does not run/);
  assert.match(await cluster('add', '1'), /node 1 has joined/);
  assert.equal(rowOf(await cluster('status'), 'node-1')[3], ring, 'it has its place again');

  assert.match(await cluster('leave', '0'), /node 0 has left the ring/);
  const after = await cluster('status');
  assert.equal(rowOf(after, 'gateway')[4], '1');
  assert.equal(rowOf(after, 'node-0')[2], 'left');
  await assert.rejects(cluster('leave', '0'), /node 0 has left already/);
  await assert.rejects(cluster('leave', '1'), /it is the last node/);
  await read();
  assert.equal(await cluster('stop'), 'stopped\n');
  assert.equal(await cluster('stop'), 'nothing runs\n');

  // What an earlier cluster left behind stays until another really starts.
  const occupier = createServer();
  await new Promise<void>((resolve) => occupier.listen(port, '127.0.0.1', resolve));
  try {
    await assert.rejects(
      cluster('start', '1', '--port-base', String(port)),
      new RegExp(`port ${port} is taken`),
    );
  } finally {
    occupier.close();
  }
  assert.ok(existsSync(join(folder, 'node-1')));
});

test('a cluster on a metadata service knows its client and its origin from there', async () => {
  const { port } = await startOf(1, '--metadata');
  const client = new S3Client(port, credentials);
  assert.equal((await client.put('demo', 'key', 'bytes')).status, 200);
  assert.equal((await client.get('demo', 'key')).body.toString(), 'bytes');
  assert.equal(rowOf(await cluster('status'), 'metadata')[2], 'runs');
  for (const name of ['gateway', 'node-0']) {
    const text = readFileSync(join(folder, `${name}.toml`), 'utf8');
    assert.doesNotMatch(text, /secret_access_key/);
  }
  assert.equal(await cluster('stop'), 'stopped\n');
});
