// Clients that misbehave without meaning to: they leave at every moment, they stop reading, they sit idle, they send everything
// at once. Whatever they do, nothing of theirs stays, and others go on.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { abandonments } from '../testing/abandon.ts';
import { RawConnection } from '../testing/raw-connection.ts';
import {
  arrangements,
  assertNothingInUse,
  residentBytes,
  startRig,
  until,
  type Rig,
} from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
import { pathOf } from '../testing/sign.ts';
import { assertReads, version, warm } from '../testing/versions.ts';

const mib = 1 << 20;

for (const { name, processes } of arrangements) {
  suite(`connections through ${name}`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
    });
    after(async () => {
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });

    for (const { what, quickly, run } of abandonments) {
      test(`after ${quickly} clients that leave ${what}, nothing is left`, async () => {
        await run(rig, quickly);
        await assertNothingInUse(rig.cluster);
        rig.s3.put('bucket', 'after', version(what, 50_000));
        const answer = await rig.client.get('bucket', 'after');
        assert.equal(answer.status, 200);
      });
    }

    test('200 clients that stop reading hold nothing up, and get every byte when they go on', async () => {
      const [stalledBytes, other] = [version('stalled', 8 * mib), version('other', 2 * mib)];
      rig.s3.put('bucket', 'stalled', stalledBytes);
      rig.s3.put('bucket', 'other', other);
      await warm(rig.client, 'bucket', 'stalled');
      await warm(rig.client, 'bucket', 'other');
      const pids = [rig.cluster.gateway.pid, rig.cluster.node.pid];
      const before = pids.map(residentBytes);
      // Some read from disk, some through a fetch that is under way: those of a cold key.
      rig.s3.put('bucket', 'stalled-cold', stalledBytes);
      const keyOf = (index: number): string => (index % 10 === 9 ? 'stalled-cold' : 'stalled');
      const stalled = await Promise.all(
        Array.from({ length: 200 }, (_, index) => rig.client.begin(getOf('bucket', keyOf(index)))),
      );
      await until('all of them to be served', async () => {
        return (await rig.cluster.metric('gateway', 's3accel_gateway_connections')) >= 200;
      });
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          for (let read = 0; read < 3; read++)
            await assertReads(rig.client, 'bucket', 'other', other);
        }),
      );
      rig.s3.put('bucket', 'meanwhile', other);
      for (let read = 0; read < 3; read++)
        await assertReads(rig.client, 'bucket', 'meanwhile', other);
      assert.equal((await rig.client.put('bucket', 'written', other)).status, 200);
      const grown = pids.map((pid, index) => residentBytes(pid) - before[index]!);
      // 200 answers of 8 MiB: all of it in memory would be 1.6 GB.
      assert.ok(Math.max(...grown) < 400 * mib, `grown by ${grown.join(', ')} bytes`);
      for (const connection of stalled) {
        const { status, body, isCut } = await connection.answer();
        assert.equal(status, 200);
        assert.ok(!isCut && body.equals(stalledBytes));
        connection.close();
      }
    });

    test('1,024 idle connections are kept, and each is answered when it asks', async () => {
      const bytes = version('idle', 3000);
      rig.s3.put('bucket', 'idle', bytes);
      await warm(rig.client, 'bucket', 'idle');
      const idle: RawConnection[] = [];
      for (let index = 0; index < 1024; index++)
        idle.push(await RawConnection.open(rig.client.port));
      await until('all of them to be accepted', async () => {
        return (await rig.cluster.metric('gateway', 's3accel_gateway_connections')) >= 1024;
      });
      await assertReads(rig.client, 'bucket', 'idle', bytes);
      const request = rig.client.bytesOf(getOf('bucket', 'idle'));
      for (const connection of idle) {
        connection.write(request);
        assert.ok((await connection.answer()).body.equals(bytes));
      }
      for (const connection of idle) connection.close();
    });

    test('pipelined reads are answered in order, whatever each of them needs', async () => {
      const sizes = [10, 40_000, mib + 1, 0, 5 * mib, 32 * 1024, 100_000, 1];
      const all = sizes.map((size, index) => version(`piped-${index}`, size));
      for (const [index, bytes] of all.entries()) rig.s3.put('bucket', `piped-${index}`, bytes);
      // Every second key is warm, the others are cold the first time round.
      for (let index = 0; index < all.length; index += 2) {
        await warm(rig.client, 'bucket', `piped-${index}`);
      }
      for (let round = 0; round < 3; round++) {
        const connection = await RawConnection.open(rig.client.port);
        const missing = rig.client.bytesOf(getOf('bucket', 'nothing-here'));
        const requests = all.map((_, index) =>
          rig.client.bytesOf(getOf('bucket', `piped-${index}`)),
        );
        connection.write(Buffer.concat([...requests, missing, ...requests]));
        for (const bytes of all) assert.ok((await connection.answer()).body.equals(bytes));
        assert.equal((await connection.answer()).status, 404);
        for (const bytes of all) assert.ok((await connection.answer()).body.equals(bytes));
        connection.close();
      }
    });

    test('a write and reads of it may be pipelined', async () => {
      const connection = await RawConnection.open(rig.client.port);
      const target = pathOf('bucket', 'piped-write');
      for (const one of ['first', 'second', 'third']) {
        const bytes = version(one, 70_000);
        const put = rig.client.bytesOf({ method: 'PUT', target, body: bytes });
        const get = rig.client.bytesOf({ method: 'GET', target });
        connection.write(Buffer.concat([put, get, get]));
        assert.equal((await connection.answer()).status, 200);
        for (let read = 0; read < 2; read++) {
          assert.ok((await connection.answer()).body.equals(bytes), one);
        }
      }
      connection.close();
    });

    test('a head that comes byte by byte is a request like any other', async () => {
      const bytes = version('slow head', 50_000);
      rig.s3.put('bucket', 'slow-head', bytes);
      const connection = await RawConnection.open(rig.client.port);
      for (const byte of rig.client.bytesOf(getOf('bucket', 'slow-head'))) {
        connection.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      assert.ok((await connection.answer()).body.equals(bytes));
      connection.close();
    });

    test('HTTP/1.0 and Connection: close end the connection behind a whole answer', async () => {
      const bytes = version('closing', 2 * mib);
      rig.s3.put('bucket', 'closing', bytes);
      const request = rig.client.bytesOf(getOf('bucket', 'closing')).toString('latin1');
      const closing = [
        request.replace('HTTP/1.1', 'HTTP/1.0'),
        request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
      ];
      for (const text of closing) {
        const connection = await RawConnection.open(rig.client.port);
        connection.write(text);
        const answer = await connection.answer();
        assert.ok(answer.body.equals(bytes) && !answer.isCut);
        await connection.closed();
      }
    });
  });
}
