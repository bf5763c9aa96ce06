// Seen from outside with strace: the bytes of large hits stay in the kernel. The node sends them out of the slab with sendfile, a
// gateway of its own process moves them with splice, and no other call of either carries more than a small answer.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { arrangements, startRig, until } from '../testing/rig.ts';
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

for (const { name, processes } of arrangements) {
  test(`hits of 4 MiB stay in the kernel (${name})`, { timeout: 300_000 }, async () => {
    assertStrace();
    const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-strace-'));
    const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    try {
      const objects = [0, 1, 2, 3].map((index) => version(`object-${index}`, objectBytes));
      for (const [index, bytes] of objects.entries()) {
        rig.s3.put('bucket', `object-${index}`, bytes);
        await warm(rig.client, 'bucket', `object-${index}`);
      }
      const { node, gateway } = rig.cluster;
      const traces = [await trace(node.pid, join(directory, 'node'))];
      if (processes === 2) traces.push(await trace(gateway.pid, join(directory, 'gateway')));
      for (let read = 0; read < reads; read++) {
        const { body } = await rig.client.get('bucket', `object-${read % 4}`);
        assert.ok(body.equals(objects[read % 4]!));
      }
      const [nodeCalls = [], gatewayCalls] = await Promise.all(traces.map((one) => one.stop()));
      const sent = sum(nodeCalls, 'sendfile');
      assert.ok(sent >= reads * objectBytes * 0.95, `the node sent ${sent} bytes with sendfile`);
      const files = nodeCalls.filter((call) => call.name === 'sendfile' && call.text.includes('<'));
      assert.ok(files.every(({ text }) => !text.includes('sendfile(') || text.includes('/slab>')));
      assertNothingCopied(nodeCalls, 'the node');
      if (gatewayCalls !== undefined) {
        const moved = sum(gatewayCalls, 'splice');
        // Into the pipe, and out of it.
        assert.ok(moved >= 2 * reads * objectBytes * 0.9, `the gateway spliced ${moved} bytes`);
        assertNothingCopied(gatewayCalls, 'the gateway');
      }
    } finally {
      await rig.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
