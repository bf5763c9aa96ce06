// A gateway and a node that know nobody and nothing but a metadata service: clients, grants, origins, and what happens when it
// changes, stalls or is gone. All of them real programs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { formBody, formType } from 's3-accelerator/testing/browser-form.ts';
import { requestBytes, type Answer } from 's3-accelerator/testing/raw-connection.ts';
import {
  credentials,
  freePort,
  runProgram,
  type Running,
} from 's3-accelerator/testing/programs.ts';
import { until } from 's3-accelerator/testing/rig.ts';
import { S3Client } from 's3-accelerator/testing/s3-client.ts';
import { startMetadata, type MetadataProgram } from './testing/metadata-program.ts';

const refreshS = 2;
const keepS = 8;
const reader = { accessKeyId: 'reader', secretAccessKey: 'credential-of-the-reader' };
const writer = {
  accessKeyId: 'writer',
  secretAccessKey: 'credential-of-the-writer',
  sessionToken: 'token/of+the=writer',
};
const painter = { accessKeyId: 'painter', secretAccessKey: 'credential-of-the-painter' };
const stranger = { accessKeyId: 'stranger', secretAccessKey: 'credential-of-nobody' };

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.body.toString());
  assert.match(answer.body.toString(), new RegExp(`<Code>${code}</Code>`));
}

