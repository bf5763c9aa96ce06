// A client sees what it wrote: whatever kind of write it was, whatever the bucket's policy, and whatever was being fetched meanwhile.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { arrangements, assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import { pathOf, type HeaderLine } from '../testing/sign.ts';
import { assertReads, version, warm } from '../testing/versions.ts';

const policies = `
[cache.buckets.immutable]
immutable = true
[cache.buckets.short]
ttl_ms = 400
[cache.buckets.strict]
ttl_ms = 0
`;
const buckets = ['immutable', 'short', 'strict'];
const mib = 1 << 20;

const deleteBody = (...keys: string[]): string =>
  `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;

function multiDelete(rig: Rig, bucket: string, ...keys: string[]): Promise<{ status: number }> {
  const body = deleteBody(...keys);
  const headers: HeaderLine[] = [['content-md5', createHash('md5').update(body).digest('base64')]];
  return rig.client.call({ method: 'POST', target: `/${bucket}?delete`, headers, body });
}

for (const { name, processes } of arrangements) {
  suite(`own writes through ${name}`, () => {
    let rig: Rig;
    let keys = 0;
    before(async () => {
      rig = await startRig({ processes, cache: policies, buckets });
    });
    after(async () => {
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });
    const freshKey = (): string => `key-${++keys}`;

    test('a client reads what it wrote', async () => {
      for (const bucket of buckets) {
        const key = freshKey();
        for (const one of ['first', 'second', 'third']) {
          for (const size of [100, 40_000, 2 * mib]) {
            const bytes = version(one, size);
            assert.equal((await rig.client.put(bucket, key, bytes)).status, 200);
            for (let read = 0; read < 3; read++) await assertReads(rig.client, bucket, key, bytes);
          }
        }
      }
    });

    test('a deleted object is gone for the next read, and back when written again', async () => {
      for (const bucket of buckets) {
        const key = freshKey();
        await rig.client.put(bucket, key, version('one', 50_000));
        await warm(rig.client, bucket, key);
        assert.equal((await rig.client.delete(bucket, key)).status, 204);
        assert.equal((await rig.client.get(bucket, key)).status, 404);
        assert.equal((await rig.client.head(bucket, key)).status, 404);
        await rig.client.put(bucket, key, version('two', 50_000));
        await assertReads(rig.client, bucket, key, version('two', 50_000));
      }
    });

    test('a copy over a cached key is read at once', async () => {
      for (const bucket of buckets) {
        const [source, target] = [freshKey(), freshKey()];
        await rig.client.put(bucket, source, version('source', 50_000));
        await rig.client.put(bucket, target, version('target', 50_000));
        await warm(rig.client, bucket, target);
        const copied = await rig.client.call({
          method: 'PUT',
          target: pathOf(bucket, target),
          headers: [['x-amz-copy-source', pathOf(bucket, source)]],
        });
        assert.equal(copied.status, 200);
        await assertReads(rig.client, bucket, target, version('source', 50_000));
      }
    });

    test('a copy that S3 answers with white space first is seen once it is done', async () => {
      for (const bucket of buckets) {
        const [source, target] = [freshKey(), freshKey()];
        await rig.client.put(bucket, source, version('source', 50_000));
        await rig.client.put(bucket, target, version('target', 50_000));
        await warm(rig.client, bucket, target);
        rig.s3.faults.next('late-answer', { operation: 'CopyObject' });
        const copied = await rig.client.call({
          method: 'PUT',
          target: pathOf(bucket, target),
          headers: [['x-amz-copy-source', pathOf(bucket, source)]],
        });
        assert.equal(copied.status, 200);
        assert.match(copied.body.toString(), /<CopyObjectResult/);
        await assertReads(rig.client, bucket, target, version('source', 50_000));
      }
    });

    test('a completed multipart upload over a cached key is read at once', async () => {
      for (const bucket of buckets) {
        const key = freshKey();
        const target = pathOf(bucket, key);
        await rig.client.put(bucket, key, version('before', 50_000));
        await warm(rig.client, bucket, key);
        const begun = await rig.client.call({ method: 'POST', target: `${target}?uploads` });
        const id = /<UploadId>([^<]+)</.exec(begun.body.toString())?.[1];
        assert.ok(id !== undefined, begun.body.toString());
        const part = version('part', 70_000);
        const sent = await rig.client.call({
          method: 'PUT',
          target: `${target}?partNumber=1&uploadId=${encodeURIComponent(id)}`,
          body: part,
        });
        assert.equal(sent.status, 200);
        const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${sent.header('etag')}</ETag></Part></CompleteMultipartUpload>`;
        const completed = await rig.client.call({
          method: 'POST',
          target: `${target}?uploadId=${encodeURIComponent(id)}`,
          body,
        });
        assert.equal(completed.status, 200, completed.body.toString());
        assert.ok((await rig.client.get(bucket, key)).body.equals(part));
      }
    });

    test('a multi-delete is seen by the next read of each key', async () => {
      for (const bucket of buckets) {
        const some = [freshKey(), freshKey(), freshKey()];
        for (const key of some) {
          await rig.client.put(bucket, key, version(key, 50_000));
          await warm(rig.client, bucket, key);
        }
        assert.equal((await multiDelete(rig, bucket, ...some)).status, 200);
        for (const key of some) assert.equal((await rig.client.get(bucket, key)).status, 404);
      }
    });

    test('a write that fails leaves what is read as it was', async () => {
      const key = freshKey();
      const old = version('old', 50_000);
      await rig.client.put('immutable', key, old);
      await warm(rig.client, 'immutable', key);
      rig.s3.faults.next('internal-error', { operation: 'PutObject', times: 10 });
      assert.equal((await rig.client.put('immutable', key, version('x', 50_000))).status, 500);
      rig.s3.faults.clear();
      await assertReads(rig.client, 'immutable', key, old);
    });

    test('a write whose outcome nobody knows is looked for at every read', async () => {
      const key = freshKey();
      await rig.client.put('immutable', key, version('old', 50_000));
      await warm(rig.client, 'immutable', key);
      const fresh = version('new', 50_000);
      rig.s3.faults.next('reset-after', { operation: 'PutObject', times: 10 });
      const { status } = await rig.client.put('immutable', key, fresh);
      rig.s3.faults.clear();
      assert.ok(status >= 500, `${status}`);
      for (let read = 0; read < 3; read++) await assertReads(rig.client, 'immutable', key, fresh);
    });

    // A fetch that S3 answered before a write, and whose answer arrives after it, must not be kept.
    const writes: readonly (readonly [
      string,
      (bucket: string, key: string) => Promise<unknown>,
    ])[] = [
      ['put', (bucket, key) => rig.client.put(bucket, key, version('new', 50_000))],
      ['delete', (bucket, key) => rig.client.delete(bucket, key)],
      ['multi-delete', (bucket, key) => multiDelete(rig, bucket, 'absent', key)],
    ];
    for (const [kind, write] of writes) {
      for (const bucket of buckets) {
        for (const method of ['GET', 'HEAD'] as const) {
          test(`a first fetch by ${method} overtaken by a ${kind} is not kept (${bucket})`, async () => {
            const key = freshKey();
            const old = version('old', 50_000);
            rig.s3.put(bucket, key, old);
            const hold = rig.s3.faults.hold({ bucket, key });
            const slow = rig.client.call({ method, target: pathOf(bucket, key) });
            await hold.arrived;
            await write(bucket, key);
            hold.release();
            const { status, body } = await slow;
            assert.equal(status, 200, 'the read began before the write: the old object is right');
            if (method === 'GET') assert.ok(body.equals(old));
            for (let read = 0; read < 3; read++) {
              if (kind === 'put')
                await assertReads(rig.client, bucket, key, version('new', 50_000));
              else assert.equal((await rig.client.get(bucket, key)).status, 404);
            }
          });
        }
      }
    }

    test('a revalidation overtaken by a write does not confirm the old object', async () => {
      const key = freshKey();
      rig.s3.put('strict', key, version('old', 50_000));
      await warm(rig.client, 'strict', key);
      const hold = rig.s3.faults.hold({ bucket: 'strict', key });
      const slow = rig.client.get('strict', key);
      await hold.arrived;
      await rig.client.put('strict', key, version('new', 50_000));
      hold.release();
      assert.equal((await slow).status, 200);
      for (let read = 0; read < 3; read++)
        await assertReads(rig.client, 'strict', key, version('new', 50_000));
    });

    test('a writer and many readers: each answer is one version, and never an older one than was written before', async () => {
      const key = freshKey();
      const size = mib + 4096;
      const all = Array.from({ length: 12 }, (_, index) => version(`v${index}`, size));
      const numberOf = (body: Buffer): number => all.findIndex((one) => one.equals(body));
      await rig.client.put('immutable', key, all[0]!);
      let newest = 0;
      let isOver = false;
      const reader = async (): Promise<void> => {
        while (!isOver) {
          const atLeast = newest;
          const answer = await rig.client.get('immutable', key).catch(() => null);
          // An answer that has begun may be cut when its version goes.
          if (answer === null || answer.isCut) continue;
          assert.equal(answer.status, 200);
          const read = numberOf(answer.body);
          assert.ok(read >= 0, 'a mixture of versions');
          assert.ok(read >= atLeast, `version ${read} after ${atLeast} was written`);
        }
      };
      const readers = [reader(), reader(), reader(), reader()];
      for (let index = 1; index < all.length; index++) {
        assert.equal((await rig.client.put('immutable', key, all[index]!)).status, 200);
        newest = index;
        await assertReads(rig.client, 'immutable', key, all[index]!);
      }
      isOver = true;
      await Promise.all(readers);
    });
  });
}
