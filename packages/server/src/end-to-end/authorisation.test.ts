// Who may read and write what, asked of the whole program: every request is judged on its own, warm or cold, however it is signed
// and however its key is written.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RawConnection } from '../testing/raw-connection.ts';
import type { Answer } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, until, type Rig } from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
import { encode, pathOf, type Identity } from '../testing/sign.ts';
import { assertReads, version, warm } from '../testing/versions.ts';

const admin = { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' };
const reader = { accessKeyId: 'reader', secretAccessKey: 'reader-credential' };
const tenant = { accessKeyId: 'tenant', secretAccessKey: 'tenant-credential' };
const guest: Identity = {
  accessKeyId: 'guest',
  secretAccessKey: 'guest-credential',
  sessionToken: 'a/session+token==',
};
const stranger = { accessKeyId: 'stranger', secretAccessKey: 'stranger-credential' };

const clients = `
[[clients]]
access_key_id = "local-identity"
secret_access_key = "local-credential"
grants = [{ bucket = "*", access = "write" }]
[[clients]]
access_key_id = "reader"
secret_access_key = "reader-credential"
grants = [{ bucket = "bucket", access = "read" }]
[[clients]]
access_key_id = "tenant"
secret_access_key = "tenant-credential"
grants = [
  { bucket = "bucket", prefix = "a/b/", access = "write" },
  { bucket = "bucket", prefix = "c/d", access = "read" },
]
[[clients]]
access_key_id = "guest"
secret_access_key = "guest-credential"
session_token = "a/session+token=="
grants = [{ bucket = "bucket", access = "read" }]
`;
const buckets = ['bucket', 'other'];
const minute = 60_000;

function assertRefused(answer: Answer, status: number, code: string): void {
  const text = answer.body.toString();
  assert.equal(answer.status, status, text);
  assert.match(text, new RegExp(`<Code>${code}</Code>`));
  assert.notEqual(answer.header('x-amz-request-id'), '');
}

for (const { name, processes } of arrangements) {
  suite(`authorisation through ${name}`, () => {
    let rig: Rig;
    const bytes = version('secret', 50_000);

    before(async () => {
      const cache = '[cache.default_policy]\nimmutable = true';
      rig = await startRig({ processes, clients, cache, buckets });
      for (const key of ['a/b/one', 'a/bc', 'a/b', 'c/d', 'c/dd', 'plain']) {
        rig.s3.put('bucket', key, bytes);
        await warm(rig.client, 'bucket', key);
      }
      rig.s3.put('other', 'key', bytes);
      await warm(rig.client, 'other', 'key');
    });
    after(async () => {
      await assertNothingInUse(rig.cluster);
      await rig.stop();
    });

    const as = (identity: Identity): typeof rig.client => rig.client.as(identity);

    /** Runs something and asserts that memory-s3 heard nothing of it. */
    async function unseen<T>(run: () => Promise<T>): Promise<T> {
      rig.s3.traffic.clear();
      const result = await run();
      assert.equal(rig.s3.traffic.count(), 0, 'the origin was asked');
      return result;
    }

    test('a warm key is refused to those who prove nothing', async () => {
      const wrong = { ...admin, secretAccessKey: 'a wrong credential' };
      await unseen(async () => {
        const target = pathOf('bucket', 'plain');
        assertRefused(await as(wrong).get('bucket', 'plain'), 403, 'SignatureDoesNotMatch');
        assertRefused(await as(stranger).get('bucket', 'plain'), 403, 'InvalidAccessKeyId');
        assertRefused(await rig.client.unsigned('GET', target), 403, 'AccessDenied');
        const presigned = as(wrong).presigned('GET', target);
        assertRefused(await rig.client.unsigned('GET', presigned), 403, 'SignatureDoesNotMatch');
        for (const method of ['PUT', 'DELETE']) {
          const refused = await as(wrong).call({ method, target });
          assertRefused(refused, 403, 'SignatureDoesNotMatch');
        }
      });
    });

    test('a signature is good for its own method, path, query, headers and body', async () => {
      await unseen(async () => {
        const signed = rig.client.bytesOf(getOf('bucket', 'plain')).toString('latin1');
        const changes: readonly (readonly [string, string])[] = [
          ['GET ', 'HEAD '],
          ['/bucket/plain', '/bucket/a/bc'],
          ['/bucket/plain', '/bucket/plain?x-id=GetObject'],
          ['x-amz-content-sha256: e3b0', 'x-amz-content-sha256: e3b1'],
        ];
        for (const [from, to] of changes) {
          assert.ok(signed.includes(from));
          const bytes = Buffer.from(signed.replace(from, to), 'latin1');
          const answer = await rig.client.raw(bytes, to === 'HEAD ' ? { method: 'HEAD' } : {});
          assert.ok(answer.status === 403 || answer.status === 400, `${to}: ${answer.status}`);
        }
        const target = pathOf('bucket', 'plain');
        const presigned = rig.client.presigned('GET', target);
        const other = presigned.replace('plain', 'a/bc');
        assertRefused(await rig.client.unsigned('GET', other), 403, 'SignatureDoesNotMatch');
        const longer = presigned.replace('X-Amz-Expires=300', 'X-Amz-Expires=301');
        assertRefused(await rig.client.unsigned('GET', longer), 403, 'SignatureDoesNotMatch');
        assertRefused(await rig.client.unsigned('DELETE', presigned), 403, 'SignatureDoesNotMatch');
      });
    });

    test('time runs out: expired presigned targets and clocks that are off', async () => {
      await unseen(async () => {
        const target = pathOf('bucket', 'plain');
        const old = { date: new Date(Date.now() - 10 * minute), expiresSeconds: 60 };
        const expired = rig.client.presigned('GET', target, old);
        assertRefused(await rig.client.unsigned('GET', expired), 403, 'AccessDenied');
        for (const offset of [-16 * minute, 16 * minute]) {
          const date = new Date(Date.now() + offset);
          const skewed = await rig.client.call({ ...getOf('bucket', 'plain'), date });
          assertRefused(skewed, 403, 'RequestTimeTooSkewed');
        }
        for (const offset of [-14 * minute, 14 * minute]) {
          const date = new Date(Date.now() + offset);
          const call = { ...getOf('bucket', 'plain'), date };
          assert.equal((await rig.client.call(call)).status, 200);
        }
        const still = { date: new Date(Date.now() - 10 * minute), expiresSeconds: 700 };
        const valid = rig.client.presigned('GET', target, still);
        assert.ok((await rig.client.unsigned('GET', valid)).body.equals(bytes));
      });
    });

    test('a grant’s prefix ends where it ends, on warm keys too', async () => {
      await unseen(async () => {
        assert.equal((await as(tenant).get('bucket', 'a/b/one')).status, 200);
        assert.equal((await as(tenant).get('bucket', 'c/d')).status, 200);
        assert.equal((await as(tenant).get('bucket', 'c/dd')).status, 200);
        for (const key of ['a/b', 'a/bc', 'plain', 'a/b%2Fone', 'A/b/one']) {
          assertRefused(await as(tenant).get('bucket', key), 403, 'AccessDenied');
          assert.equal((await as(tenant).head('bucket', key)).status, 403);
        }
        assertRefused(await as(tenant).get('other', 'key'), 403, 'AccessDenied');
        assertRefused(await as(reader).get('other', 'key'), 403, 'AccessDenied');
      });
    });

    test('dots in a path reach no other key', async () => {
      for (const path of ['/bucket/a/b/../bc', '/bucket/a/b/%2e%2e/bc', '/bucket/a/b/./one']) {
        const answer = await as(tenant).call({ method: 'GET', target: path });
        assertRefused(answer, 404, 'NoSuchKey');
      }
      await unseen(async () => {
        const answer = await as(tenant).call({ method: 'GET', target: '/bucket/c/../a/bc' });
        assertRefused(answer, 403, 'AccessDenied');
      });
    });

    test('who may only read writes nothing', async () => {
      await unseen(async () => {
        const target = pathOf('bucket', 'plain');
        const copy = [['x-amz-copy-source', target]] as const;
        const calls = [
          { method: 'PUT', target, body: 'x' },
          { method: 'DELETE', target },
          { method: 'PUT', target: `${target}-copy`, headers: copy },
          { method: 'POST', target: `${target}?uploads` },
          { method: 'PUT', target: `${target}?tagging`, body: '<Tagging><TagSet/></Tagging>' },
          { method: 'PUT', target: '/bucket' },
          { method: 'DELETE', target: '/bucket' },
          { method: 'PUT', target: '/bucket?policy', body: '{}' },
          { method: 'GET', target: `${target}?unheard-of` },
        ];
        for (const call of calls) assertRefused(await as(reader).call(call), 403, 'AccessDenied');
        const presigned = as(reader).presigned('PUT', target);
        const put = await rig.client.unsigned('PUT', presigned, [], Buffer.from('x'));
        assertRefused(put, 403, 'AccessDenied');
      });
      await assertReads(rig.client, 'bucket', 'plain', bytes);
    });

    test('a copy needs to read its source, wherever that is named', async () => {
      await unseen(async () => {
        const target = pathOf('bucket', 'a/b/stolen');
        for (const source of [
          '/other/key',
          'other/key',
          '/bucket/a/bc',
          '/bucket/a%2Fbc',
          '/bucket/plain',
        ]) {
          const headers = [['x-amz-copy-source', source]] as const;
          const copied = await as(tenant).call({ method: 'PUT', target, headers });
          assertRefused(copied, 403, 'AccessDenied');
          const part = await as(tenant).call({
            method: 'PUT',
            target: `${target}?partNumber=1&uploadId=x`,
            headers,
          });
          assertRefused(part, 403, 'AccessDenied');
        }
      });
      const headers = [['x-amz-copy-source', '/bucket/c/d']] as const;
      const target = pathOf('bucket', 'a/b/copied');
      assert.equal((await as(tenant).call({ method: 'PUT', target, headers })).status, 200);
      await assertReads(as(tenant), 'bucket', 'a/b/copied', bytes);
    });

    test('headers that change a presigned request must be signed', async () => {
      await unseen(async () => {
        const target = pathOf('bucket', 'a/b/presigned');
        const presigned = as(tenant).presigned('PUT', target);
        const added = [
          ['x-amz-copy-source', '/other/key'],
          ['x-amz-copy-source', '/bucket/c/d'],
          ['x-amz-acl', 'public-read'],
          ['x-amz-meta-owner', 'me'],
          ['x-amz-tagging', 'a=b'],
          ['x-amz-storage-class', 'GLACIER'],
        ] as const;
        for (const header of added) {
          const put = await rig.client.unsigned('PUT', presigned, [header], Buffer.from('x'));
          assertRefused(put, 403, 'AccessDenied');
        }
        const call = { method: 'PUT', target, body: 'x', headers: [added[0]] };
        const unsigned = ['x-amz-copy-source'];
        assertRefused(await as(tenant).call({ ...call, unsigned }), 403, 'AccessDenied');
      });
    });

    test('readers of one fetch are judged one by one', async () => {
      const key = 'shared';
      rig.s3.put('bucket', key, bytes);
      const hold = rig.s3.faults.hold({ key });
      const first = rig.client.get('bucket', key);
      await hold.arrived;
      const allowed = [as(reader), as(guest), rig.client].map((one) => one.get('bucket', key));
      const refused = await Promise.all([
        as(tenant).get('bucket', key),
        as(stranger).get('bucket', key),
        as({ ...reader, secretAccessKey: 'wrong' }).get('bucket', key),
      ]);
      assert.deepEqual(
        refused.map(({ status }) => status),
        [403, 403, 403],
      );
      hold.release();
      for (const answer of await Promise.all([first, ...allowed])) {
        assert.ok(answer.body.equals(bytes));
      }
    });

    test('parameters beside a signature share the cache entry', async () => {
      await unseen(async () => {
        const target = pathOf('bucket', 'plain');
        for (const extra of ['', 'x-id=GetObject', 'x-amz-checksum-mode=ENABLED']) {
          const presigned = rig.client.presigned('GET', target, { extra });
          assert.ok((await rig.client.unsigned('GET', presigned)).body.equals(bytes), extra);
        }
        const call = getOf('bucket', 'plain');
        const answer = await rig.client.call({ ...call, target: `${call.target}?x-id=GetObject` });
        assert.ok(answer.body.equals(bytes));
      });
    });

    test('temporary credentials need their token, and the origin never sees it', async () => {
      const { accessKeyId, secretAccessKey } = guest;
      const key = 'for-guests';
      rig.s3.put('bucket', key, bytes);
      rig.s3.traffic.clear();
      await assertReads(as(guest), 'bucket', key, bytes);
      const presigned = as(guest).presigned('GET', pathOf('bucket', key));
      assert.ok((await rig.client.unsigned('GET', presigned)).body.equals(bytes));
      const listed = await as(guest).call({ method: 'GET', target: '/bucket?list-type=2' });
      assert.equal(listed.status, 200);
      for (const { headers, target } of rig.s3.traffic.log) {
        assert.ok(!headers.has('x-amz-security-token') && !target.includes('Security-Token'));
      }
      await unseen(async () => {
        const tokens = [undefined, 'another', 'a/session+token=', 'A/session+token=='];
        for (const sessionToken of tokens) {
          const identity: Identity = {
            accessKeyId,
            secretAccessKey,
            ...(sessionToken === undefined ? {} : { sessionToken }),
          };
          const answer = await as(identity).get('bucket', key);
          assert.ok(answer.status === 400 || answer.status === 403, answer.body.toString());
          const target = as(identity).presigned('GET', pathOf('bucket', key));
          const unsigned = await rig.client.unsigned('GET', target);
          assert.ok(unsigned.status === 400 || unsigned.status === 403);
        }
      });
    });

    test('a wrong region is told the right one, and auto is taken', async () => {
      await unseen(async () => {
        const call = getOf('bucket', 'plain');
        const wrong = await rig.client.call({ ...call, region: 'eu-north-1' });
        assertRefused(wrong, 400, 'AuthorizationHeaderMalformed');
        assert.match(wrong.body.toString(), /<Region>us-east-1<\/Region>/);
        assert.equal((await rig.client.call({ ...call, region: 'auto' })).status, 200);
      });
    });

    test('absolute targets name the same key, if they agree with Host', async () => {
      const host = `127.0.0.1:${rig.client.port}`;
      await unseen(async () => {
        const signed = rig.client.bytesOf(getOf('bucket', 'plain')).toString('latin1');
        const absolute = signed.replace('GET /bucket', `GET http://${host}/bucket`);
        const answer = await rig.client.raw(Buffer.from(absolute, 'latin1'));
        assert.ok(answer.body.equals(bytes), answer.body.toString('latin1', 0, 300));
        const elsewhere = signed.replace('GET /bucket', 'GET http://elsewhere.example/bucket');
        const refused = await rig.client.raw(Buffer.from(elsewhere, 'latin1'));
        assert.equal(refused.status, 400);
      });
    });

    test('every way to write a key is one entry, and no two keys are one', async () => {
      const key = "dir/%61 b+c!*'()/é";
      rig.s3.put('bucket', key, bytes);
      await warm(rig.client, 'bucket', key);
      const encoded = encode(Buffer.from(key).toString('latin1'), true);
      await unseen(async () => {
        const raw = encoded.replace('%21%2A%27%28%29', "!*'()");
        const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase());
        const more = encoded.replace('dir', '%64%69%72');
        for (const path of [encoded, raw, lower, more]) {
          const answer = await rig.client.call({ method: 'GET', target: `/bucket/${path}` });
          assert.ok(answer.body.equals(bytes), path);
        }
      });
      const distinct = ['x', '/x', 'x/', 'x//', 'x/.', './x', 'x%2F', '%78', 'x+', 'x ', 'X'];
      for (const one of distinct) rig.s3.put('bucket', one, version(one, 5000));
      for (let read = 0; read < 3; read++) {
        for (const one of distinct) {
          await assertReads(rig.client, 'bucket', one, version(one, 5000));
        }
      }
    });

    test('a key of 1,000 bytes in characters of three bytes is read', async () => {
      const key = `${'漢'.repeat(333)}x`;
      rig.s3.put('bucket', key, bytes);
      for (let read = 0; read < 3; read++) await assertReads(rig.client, 'bucket', key, bytes);
    });

    test('ListBuckets shows what is granted, and lists need a covered prefix', async () => {
      const listed = await as(reader).call({ method: 'GET', target: '/' });
      assert.equal(listed.status, 200);
      const names = [...listed.body.toString().matchAll(/<Name>([^<]*)<\/Name>/g)];
      assert.deepEqual(
        names.map(([, name]) => name),
        ['bucket'],
      );
      const list = (query: string): Promise<Answer> =>
        as(tenant).call({ method: 'GET', target: `/bucket?${query}` });
      for (const query of ['list-type=2', 'list-type=2&prefix=a%2F', 'prefix=a%2Fb', 'prefix=']) {
        assertRefused(await list(query), 403, 'AccessDenied');
      }
      for (const query of [
        'list-type=2&prefix=a%2Fb%2F',
        'prefix=a%2Fb%2Fo&encoding-type=url',
        'prefix=c/d',
      ]) {
        assert.equal((await list(query)).status, 200, query);
      }
    });

    test('credentials that are taken back at a reload lose warm keys', async () => {
      // The gateway's own file is read again; without its reader, and then as it was.
      const { pid, config } = rig.cluster.gateway;
      const { gateway } = rig.cluster;
      const reloads = (): number => gateway.log().split('"reloaded"').length;
      const reload = async (text: string): Promise<void> => {
        const before = reloads();
        gateway.rewrite(text);
        process.kill(pid, 'SIGHUP');
        await until('the file to be read again', () => reloads() > before);
      };
      assert.equal((await as(reader).get('bucket', 'plain')).status, 200);
      await reload(config.replace('access_key_id = "reader"', 'access_key_id = "nobody"'));
      assertRefused(await as(reader).get('bucket', 'plain'), 403, 'InvalidAccessKeyId');
      const presigned = as(reader).presigned('GET', pathOf('bucket', 'plain'));
      assertRefused(await rig.client.unsigned('GET', presigned), 403, 'InvalidAccessKeyId');
      await reload(config);
      assert.equal((await as(reader).get('bucket', 'plain')).status, 200);
    });

    test('a kept connection proves nothing for the next request on it', async () => {
      const connection = await RawConnection.open(rig.client.port);
      const allowed = as(reader).bytesOf(getOf('bucket', 'plain'));
      const refused = as(tenant).bytesOf(getOf('bucket', 'plain'));
      for (const [bytesOf, status] of [
        [allowed, 200],
        [refused, 403],
        [allowed, 200],
      ] as const) {
        connection.write(bytesOf);
        assert.equal((await connection.answer()).status, status);
      }
      connection.close();
    });
  });
}
