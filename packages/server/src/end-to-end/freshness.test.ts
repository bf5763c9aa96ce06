// Objects that change behind the cache's back, between reads and in the middle of one. What a client gets is always one version,
// whole, and never an older one than the bucket's policy allows.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrangements, assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
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

for (const { name, processes } of arrangements) {
  suite(`freshness through ${name}`, () => {
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

    for (const size of [100, 40_000, 3 * mib + 5]) {
      test(`with ttl 0 an overwrite of ${size} bytes is seen at once`, async () => {
        const key = freshKey();
        for (const one of ['first', 'second', 'third']) {
          const bytes = version(one, size);
          rig.s3.put('strict', key, bytes);
          for (let read = 0; read < 3; read++) await assertReads(rig.client, 'strict', key, bytes);
        }
        rig.s3.delete('strict', key);
        assert.equal((await rig.client.get('strict', key)).status, 404);
        rig.s3.put('strict', key, version('again', size));
        await assertReads(rig.client, 'strict', key, version('again', size));
      });

      test(`once its ttl is over an overwrite of ${size} bytes is seen`, async () => {
        const key = freshKey();
        rig.s3.put('short', key, version('old', size));
        await warm(rig.client, 'short', key);
        rig.s3.put('short', key, version('new', size));
        await sleep(450);
        await assertReads(rig.client, 'short', key, version('new', size));
      });
    }

    test('an immutable object is never asked for again', async () => {
      const key = freshKey();
      const old = version('old', 40_000);
      rig.s3.put('immutable', key, old);
      await warm(rig.client, 'immutable', key);
      await sleep(50);
      rig.s3.put('immutable', key, version('new', 40_000));
      rig.s3.traffic.clear();
      await assertReads(rig.client, 'immutable', key, old);
      assert.equal(rig.s3.traffic.count(), 0);
    });

    test('a change that a fill notices restarts the read when its head is not sent', async () => {
      const key = freshKey();
      const size = 5 * mib;
      rig.s3.put('immutable', key, version('old', size));
      // The metadata is known from here on, and no block is stored.
      assert.equal((await rig.client.head('immutable', key)).status, 200);
      rig.s3.put('immutable', key, version('new', size));
      await assertReads(rig.client, 'immutable', key, version('new', size));
    });

    test('a change in the middle of an answer cuts it off: never two versions in one', async () => {
      const key = freshKey();
      const size = 40 * mib;
      const old = version('old', size);
      rig.s3.put('immutable', key, old);
      const connection = await rig.client.begin(getOf('immutable', key));
      let position = 0;
      let isMixed = false;
      const compare = (bytes: Buffer): void => {
        isMixed ||= !bytes.equals(old.subarray(position, position + bytes.length));
        position += bytes.length;
      };
      await connection.answer({ onBody: compare, stopAfter: mib });
      rig.s3.put('immutable', key, version('new', size));
      // What was asked of S3 before the overwrite still comes; what is asked after it is refused.
      await connection.take(size - mib, compare);
      connection.close();
      assert.ok(!isMixed, 'bytes of another version came behind the old one’s head');
      assert.ok(position < size, `all ${position} bytes came`);
      await assertReads(rig.client, 'immutable', key, version('new', size));
    });

    test('a 404 is not remembered', async () => {
      for (const bucket of buckets) {
        const key = freshKey();
        for (let read = 0; read < 3; read++) {
          assert.equal((await rig.client.get(bucket, key)).status, 404);
        }
        rig.s3.put(bucket, key, version('here', 100));
        await assertReads(rig.client, bucket, key, version('here', 100));
      }
    });
  });
}
