// Seen from outside with strace: the bytes of large hits stay in the kernel. The node sends them out of the slab with sendfile, a
// gateway of its own process moves them with splice, and no other call of either carries more than a small answer.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { agreedRing, NodeCluster } from '../testing/node-cluster.ts';
import { arrangements, startRig, until } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { version, warm } from '../testing/versions.ts';

const mib = 1 << 20;
const objectBytes = 4 * mib;
const reads = 24;
const most = 48 * 1024;

const copying =
  'read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,recvfrom,sendto,recvmsg,sendmsg';

function assertStrace(): void {
  const isThere = (): boolean => spawnSync('strace', ['--version']).status === 0;
  if (isThere()) return;
  if (process.getuid?.() === 0) {
    spawnSync('apt-get', ['update'], { stdio: 'ignore', timeout: 120_000 });
    spawnSync('apt-get', ['install', '-y', 'strace'], { stdio: 'ignore', timeout: 120_000 });
  }
  assert.ok(isThere(), 'this test needs strace (Debian: apt-get install strace)');
}

interface Call {
  readonly name: string;
  readonly text: string;
  /** What it returned: bytes moved. */
  readonly moved: number;
}

interface Trace {
  /** Stops watching; all calls that moved bytes. */
  stop(): Promise<Call[]>;
}

/** Watches every thread of a process. */
async function trace(pid: number, file: string): Promise<Trace> {
  const child = spawn(
    'strace',
    [
      '-f',
      '-y',
      '-s',
      '0',
      '-e',
      `trace=sendfile,splice,${copying}`,
      '-o',
      file,
      '-p',
      String(pid),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('strace to be attached', () => {
    assert.equal(child.exitCode, null, said);
    return said.includes('attached');
  });
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      return readFileSync(file, 'utf8').split('\n').flatMap(callOf);
    },
  };
}

/** One line of strace: `PID name(…) = bytes`, or the end of a call that another thread interrupted. */
function callOf(line: string): Call[] {
  const match = /^\d+\s+(?:<\.\.\. (\w+) resumed>|(\w+)\().* = (\d+)$/.exec(line);
  if (match === null) return [];
  return [{ name: match[1] ?? match[2] ?? '', text: line, moved: Number(match[3]) }];
}

const sum = (calls: readonly Call[], ...names: readonly string[]): number =>
  calls.filter(({ name }) => names.includes(name)).reduce((all, { moved }) => all + moved, 0);

function assertNothingCopied(calls: readonly Call[], who: string): void {
  const copied = calls.filter(({ name }) => name !== 'sendfile' && name !== 'splice');
  for (const { moved, text } of copied) assert.ok(moved <= most, `${who}: ${text}`);
  const all = copied.reduce((bytes, { moved }) => bytes + moved, 0);
  assert.ok(all < (reads * objectBytes) / 10, `${who} copied ${all} bytes in all`);
}

interface Watched {
  readonly s3: MemoryS3;
  readonly client: S3Client;
  readonly nodes: readonly number[];
  /** null when a node's process is the gateway too. */
  readonly gateway: number | null;
}

/** Reads hits while every process is watched. */
async function assertHitsStayInTheKernel({ s3, client, nodes, gateway }: Watched): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-strace-'));
  try {
    const objects = [0, 1, 2, 3].map((index) => version(`object-${index}`, objectBytes));
    for (const [index, bytes] of objects.entries()) {
      s3.put('bucket', `object-${index}`, bytes);
      await warm(client, 'bucket', `object-${index}`);
    }
    const watch = (pid: number): Promise<Trace> => trace(pid, join(directory, String(pid)));
    const nodeTraces = await Promise.all(nodes.map(watch));
    const gatewayTrace = gateway === null ? null : await watch(gateway);
    for (let read = 0; read < reads; read++) {
      const { body } = await client.get('bucket', `object-${read % 4}`);
      assert.ok(body.equals(objects[read % 4]!));
    }
    const nodeCalls = (await Promise.all(nodeTraces.map((one) => one.stop()))).flat();
    const sent = sum(nodeCalls, 'sendfile');
    assert.ok(sent >= reads * objectBytes * 0.95, `the nodes sent ${sent} bytes with sendfile`);
    const files = nodeCalls.filter((call) => call.name === 'sendfile' && call.text.includes('<'));
    assert.ok(files.every(({ text }) => !text.includes('sendfile(') || text.includes('/slab>')));
    assertNothingCopied(nodeCalls, 'a node');
    if (gatewayTrace === null) return;
    const gatewayCalls = await gatewayTrace.stop();
    const moved = sum(gatewayCalls, 'splice');
    // Into the pipe, and out of it.
    assert.ok(moved >= 2 * reads * objectBytes * 0.9, `the gateway spliced ${moved} bytes`);
    assertNothingCopied(gatewayCalls, 'the gateway');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

for (const { name, processes } of arrangements) {
  test(`hits of 4 MiB stay in the kernel (${name})`, { timeout: 300_000 }, async (context) => {
    assertStrace();
    const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    context.after(() => rig.stop());
    const { node, gateway } = rig.cluster;
    await assertHitsStayInTheKernel({
      ...rig,
      nodes: [node.pid],
      gateway: processes === 2 ? gateway.pid : null,
    });
  });
}

test(
  'hits of 4 MiB stay in the kernel (a gateway and three nodes)',
  { timeout: 300_000 },
  async (context) => {
    assertStrace();
    const cluster = await NodeCluster.begin();
    context.after(() => cluster.stop());
    const names = [0, 1, 2];
    const nodes = await Promise.all(names.map((id) => cluster.startNode(id, { names })));
    const { gateway, client } = await cluster.startGateway({ names });
    await agreedRing([...nodes, gateway], 3);
    await assertHitsStayInTheKernel({
      s3: cluster.s3,
      client,
      nodes: nodes.map(({ running }) => running.pid),
      gateway: gateway.running.pid,
    });
  },
);
