// Disks that aren't what they should be: at start a clear message and an exit code, while running a miss or a broken connection,
// never wrong bytes, and a process that lives.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort, program } from '../testing/programs.ts';
import { RawConnection } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, until } from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
import { version, warm } from '../testing/versions.ts';

const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-disk-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const mib = 1 << 20;

/** Starts the program on a node that can't start, and waits for its end. */
async function runToItsEnd(
  dataDir: string,
  capacity: string,
): Promise<{ status: number | null; text: string }> {
  const file = join(directory, 'node.toml');
  writeFileSync(
    file,
    `
[origin]
endpoint = "http://127.0.0.1:1"
region = "us-east-1"
access_key_id = "x"
secret_access_key = "y-y-y-y-y-y-y-y-y"
[cluster]
secret = "a secret of this test"
nodes = [{ id = 0, address = "127.0.0.1:${await freePort()}" }]
[node]
id = 0
data_dir = "${dataDir}"
[cache]
capacity_bytes = "${capacity}"
`,
  );
  const run = spawnSync(process.execPath, [program, file], { encoding: 'utf8', timeout: 30_000 });
  return { status: run.status, text: run.stdout + run.stderr };
}

test('a data directory that another process uses is refused by name', async () => {
  const rig = await startRig({ processes: 1 });
  try {
    const { status, text } = await runToItsEnd(rig.cluster.dataDir, '64MiB');
    assert.equal(status, 2, text);
    assert.match(text, /node\.data_dir = .*: another process uses it/);
    assert.ok(text.includes(rig.cluster.dataDir));
    rig.s3.put('bucket', 'key', 'still here');
    await warm(rig.client, 'bucket', 'key');
  } finally {
    await rig.stop();
  }
});

test('a data directory that can’t be made is refused by name', async () => {
  writeFileSync(join(directory, 'a-file'), '');
  for (const dataDir of [join(directory, 'a-file', 'data'), '/proc/s3-accelerator']) {
    const { status, text } = await runToItsEnd(dataDir, '64MiB');
    assert.ok(status === 1 || status === 2, `${status}: ${text}`);
    assert.ok(text.includes(dataDir), text);
    assert.doesNotMatch(text, /\n {4}at /, 'no stack trace');
  }
});

test('a capacity beyond the disk is refused, with what to change', async () => {
  const { status, text } = await runToItsEnd(join(directory, 'large'), '500TiB');
  assert.ok(status === 1 || status === 2, `${status}: ${text}`);
  assert.match(text, /capacity/);
  assert.doesNotMatch(text, /\n {4}at /, 'no stack trace');
});

for (const { name, processes } of arrangements) {
  for (const left of [0, 3 * mib + 12_345]) {
    test(`a slab cut to ${left} bytes while running costs hits, not bytes (${name})`, async () => {
      const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
      try {
        const sizes = [1000, 20_000, 50_000, 300_000, mib, 4 * mib, 9 * mib + 5];
        const objects = sizes.map((size) => ({
          key: `of-${size}`,
          bytes: version(`${size}`, size),
        }));
        for (const { key, bytes } of objects) {
          rig.s3.put('bucket', key, bytes);
          await warm(rig.client, 'bucket', key);
        }
        const slab = join(rig.cluster.dataDir, 'slab');
        const whole = statSync(slab).size;
        truncateSync(slab, left);
        assert.equal(statSync(slab).size, left);
        // Each block that is gone costs one answer at most: from then on it is fetched anew.
        let cut = -1;
        for (let round = 0; round < 15 && cut !== 0; round++) {
          cut = 0;
          for (const { key, bytes } of objects) {
            const read = await rig.client.get('bucket', key).catch(() => null);
            if (read === null || read.isCut) {
              cut++;
              const came = read?.body ?? Buffer.alloc(0);
              assert.ok(came.equals(bytes.subarray(0, came.length)), `${key}: wrong bytes, cut`);
            } else if (read.status === 200) {
              assert.ok(read.body.equals(bytes), `${key}: wrong bytes in round ${round}`);
            } else {
              cut++;
              assert.equal(read.status, 503);
            }
          }
        }
        for (const { key, bytes } of objects) {
          const read = await rig.client.get('bucket', key);
          assert.ok(read.body.equals(bytes), `${key} is read again`);
        }
        assert.equal(rig.cluster.node.child.exitCode, null);
        assert.equal(rig.cluster.gateway.child.exitCode, null);
        assert.match(rig.cluster.node.log(), /"fault":"slab-truncated"/);
        // Nothing is sent any more from what was lost: the file gets its length back, and blocks are stored again.
        await until('the slab is whole', () => statSync(slab).size === whole);
        for (const { key } of objects) await warm(rig.client, 'bucket', key);
        rig.s3.traffic.clear();
        for (const { key, bytes } of objects) {
          assert.ok((await rig.client.get('bucket', key)).body.equals(bytes), `${key} is stored`);
        }
        assert.equal(rig.s3.traffic.count(), 0);
        await assertNothingInUse(rig.cluster);
      } finally {
        await rig.stop();
      }
    });
  }

  test(`nothing follows an answer whose bytes are gone on one connection (${name})`, async () => {
    const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    try {
      // The last piece of this one is a few bytes, which are copied; behind it another answer is waiting.
      const [lost, next] = [version('lost', mib + 100), version('next', 1000)];
      rig.s3.put('bucket', 'lost', lost);
      rig.s3.put('bucket', 'next', next);
      await warm(rig.client, 'bucket', 'lost');
      await warm(rig.client, 'bucket', 'next');
      truncateSync(join(rig.cluster.dataDir, 'slab'), mib);
      const connection = await RawConnection.open(rig.client.port);
      const request = rig.client.bytesOf(getOf('bucket', 'lost'));
      connection.write(Buffer.concat([request, rig.client.bytesOf(getOf('bucket', 'next'))]));
      const read = await connection.answer().catch(() => null);
      if (read?.status === 200) {
        assert.ok(read.body.equals(lost.subarray(0, read.body.length)), 'bytes of the next answer');
        assert.equal(read.isCut, read.body.length < lost.length);
      }
      connection.close();
      await assertNothingInUse(rig.cluster);
    } finally {
      await rig.stop();
    }
  });
}
