// Several loops of one gateway: they share the connections and what was written, and live and end as one process.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, suite, test } from 'node:test';
import { RawConnection } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, until, type Rig } from '../testing/rig.ts';
import { getOf, S3Client } from '../testing/s3-client.ts';
import { pathOf } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

const loops = 3;
/** So many that the kernel hands some to every loop, but once in ten million runs. */
const connections = 40;

const policies = `
[cache.buckets.immutable]
immutable = true
[cache.buckets.short]
ttl_ms = 300
[cache.buckets.long]
ttl_ms = 60000
[cache.buckets.strict]
ttl_ms = 0
`;
const buckets = ['immutable', 'short', 'long', 'strict'];

/** Connections that stay: each belongs to one loop. */
async function open(port: number): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: connections }, () => RawConnection.open(port)));
}

/** Sockets that listen at a local port, in any state but closed. */
function listeners(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address === local && state === '0A').length;
}

const withAlone = [
  ...arrangements,
  { name: 'a process of its own', processes: 1, isAlone: true },
] as const;

for (const { name, ...arrangement } of withAlone) {
  suite(`several loops in ${name}`, () => {
    let rig: Rig;
    let clients: RawConnection[];
    before(async () => {
      const gateway = 'metadata_ttl_ms = 60000';
      rig = await startRig({ ...arrangement, loops, cache: policies, buckets, gateway });
      clients = await open(rig.cluster.gatewayPort);
    });
    after(async () => {
      for (const client of clients) client.close();
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });

    const read = async (client: RawConnection, bucket: string, key: string): Promise<Buffer> => {
      client.write(rig.client.bytesOf(getOf(bucket, key)));
      const { status, body } = await client.answer();
      assert.equal(status, 200);
      return body;
    };

    test('each loop listens, serves connections, and counts into the same metrics', async () => {
      const { cluster } = rig;
      assert.equal(listeners(cluster.gatewayPort), loops);
      assert.equal(await cluster.metric('gateway', 's3accel_gateway_loops'), loops);
      assert.equal(await cluster.metric('gateway', 's3accel_gateway_connections'), connections);
      const bytes = version('spread', 50_000);
      await rig.direct.put('immutable', 'spread', bytes);
      const counted = (): Promise<number> =>
        cluster.metric(
          'gateway',
          's3accel_gateway_requests_total',
          'operation="GetObject",status="200"',
        );
      const before = await counted();
      for (const client of clients)
        assert.deepEqual(await read(client, 'immutable', 'spread'), bytes);
      assert.equal((await counted()) - before, connections);
      // Each loop asked once, and keeps it for itself.
      assert.equal(await cluster.metric('gateway', 's3accel_gateway_metadata_entries'), loops);
    });

    test('a write by way of one loop is seen by the next read of every other', async () => {
      for (let round = 0; round < 100; round++) {
        const bucket = buckets[round % buckets.length]!;
        // Writing over an immutable object breaks the promise that its bucket makes.
        const key = bucket === 'immutable' ? `key-${round}` : 'key';
        const bytes = version(`round ${round}`, round % 3 === 0 ? 100_000 : 100);
        const writer = clients[round % connections]!;
        const body = { method: 'PUT', target: pathOf(bucket, key), body: bytes };
        writer.write(rig.client.bytesOf(body));
        assert.equal((await writer.answer()).status, 200);
        const readers = [1, 2, 3, 5, 8, 13, 21, 34].map(
          (further) => clients[(round + further) % connections]!,
        );
        for (const found of await Promise.all(readers.map((one) => read(one, bucket, key)))) {
          assert.ok(found.equals(bytes), `round ${round} in ${bucket}`);
        }
      }
    });

    test('a delete by way of one loop is seen by every other', async () => {
      for (let round = 0; round < 12; round++) {
        const key = `gone-${round}`;
        await rig.direct.put('long', key, version('there', 100));
        for (const client of clients.slice(0, 20)) await read(client, 'long', key);
        const remover = clients[round]!;
        remover.write(rig.client.bytesOf({ method: 'DELETE', target: pathOf('long', key) }));
        assert.equal((await remover.answer()).status, 204);
        for (const client of clients.slice(20)) {
          client.write(rig.client.bytesOf(getOf('long', key)));
          assert.equal((await client.answer()).status, 404);
        }
      }
    });
  });
}

