// A client's keys come and go: two at a time for rotation, each with an end of its own, changed by SIGHUP.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../testing/raw-connection.ts';
import { assertNothingInUse, startRig, until, type Rig } from '../testing/rig.ts';
import { version, warm } from '../testing/versions.ts';

const old = { accessKeyId: 'tenant-1', secretAccessKey: 'the-first-credential' };
const next = { accessKeyId: 'tenant-2', secretAccessKey: 'the-second-credential' };
const guest = { accessKeyId: 'guest', secretAccessKey: 'credential-of-a-guest' };

const keyOf = ({ accessKeyId, secretAccessKey }: typeof old): string =>
  `access_key_id = "${accessKeyId}"\nsecret_access_key = "${secretAccessKey}"\n`;
const inline = (key: typeof old): string => `{ ${keyOf(key).trim().replace('\n', ', ')} }`;
const grants = 'grants = [{ bucket = "bucket", prefix = "a/", access = "read" }]\n';

function assertRefused(answer: Answer, code: string, status = 403): void {
  assert.equal(answer.status, status);
  assert.match(answer.body.toString(), new RegExp(`<Code>${code}</Code>`));
}

suite("a client's keys", () => {
  let rig: Rig;
  const bytes = version('kept', 50_000);

  before(async () => {
    rig = await startRig({
      processes: 1,
      clients: `
[[clients]]
${keyOf(old)}keys = [${inline(next)}]
${grants}
[[clients]]
${keyOf(guest)}${grants}
[[clients]]
access_key_id = "local-identity"
secret_access_key = "local-credential"
grants = [{ bucket = "*", access = "write" }]
`,
    });
    rig.s3.put('bucket', 'a/key', bytes);
    rig.s3.put('bucket', 'b/key', bytes);
    await warm(rig.client, 'bucket', 'a/key');
  });
  after(async () => {
    await assertNothingInUse(rig.cluster);
    await rig.stop();
  });

  /** Changes the gateway's file and waits until it is in force. */
  async function reload(from: string, to: string): Promise<void> {
    const { gateway } = rig.cluster;
    assert.ok(gateway.config.includes(from));
    const reloads = (): number => gateway.log().split('"reloaded"').length;
    const before = reloads();
    gateway.rewrite(gateway.config.replace(from, to));
    process.kill(gateway.pid, 'SIGHUP');
    await until('the file is read again', () => reloads() > before);
  }

  test('each key may do what the client may', async () => {
    for (const key of [old, next]) {
      const client = rig.client.as(key);
      assert.deepEqual((await client.get('bucket', 'a/key')).body, Buffer.from(bytes));
      assertRefused(await client.get('bucket', 'b/key'), 'AccessDenied');
      assertRefused(await client.put('bucket', 'a/new', 'body'), 'AccessDenied');
    }
  });

  test("one key's secret doesn't sign for another", async () => {
    const mixed = { ...next, secretAccessKey: old.secretAccessKey };
    assertRefused(await rig.client.as(mixed).get('bucket', 'a/key'), 'SignatureDoesNotMatch');
  });

  test('a key works until its end and not after it, warm or presigned', async () => {
    const client = rig.client.as(guest);
    const target = client.presigned('GET', '/bucket/a/key', { expiresSeconds: 3600 });
    const endMs = Date.now() + 3000;
    await reload(keyOf(guest), `${keyOf(guest)}expires_at = ${new Date(endMs).toISOString()}\n`);
    assert.equal((await client.get('bucket', 'a/key')).status, 200);
    assert.equal((await client.unsigned('GET', target)).status, 200);
    await sleep(endMs - Date.now() + 5);
    assertRefused(await client.get('bucket', 'a/key'), 'ExpiredToken', 400);
    assertRefused(await client.unsigned('GET', target), 'ExpiredToken', 400);
  });

  test('the old key goes with a SIGHUP, while the new one goes on working', async () => {
    const over = new AbortController();
    const reading = (async (): Promise<void> => {
      while (!over.signal.aborted) {
        assert.equal((await rig.client.as(next).get('bucket', 'a/key')).status, 200);
      }
    })();
    await reload(`${keyOf(old)}keys = [${inline(next)}]\n`, keyOf(next));
    over.abort();
    await reading;
    assertRefused(await rig.client.as(old).get('bucket', 'a/key'), 'InvalidAccessKeyId');
    assert.equal((await rig.client.as(next).get('bucket', 'a/key')).status, 200);
  });
});