suite('a cluster on a metadata service', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-metadata-cluster-'));
  let s3: MemoryS3;
  let service: MetadataProgram;
  let servicePort = 0;
  let program: Running;
  let client: S3Client;
  let adminPort = 0;
  /** What to end afterwards, also when not all of it began. */
  const ends: (() => Promise<unknown>)[] = [];

  const file = (ofReader: string, ofAlias = 'bucket'): string => `
[[tokens]]
token = "the-token-of-this-cluster"
[origin]
endpoint = "http://127.0.0.1:${s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[origins.alias]
endpoint = "http://127.0.0.1:${s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
bucket = "${ofAlias}"
${ofReader}
[[clients]]
access_key_id = "writer"
secret_access_key = "${writer.secretAccessKey}"
session_token = "${writer.sessionToken}"
grants = [{ bucket = "*", access = "write" }]
[[clients]]
access_key_id = "painter"
secret_access_key = "${painter.secretAccessKey}"
grants = [{ bucket = "bucket", prefix = "painted/", access = "write" }]
`;
  const withReader = `
[[clients]]
access_key_id = "reader"
secret_access_key = "${reader.secretAccessKey}"
grants = [{ bucket = "bucket", prefix = "a/", access = "read" }, { bucket = "alias", access = "read" }]
`;

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }
  const lookups = (): Promise<number> => metric('s3accel_gateway_client_lookups_total');

  before(async () => {
    s3 = await startMemoryS3({ buckets: ['bucket', 'moved'] });
    ends.push(() => s3.close());
    for (const key of ['a/key', 'b/key']) s3.put('bucket', key, Buffer.from(`bytes of ${key}`));
    servicePort = await freePort();
    service = await startMetadata(directory, file(withReader), servicePort);
    ends.push(() => service.stop());
    adminPort = await freePort();
    const port = await freePort();
    client = new S3Client(port, reader);
    const config = `
[metadata]
url = "${service.url}"
token = "the-token-of-this-cluster"
refresh_s = ${refreshS}
keep_s = ${keepS}
[node]
id = 0
data_dir = "${directory}/data"
[cache]
capacity_bytes = "64MiB"
[cache.buckets.alias]
immutable = true
[gateway]
listen = "127.0.0.1:${port}"
loops = 1
[admin]
listen = "127.0.0.1:${adminPort}"
`;
    program = await runProgram(directory, 'both', config, adminPort);
    ends.push(async () => {
      assert.equal(await program.stop(), 0);
      assert.doesNotMatch(program.log(), /credential-of|the-token-of|token\/of/);
    });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  });

  test('a first request waits for its client to be looked up, and a hundred at once ask once', async () => {
    const before = await lookups();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => client.get('bucket', 'a/key')),
    );
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      assert.equal(body.toString(), 'bytes of a/key');
    }
    const asked = (await lookups()) - before;
    assert.ok(asked >= 1 && asked <= 3, `asked ${asked} times`);
  });

  test('grants, tokens and origins are those that the service tells', async () => {
    assertRefused(await client.get('bucket', 'b/key'), 403, 'AccessDenied');
    assertRefused(await client.put('bucket', 'a/key', 'no'), 403, 'AccessDenied');
    assert.equal((await client.get('alias', 'b/key')).body.toString(), 'bytes of b/key');
    const { accessKeyId, secretAccessKey } = writer;
    assertRefused(
      await client.as({ accessKeyId, secretAccessKey }).get('bucket', 'b/key'),
      400,
      'InvalidToken',
    );
    assert.equal((await client.as(writer).get('bucket', 'b/key')).status, 200);
    const wrong = { ...reader, secretAccessKey: 'another-credential' };
    assertRefused(await client.as(wrong).get('bucket', 'a/key'), 403, 'SignatureDoesNotMatch');
    const url = client.presigned('GET', '/bucket/a/key');
    assert.equal((await client.unsigned('GET', url)).status, 200);
  });

  test('an upload whose client has to be looked up first keeps its body', async () => {
    // Not used for longer than an answer is good for.
    await sleep(refreshS * 1000 + 300);
    const body = Buffer.alloc(3_000_000, 'upload');
    const before = await lookups();
    assert.equal((await client.as(writer).put('bucket', 'a/upload', body)).status, 200);
    assert.ok((await lookups()) > before, 'the client was known still');
    assert.ok((await client.get('bucket', 'a/upload')).body.equals(body));
  });

  test('a form whose signer has to be looked up first keeps its file, small or large', async () => {
    const post = (identity: typeof painter, key: string, bytes: Buffer): Promise<Answer> => {
      const body = formBody({ identity, file: bytes, fields: { key } });
      const headers = [
        ['host', `127.0.0.1:${client.port}`],
        ['content-type', formType],
        ['content-length', String(body.length)],
      ] as const;
      return client.raw(requestBytes('POST', '/bucket', headers, body), { method: 'POST' });
    };
    for (const size of [10, 5_000_000]) {
      await sleep(refreshS * 1000 + 300);
      const bytes = Buffer.alloc(size, 'paint');
      const before = await lookups();
      const answer = await post(painter, `painted/${size}`, bytes);
      assert.equal(answer.status, 204, answer.body.toString());
      assert.ok((await lookups()) > before, 'the signer was known still');
      assert.ok(s3.get('bucket', `painted/${size}`)?.bytes.equals(bytes));
      assertRefused(await post(painter, `elsewhere/${size}`, bytes), 403, 'AccessDenied');
      assertRefused(await post(stranger, 'painted/x', bytes), 403, 'InvalidAccessKeyId');
      await sleep(5100);
    }
    assert.equal(s3.get('bucket', 'painted/x'), null);
  });

  test('a client that goes away while it is looked up harms nobody', async () => {
    await sleep(refreshS * 1000 + 300);
    process.kill(service.pid, 'SIGSTOP');
    try {
      const connection = await client.begin({ method: 'GET', target: '/bucket/a/key' });
      await sleep(100);
      connection.close();
    } finally {
      process.kill(service.pid, 'SIGCONT');
    }
    assert.equal((await client.get('bucket', 'a/key')).status, 200);
  });

  test('while the service stalls, known clients are served and only unknown ones wait', async () => {
    assert.equal((await client.get('bucket', 'a/key')).status, 200);
    process.kill(service.pid, 'SIGSTOP');
    try {
      const waiting = client.as(stranger).get('bucket', 'a/key');
      const deadline = performance.now() + 1000;
      let slowestMs = 0;
      while (performance.now() < deadline) {
        const from = performance.now();
        assert.equal((await client.get('bucket', 'a/key')).status, 200);
        slowestMs = Math.max(slowestMs, performance.now() - from);
      }
      assert.ok(slowestMs < 500, `a hit took ${slowestMs} ms`);
      assertRefused(await waiting, 503, 'ServiceUnavailable');
    } finally {
      process.kill(service.pid, 'SIGCONT');
    }
    await until('the service to be asked again', async () => {
      const { status } = await client.as(stranger).get('bucket', 'a/key');
      return status === 403;
    });
    assertRefused(await client.as(stranger).get('bucket', 'a/key'), 403, 'InvalidAccessKeyId');
  });

  test('invented key ids cost the service a bounded number of requests, and known clients none', async () => {
    const before = await lookups();
    const begun = performance.now();
    let invented = 0;
    const flood = Promise.all(
      Array.from({ length: 20 }, async () => {
        while (performance.now() - begun < 3000) {
          const identity = { ...stranger, accessKeyId: `invented-${invented++}` };
          const { status } = await client.as(identity).get('bucket', 'a/key');
          assert.ok(status === 403 || status === 503, `status ${status}`);
        }
      }),
    );
    let served = 0;
    while (performance.now() - begun < 3000) {
      assert.equal((await client.get('bucket', 'a/key')).status, 200);
      served += 1;
    }
    await flood;
    const seconds = (performance.now() - begun) / 1000;
    const asked = (await lookups()) - before;
    assert.ok(served > 10 && invented > 400, `${served} served, ${invented} invented`);
    assert.ok(asked <= 200 + 100 * seconds + 10, `asked ${asked} times in ${seconds} s`);
  });

  test('a client that is taken back is refused within refresh_s, warm and in use', async () => {
    const asWriter = client.as(writer);
    assert.equal((await client.get('bucket', 'a/key')).status, 200);
    await service.reload(file(''));
    const takenBack = performance.now();
    let usedUntil = takenBack;
    for (;;) {
      const { status } = await client.get('bucket', 'a/key');
      if (status !== 200) break;
      usedUntil = performance.now();
      assert.ok(usedUntil - takenBack < refreshS * 1000 + 200, 'still served');
      await sleep(20);
    }
    assertRefused(await client.get('bucket', 'a/key'), 403, 'InvalidAccessKeyId');
    assert.equal((await asWriter.get('bucket', 'b/key')).status, 200);
    await service.reload(file(withReader));
    await until('the reader to be known again', async () => {
      return (await client.get('bucket', 'a/key')).status === 200;
    });
  });

  test('a bucket that is pointed elsewhere is so for all that is known of it, within refresh_s', async () => {
    s3.put('moved', 'a/key', Buffer.from('bytes that are elsewhere'));
    const lengthOf = async (): Promise<string | undefined> => {
      const { headers } = await client.head('alias', 'a/key');
      return headers.find(([name]) => name === 'content-length')?.[1];
    };
    assert.equal(await lengthOf(), '14');
    await service.reload(file(withReader, 'moved'));
    await until('the other origin', async () => (await lengthOf()) === '24');
    assert.equal((await client.get('alias', 'a/key')).body.toString(), 'bytes that are elsewhere');
    await service.reload(file(withReader));
    await until('the first one', async () => (await lengthOf()) === '14');
  });

  test('once the service is gone, what it said last counts for keep_s and no longer', async () => {
    await service.stop('SIGKILL');
    const gone = performance.now();
    let goodUntil = gone;
    for (;;) {
      const answer = await client.get('bucket', 'a/key');
      if (answer.status !== 200) {
        assertRefused(answer, 503, 'ServiceUnavailable');
        break;
      }
      goodUntil = performance.now();
      assert.ok(goodUntil - gone < keepS * 1000 + 500, 'still served');
      await sleep(50);
    }
    const lasted = goodUntil - gone;
    assert.ok(lasted > (keepS - refreshS) * 1000 - 500, `served for ${lasted} ms`);
    assertRefused(await client.as(stranger).get('bucket', 'a/key'), 503, 'ServiceUnavailable');
    assert.match(program.log(), /the metadata service gave no answer about a client/);
    service = await startMetadata(directory, file(withReader), servicePort);
    await until('the service to be asked again', async () => {
      return (await client.get('bucket', 'a/key')).status === 200;
    });
    await until('the origin to be known again', async () => {
      return (await client.as(writer).put('bucket', 'a/after', 'back')).status === 200;
    });
  });
});