test('the limit of connections holds for all loops together', async () => {
  const rig = await startRig({ processes: 1, loops, gateway: `max_connections = ${connections}` });
  try {
    const clients = await open(rig.cluster.gatewayPort);
    const served = (): Promise<number> =>
      rig.cluster.metric('gateway', 's3accel_gateway_connections');
    await until('all are accepted', async () => (await served()) === connections);
    const refused = await rig.client.get('bucket', 'key');
    assert.equal(refused.status, 503);
    clients[0]!.close();
    await until('one is gone', async () => (await served()) === connections - 1);
    assert.equal((await rig.client.get('bucket', 'key')).status, 404);
    for (const client of clients) client.close();
  } finally {
    await rig.stop();
  }
});

test('SIGHUP reaches every loop before it is reported', async () => {
  const rig = await startRig({ processes: 2, loops });
  try {
    const { gateway } = rig.cluster;
    await rig.direct.put('bucket', 'key', 'bytes');
    const newcomer = { accessKeyId: 'newcomer', secretAccessKey: 'a secret of its own' };
    const client = new S3Client(rig.cluster.gatewayPort, newcomer);
    assert.equal((await client.get('bucket', 'key')).status, 403);
    gateway.rewrite(`${gateway.config}
[[clients]]
access_key_id = "${newcomer.accessKeyId}"
secret_access_key = "${newcomer.secretAccessKey}"
grants = [{ bucket = "*", access = "read" }]
`);
    gateway.child.kill('SIGHUP');
    await until('a reload', () => gateway.log().includes('"msg":"reloaded"'));
    for (let nth = 0; nth < connections; nth++) {
      assert.equal((await client.get('bucket', 'key')).status, 200);
    }
  } finally {
    await rig.stop();
  }
});

test('SIGTERM lets every loop finish its answers, and takes no new ones', async () => {
  const rig = await startRig({ processes: 1, loops });
  try {
    const bytes = version('drained', 24 << 20);
    await rig.direct.put('bucket', 'large', bytes);
    assert.ok((await rig.client.get('bucket', 'large')).body.equals(bytes));
    const clients = await open(rig.cluster.gatewayPort);
    const reading = clients.slice(0, 12);
    for (const client of reading) {
      client.write(rig.client.bytesOf(getOf('bucket', 'large')));
      await client.answer({ stopAfter: 1000 });
    }
    const { gateway } = rig.cluster;
    const stopped = gateway.stop();
    await until('nobody listens', () => listeners(rig.cluster.gatewayPort) === 0);
    // The kernel holds some of each answer; the rest is sent by a process that was told to stop.
    await sleep(100);
    const rest = bytes.length - 1000;
    for (const client of reading) {
      let taken = 0;
      assert.ok(await client.take(rest, (part) => (taken += part.length)), `cut after ${taken}`);
      client.close();
    }
    for (const client of clients) client.close();
    assert.equal(await stopped, 0, gateway.log());
  } finally {
    await rig.stop();
  }
});

/** A rig of one process whose further loops run this beside what they do. */
async function rigWithFlaw(flaw: string): Promise<Rig> {
  const text = `import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) ${flaw}`;
  const before = process.env['NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(text)}`;
  return startRig({ processes: 1, loops: 2 }).finally(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  });
}

test('a loop that dies ends the process, which says why', async () => {
  const rig = await rigWithFlaw(`setTimeout(() => { throw new Error('a bug in a loop'); }, 3000);`);
  const { gateway } = rig.cluster;
  const { child } = gateway;
  await until('the end', () => child.exitCode !== null);
  assert.equal(child.exitCode, 1, gateway.log());
  assert.match(gateway.log(), /"why":"gateway loop 1 died: a bug in a loop"/);
  await rig.stop();
});

test('a process isn’t ready while one of its loops stands still, and says which', async () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-still-'));
  const file = join(directory, 'there');
  // For as long as there is a file.
  const rig = await rigWithFlaw(`{
    const { existsSync } = process.getBuiltinModule('node:fs');
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    setInterval(() => {
      while (existsSync(${JSON.stringify(file)})) Atomics.wait(nobody, 0, 0, 50);
    }, 50).unref();
  }`);
  try {
    const { cluster } = rig;
    const name = 's3accel_gateway_loops_standing_still';
    assert.equal(await cluster.readiness('gateway'), 'ready\n');
    assert.equal(await cluster.metric('gateway', name), 0);
    const says = (text: string) => async (): Promise<boolean> =>
      (await cluster.readiness('gateway')) === text;
    writeFileSync(file, '');
    await until('it is noticed', says('not ready: gateway loop 1 stands still\n'));
    assert.equal(await cluster.metric('gateway', name), 1);
    rmSync(file);
    await until('it turns again', says('ready\n'));
    assert.equal(await cluster.metric('gateway', name), 0);
  } finally {
    rmSync(directory, { recursive: true });
    await rig.stop();
  }
});
