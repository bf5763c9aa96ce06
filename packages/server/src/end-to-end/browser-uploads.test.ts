// Uploads by HTML forms: what their policy lets them write, for whom, and that nothing else is ever committed.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { formBody, formType, type Form } from '../testing/browser-form.ts';
import { requestBytes, type Answer } from '../testing/raw-connection.ts';
import { assertNothingInUse, startRig, type Rig } from '../testing/rig.ts';
import type { Identity } from '../testing/sign.ts';
import { assertReads, version, warm } from '../testing/versions.ts';

const admin: Identity = { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' };
const tenant: Identity = { accessKeyId: 'tenant', secretAccessKey: 'tenant-credential' };
const clients = `
[[clients]]
access_key_id = "local-identity"
secret_access_key = "local-credential"
grants = [{ bucket = "*", access = "write" }]
[[clients]]
access_key_id = "tenant"
secret_access_key = "tenant-credential"
grants = [{ bucket = "bucket", prefix = "a/", access = "write" }, { bucket = "bucket", access = "read" }]
`;
const small = version('small', 5000);
const large = version('large', 3 << 20);

interface Post extends Partial<Form> {
  readonly target?: string;
  readonly host?: string;
  /** Sends so many bytes less than promised, and leaves. */
  readonly short?: number;
}

suite('uploads of browsers', () => {
  let rig: Rig;

  before(async () => {
    rig = await startRig({ processes: 1, clients, gateway: 'domains = ["s3.test"]' });
  });
  after(async () => {
    await assertNothingInUse(rig.cluster);
    await rig.stop();
  });

  function bytesOf(post: Post, bucket?: string): Buffer {
    const body = formBody({ identity: admin, file: small, ...post }, bucket);
    const headers = [
      ['host', post.host ?? `127.0.0.1:${rig.client.port}`],
      ['content-type', formType],
      ['content-length', String(body.length)],
    ] as const;
    return requestBytes('POST', post.target ?? '/bucket', headers, body);
  }

  async function send(post: Post, bucket?: string): Promise<Answer> {
    return rig.client.raw(bytesOf(post, bucket), { method: 'POST' });
  }

  async function assertRefused(post: Post, status: number, code: string): Promise<void> {
    const answer = await send(post);
    const text = answer.body.toString();
    assert.equal(answer.status, status, text);
    assert.match(text, new RegExp(`<Code>${code}</Code>`));
    assert.equal(rig.s3.get('bucket', post.fields?.['key'] ?? ''), null, 'nothing is stored');
  }

  test('a file is stored byte for byte, with what the form says about it', async () => {
    for (const file of [Buffer.alloc(0), small, version('edge', 262_144), large]) {
      const key = `stored-${file.length}`;
      const fields = { key, 'Content-Type': 'image/png', 'x-amz-meta-who': 'me' };
      const answer = await send({ file, fields });
      assert.equal(answer.status, 204, answer.body.toString());
      assert.match(answer.header('etag'), /^"[0-9a-f]{32}"$/);
      const head = await rig.client.head('bucket', key);
      assert.equal(head.header('content-type'), 'image/png');
      assert.equal(head.header('x-amz-meta-who'), 'me');
      await assertReads(rig.client, 'bucket', key, file);
    }
  });

  test('the answer is what the form asks for', async () => {
    const key = 'answers/é&1';
    const created = await send({ fields: { key, success_action_status: '201' } });
    assert.equal(created.status, 201);
    assert.match(created.body.toString(), /<Key>answers\/é&#38;1<\/Key>/);
    const ok = await send({ fields: { key, success_action_status: '200' } });
    assert.deepEqual([ok.status, ok.body.length], [200, 0]);
    const fields = { key, success_action_redirect: 'http://web.example/done' };
    const redirected = await send({ fields });
    assert.equal(redirected.status, 303);
    assert.match(
      redirected.header('location'),
      /^http:\/\/web.example\/done\?bucket=bucket&key=answers%2F%C3%A9%261&etag=%22[0-9a-f]{32}%22$/,
    );
  });

  test('the file’s own name goes into the key, and the policy judges what came out', async () => {
    const conditions = [['starts-with', '$key', 'up/']];
    const fileName = 'photo 1.png';
    const fields = { key: 'up/${filename}' };
    assert.equal((await send({ fields, fileName, conditions })).status, 204);
    await assertReads(rig.client, 'bucket', `up/${fileName}`, small);
    await assertRefused({ fields: { key: 'down/x' }, conditions }, 403, 'AccessDenied');
  });

  test('the next read of a cached key is the new file', async () => {
    const old = version('old', 50_000);
    rig.s3.put('bucket', 'cached', old);
    await warm(rig.client, 'bucket', 'cached');
    assert.equal((await send({ fields: { key: 'cached' }, file: large })).status, 204);
    await assertReads(rig.client, 'bucket', 'cached', large);
  });

  test('whoever signed the policy needs the grant, and the policy counts for its bucket alone', async () => {
    assert.equal((await send({ identity: tenant, fields: { key: 'a/mine' } })).status, 204);
    await assertRefused({ identity: tenant, fields: { key: 'b/theirs' } }, 403, 'AccessDenied');
    const stranger = { accessKeyId: 'stranger', secretAccessKey: 'tenant-credential' };
    await assertRefused({ identity: stranger, fields: { key: 'a/x' } }, 403, 'InvalidAccessKeyId');
    const other = await send({ fields: { key: 'x' } }, 'other');
    assert.equal(other.status, 403);
    assert.match(other.body.toString(), /Condition failed/);
  });

  test('a policy that is wrong, changed or over writes nothing', async () => {
    const fields = { key: 'refused' };
    const wrong: readonly (readonly [Post, number, string])[] = [
      [{ expiration: new Date(Date.now() - 1000) }, 403, 'AccessDenied'],
      [{ spoil: (all) => (all['key'] = 'refuse') }, 403, 'AccessDenied'],
      [{ spoil: (all) => (all['acl'] = 'public-read') }, 403, 'AccessDenied'],
      [{ spoil: (all) => delete all['policy'] }, 403, 'AccessDenied'],
      [{ spoil: (all) => delete all['x-amz-signature'] }, 403, 'AccessDenied'],
      [{ spoil: (all) => (all['x-amz-signature'] = '0'.repeat(64)) }, 403, 'SignatureDoesNotMatch'],
      [{ spoil: (all) => (all['x-amz-signature'] = 'é') }, 403, 'SignatureDoesNotMatch'],
      [
        { spoil: (all) => (all['policy'] = `${all['policy'] ?? ''}IA==`) },
        403,
        'SignatureDoesNotMatch',
      ],
      [{ spoil: (all) => (all['x-amz-date'] = '20200101T000000Z') }, 400, 'InvalidArgument'],
      [{ conditions: [['like', '$key', '*']] }, 400, 'InvalidPolicyDocument'],
      [{ conditions: [['content-length-range', 0, 4999]] }, 400, 'EntityTooLarge'],
      [{ conditions: [['content-length-range', 5001, 6000]] }, 400, 'EntityTooSmall'],
      [{ fields: { ...fields, 'x-amz-copy-source': '/bucket/x' } }, 400, 'InvalidArgument'],
      [{ fields: { key: '' } }, 400, 'InvalidArgument'],
      [{ fields: { key: 'k'.repeat(1025) } }, 400, 'KeyTooLongError'],
    ];
    for (const [post, status, code] of wrong) {
      await assertRefused({ fields, ...post }, status, code);
      // The large file is too large for both ranges.
      const ofLarge = code === 'EntityTooSmall' ? 'EntityTooLarge' : code;
      await assertRefused({ fields, file: large, ...post }, status, ofLarge);
    }
  });

  test('a body that is no whole form writes nothing', async () => {
    const fields = { key: 'broken' };
    // A large file's length is taken from a form that ends as forms do.
    for (const tail of ['', 'x', '\r\nmore']) {
      await assertRefused({ fields, file: large, tail }, 400, 'MalformedPOSTRequest');
    }
    for (const tail of ['', 'more']) {
      assert.equal((await send({ fields: { key: 'as-it-likes' }, tail })).status, 204);
    }
    const whole = bytesOf({ fields, file: large });
    for (const missing of [1, 20, 2 << 20]) {
      const connection = await rig.client.begin({ method: 'GET', target: '/bucket/none' });
      await connection.answer();
      connection.write(whole.subarray(0, whole.length - missing));
      await new Promise((resolve) => setTimeout(resolve, 100));
      connection.reset();
    }
    const chunked = Buffer.from(
      `POST /bucket HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/form-data; boundary=b\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    assert.equal((await rig.client.raw(chunked)).status, 411);
    assert.equal(rig.s3.get('bucket', 'broken'), null);
  });

  test('a form that is sent to a bucket’s own host is taken', async () => {
    const post = { fields: { key: 'by-host' }, target: '/', host: 'bucket.s3.test' };
    assert.equal((await send(post)).status, 204);
    await assertReads(rig.client, 'bucket', 'by-host', small);
    const nowhere = await send({ ...post, host: 's3.test' });
    assert.equal(nowhere.status, 405);
  });

  test('an error of the origin is its own', async () => {
    const answer = await send({ fields: { key: 'k' }, target: '/missing', file: large }, 'missing');
    assert.equal(answer.status, 404);
    assert.match(answer.body.toString(), /<Code>NoSuchBucket<\/Code>/);
  });
});
