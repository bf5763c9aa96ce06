// A client that asks for an object's checksums gets what S3 would tell it, however the cache came to know the object: with whole
// reads and heads, never with ranges, and never unasked.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { crc32 } from 'node:zlib';
import type { Answer } from '../testing/raw-connection.ts';
import { arrangements, startRig, type Rig } from '../testing/rig.ts';
import type { HeaderLine } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

const asked: HeaderLine = ['x-amz-checksum-mode', 'ENABLED'];
const range: HeaderLine = ['range', 'bytes=10-19'];

function checksumOf(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}

for (const { name, processes } of arrangements) {
  suite(`checksums through ${name}`, () => {
    let rig: Rig;
    let keys = 0;
    before(async () => {
      rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true\n' });
    });
    after(() => rig.stop());

    /** An object that S3 keeps a CRC32 of. */
    async function stored(bytes: Uint8Array): Promise<string> {
      const target = `/bucket/key-${++keys}`;
      const headers: HeaderLine[] = [['x-amz-checksum-crc32', checksumOf(bytes)]];
      const put = await rig.direct.call({ method: 'PUT', target, headers, body: bytes });
      assert.equal(put.status, 200);
      return target;
    }

    const read = (method: string, target: string, ...headers: HeaderLine[]): Promise<Answer> =>
      rig.client.call({ method, target, headers });

    for (const size of [1000, 100_000, 3 << 20]) {
      test(`an object of ${size} bytes that became known by a range tells its checksum when asked`, async () => {
        const bytes = version('v', size);
        const checksum = checksumOf(bytes);
        const target = await stored(bytes);
        for (let time = 0; time < 2; time++) {
          assert.equal(
            (await read('GET', target, range, asked)).header('x-amz-checksum-crc32'),
            '',
          );
        }
        rig.s3.traffic.clear();
        for (let time = 0; time < 3; time++) {
          const whole = await read('GET', target, asked);
          assert.equal(whole.header('x-amz-checksum-crc32'), checksum);
          assert.deepEqual(whole.body, Buffer.from(bytes));
          assert.equal(
            (await read('HEAD', target, asked)).header('x-amz-checksum-crc32'),
            checksum,
          );
          assert.equal(
            (await read('GET', target, range, asked)).header('x-amz-checksum-crc32'),
            '',
          );
          assert.equal((await read('GET', target)).header('x-amz-checksum-crc32'), '');
        }
        assert.equal(rig.s3.traffic.requests.get('HeadObject'), 1, 'S3 was asked once');
      });
    }

    test('readers that ask at once and need different things are all answered right', async () => {
      const bytes = version('w', 200_000);
      const target = await stored(bytes);
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          index % 3 === 0
            ? read('GET', target, range)
            : read(index % 3 === 1 ? 'GET' : 'HEAD', target, asked),
        ),
      );
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.status, index % 3 === 0 ? 206 : 200);
        const expected = index % 3 === 0 ? '' : checksumOf(bytes);
        assert.equal(answer.header('x-amz-checksum-crc32'), expected);
      }
    });
  });
}
