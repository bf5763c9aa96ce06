// An origin that fails in every way it can: clients get S3's errors or a broken connection, never fewer bytes than they were promised
// as if that were all, nothing short or wrong is kept, and once the origin is well again so is everything else.
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { FaultKind } from '@s3-accelerator/memory-s3/faults.ts';
import { startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { answer, RawOrigin } from '../origin/testing/raw-origin.ts';
import { credentials, freePort, startCluster } from '../testing/programs.ts';
import type { Answer } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';
import { pathOf } from '../testing/sign.ts';
import { assertReads, version } from '../testing/versions.ts';

const impatient = `
[node.origin_limits]
tries = 2
connect_timeout_ms = 1000
first_byte_timeout_ms = 500
forward_first_byte_timeout_ms = 500
idle_timeout_ms = 500
`;
const policies = `
[cache.buckets.immutable]
immutable = true
[cache.buckets.strict]
ttl_ms = 0
[cache.buckets.eager]
immutable = true
admit_on_first_read = true
`;
const buckets = ['immutable', 'strict', 'eager'];
const mib = 1 << 20;

/** An error as S3 says it: a status, a code in XML, a request id. */
function assertS3Error(answer: Answer, ...statuses: readonly number[]): void {
  const text = answer.body.toString();
  assert.ok(statuses.includes(answer.status), `${answer.status}: ${text}`);
  assert.ok(!answer.isCut);
  assert.match(text, /^<\?xml[^]*<Error><Code>[A-Za-z]+<\/Code>/);
  assert.match(answer.header('content-type'), /xml/);
  assert.notEqual(answer.header('x-amz-request-id'), '');
}

/** A read while the origin fails: an error, a cut answer, or the right bytes; null if the connection ended without a word. */
async function readDuringFault(
  rig: Rig,
  bucket: string,
  key: string,
  whole: Buffer,
): Promise<Answer | null> {
  const read = await rig.client.get(bucket, key).catch(() => null);
  if (read === null) return null;
  if (read.status !== 200) assertS3Error(read, 500, 502, 503, 504);
  else if (read.isCut) assert.ok(read.body.equals(whole.subarray(0, read.body.length)));
  else assert.ok(read.body.equals(whole), 'a whole answer has the right bytes');
  return read;
}

const sizes = [1, 10_000, 100_000, 3 * mib + 1];
const bodyFaults: readonly FaultKind[] = ['short-body', 'empty-body', 'stall'];
const refusals: readonly FaultKind[] = [
  'slow-down',
  'internal-error',
  'reset-before',
  'reset-after',
];

for (const { name, processes } of arrangements) {
  suite(`a failing origin behind ${name}`, () => {
    let rig: Rig;
    let keys = 0;
    before(async () => {
      rig = await startRig({ processes, node: impatient, cache: policies, buckets });
    });
    beforeEach(() => {
      rig.s3.faults.clear();
      rig.s3.faults.set({ delayMs: 0, errorRate: 0, shortBodyRate: 0 });
    });
    after(async () => {
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });
    const freshKey = (): string => `key-${++keys}`;

    test('one refusal is tried again, and the client sees nothing of it', async () => {
      for (const kind of refusals) {
        const key = freshKey();
        const bytes = version(kind, 50_000);
        rig.s3.put('immutable', key, bytes);
        rig.s3.faults.next(kind, { key });
        await assertReads(rig.client, 'immutable', key, bytes);
      }
    });

    test('refusals without end are told in S3’s words and never kept', async () => {
      for (const kind of refusals) {
        for (const bucket of buckets) {
          const key = freshKey();
          const bytes = version(kind, 50_000);
          rig.s3.put(bucket, key, bytes);
          rig.s3.faults.next(kind, { key, times: 1000 });
          assertS3Error(await rig.client.get(bucket, key), 500, 503);
          assert.ok((await rig.client.head(bucket, key)).status >= 500);
          rig.s3.faults.clear();
          for (let read = 0; read < 3; read++) await assertReads(rig.client, bucket, key, bytes);
        }
      }
    });

    for (const kind of bodyFaults) {
      test(`${kind}: nothing short is kept, and nothing short looks whole`, async () => {
        for (const bucket of buckets) {
          for (const size of kind === 'stall' ? sizes.slice(2) : sizes) {
            const key = freshKey();
            const bytes = version(key, size);
            rig.s3.put(bucket, key, bytes);
            // On the first fetch, then on the fill of the second read, then again and again.
            for (const times of kind === 'stall' ? [1] : [1, 1, 4]) {
              rig.s3.faults.next(kind, { operation: 'GetObject', key, times });
              await readDuringFault(rig, bucket, key, bytes);
              rig.s3.faults.clear();
            }
            for (let read = 0; read < 3; read++) await assertReads(rig.client, bucket, key, bytes);
          }
        }
      });
    }

    test('a range of a body that comes short is whole or broken', async () => {
      const key = freshKey();
      const bytes = version(key, 4 * mib);
      rig.s3.put('immutable', key, bytes);
      for (const kind of ['short-body', 'empty-body'] as const) {
        rig.s3.faults.next(kind, { operation: 'GetObject', key, times: 2 });
        const read = await rig.client
          .get('immutable', key, 'bytes=1000000-2999999')
          .catch(() => null);
        rig.s3.faults.clear();
        if (read?.status !== 206) continue;
        const wanted = bytes.subarray(1_000_000, 3_000_000);
        assert.ok(read.body.equals(wanted.subarray(0, read.body.length)));
        assert.equal(read.isCut, read.body.length < wanted.length);
      }
      await assertReads(rig.client, 'immutable', key, bytes);
    });

    test('an origin that takes too long is a 503, and no read waits for ever', async () => {
      const key = freshKey();
      const bytes = version(key, 50_000);
      rig.s3.put('immutable', key, bytes);
      rig.s3.faults.set({ delayMs: 5000 });
      assertS3Error(await rig.client.get('immutable', key), 500, 503, 504);
      rig.s3.faults.set({ delayMs: 0 });
      await assertReads(rig.client, 'immutable', key, bytes);
    });

    test('a confirmation that fails is an error, not the old object', async () => {
      const key = freshKey();
      const bytes = version(key, 50_000);
      rig.s3.put('strict', key, bytes);
      for (let read = 0; read < 3; read++) await assertReads(rig.client, 'strict', key, bytes);
      rig.s3.faults.next('internal-error', { key, times: 100 });
      assertS3Error(await rig.client.get('strict', key), 500, 503);
      rig.s3.faults.clear();
      await assertReads(rig.client, 'strict', key, bytes);
    });

    test('every reader that waits on a fetch that fails is answered', async () => {
      for (const kind of ['internal-error', 'slow-down', 'short-body', 'empty-body'] as const) {
        const key = freshKey();
        const bytes = version(key, 2 * mib);
        rig.s3.put('immutable', key, bytes);
        rig.s3.faults.next(kind, { operation: 'GetObject', key, times: 2 });
        const hold = rig.s3.faults.hold({ key });
        const reads = Array.from({ length: 60 }, () =>
          readDuringFault(rig, 'immutable', key, bytes),
        );
        await hold.arrived;
        hold.release();
        const answers = await Promise.all(reads);
        assert.equal(answers.length, 60);
        rig.s3.faults.clear();
        await assertReads(rig.client, 'immutable', key, bytes);
      }
    });

    test('in a storm of errors every reader of every key is answered, and then all reads are right', async () => {
      const some = Array.from({ length: 20 }, () => freshKey());
      const bytesOf = new Map(
        some.map((key, index) => [key, version(key, 20_000 + index * 70_000)]),
      );
      for (const [key, bytes] of bytesOf) rig.s3.put('eager', key, bytes);
      rig.s3.faults.set({ errorRate: 0.4, shortBodyRate: 0.3 });
      const reader = async (from: number): Promise<void> => {
        for (let index = 0; index < some.length; index++) {
          const key = some[(from + index) % some.length]!;
          await readDuringFault(rig, 'eager', key, bytesOf.get(key)!);
        }
      };
      await Promise.all(Array.from({ length: 12 }, (_, index) => reader(index * 3)));
      rig.s3.faults.set({ errorRate: 0, shortBodyRate: 0 });
      for (const [key, bytes] of bytesOf) await assertReads(rig.client, 'eager', key, bytes);
    });

    test('an error of the origin passes through with its own status and words', async () => {
      const missing = await rig.client.get('immutable', 'never-written');
      assertS3Error(missing, 404);
      assert.match(missing.body.toString(), /<Code>NoSuchKey<\/Code>/);
      const nowhere = await rig.client.get('no-such-bucket', 'key');
      assertS3Error(nowhere, 404);
      assert.match(nowhere.body.toString(), /<Code>NoSuchBucket<\/Code>/);
    });

    test('an upload that the origin refuses is refused, and the old object stays', async () => {
      const key = freshKey();
      const bytes = version('old', 50_000);
      await rig.client.put('immutable', key, bytes);
      for (const kind of ['slow-down', 'internal-error', 'reset-before'] as const) {
        rig.s3.faults.next(kind, { operation: 'PutObject', key, times: 100 });
        assertS3Error(await rig.client.put('immutable', key, version('x', 50_000)), 500, 502, 503);
        rig.s3.faults.clear();
        await assertReads(rig.client, 'immutable', key, bytes);
      }
    });

    test('a completion that fails behind a 200 is relayed as it is, and the old object stays', async () => {
      const key = freshKey();
      const target = pathOf('immutable', key);
      const old = version('old', 50_000);
      await rig.client.put('immutable', key, old);
      for (let read = 0; read < 3; read++) await assertReads(rig.client, 'immutable', key, old);
      rig.s3.faults.next('late-error', { operation: 'CopyObject', times: 1 });
      const copy = { method: 'PUT', target, headers: [['x-amz-copy-source', target]] as const };
      const copied = await rig.client.call(copy);
      assert.equal(copied.status, 200);
      assert.match(copied.body.toString(), /<Error><Code>InternalError/);
      await assertReads(rig.client, 'immutable', key, old);
    });

    test('an origin that is gone and comes back', async () => {
      const port = await freePort();
      const cache = '[cache.default_policy]\nttl_ms = 0';
      const cluster = await startCluster({ processes, node: impatient, cache, originPort: port });
      try {
        const client = new S3Client(cluster.gatewayPort, credentials);
        assertS3Error(await client.get('bucket', 'key'), 500, 502, 503);
        assertS3Error(await client.put('bucket', 'key', 'x'), 500, 502, 503);
        const s3 = await startMemoryS3({ port, buckets: ['bucket'] });
        const bytes = version('here', 50_000);
        s3.put('bucket', 'key', bytes);
        await assertReads(client, 'bucket', 'key', bytes);
        await s3.close();
        // Connections that were kept to the one before are dead, and no client notices.
        const again = await startMemoryS3({ port, buckets: ['bucket'] });
        again.put('bucket', 'key', bytes);
        await assertReads(client, 'bucket', 'key', bytes);
        assert.equal((await client.put('bucket', 'other', bytes)).status, 200);
        await again.close();
        assertS3Error(await client.get('bucket', 'key'), 500, 502, 503);
        await assertNothingInUse(cluster);
      } finally {
        await cluster.stop();
      }
    });

    test('odd answers are never taken for the object', async () => {
      const body = '<Error><Code>SlowDown</Code><Message>wait</Message></Error>';
      const chunked = `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const etag = 'ETag: "00000000000000000000000000000000"';
      const odd: readonly (readonly [string, string, readonly number[]])[] = [
        [
          'chunked XML error',
          `HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\n${chunked}`,
          [503],
        ],
        ['error without a body', 'HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n', [500, 503]],
        ['not HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', [500, 502, 503]],
        [
          'a 206 of another range',
          answer('206 Partial Content', [etag, 'Content-Range: bytes 5-9/10'], '56789'),
          [200, 206, 500, 502, 503],
        ],
        [
          'a redirect',
          answer('307 Temporary Redirect', ['Location: http://127.0.0.1:1/'], ''),
          [307, 500, 502, 503],
        ],
      ];
      let played = '';
      const origin = await RawOrigin.start(({ socket }) => socket.write(played));
      const originPort = Number(new URL(origin.endpoint).port);
      const cluster = await startCluster({ processes, node: impatient, originPort });
      try {
        const client = new S3Client(cluster.gatewayPort, credentials);
        for (const [what, bytes, statuses] of odd) {
          played = bytes;
          const read = await client.get('bucket', what);
          const text = read.body.toString();
          assert.ok(statuses.includes(read.status), `${what}: ${read.status} ${text}`);
          assert.equal(await cluster.metric('node', 's3accel_node_blocks'), 0, what);
        }
        await assertNothingInUse(cluster);
      } finally {
        await cluster.stop();
        await origin.close();
      }
    });
  });
}
