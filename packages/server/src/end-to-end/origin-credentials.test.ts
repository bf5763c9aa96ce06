// An origin without keys in its table: the program takes credentials from AWS's default chain, here from a container's endpoint.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { container, containerToken, startPlace } from '../origin/testing/credential-places.ts';
import type { CredentialPlace } from '../origin/testing/credential-places.ts';
import { RawOrigin, answer } from '../origin/testing/raw-origin.ts';
import { credentials, freePort, runProgram, type Running } from '../testing/programs.ts';
import { until } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';

/** Credentials that end this soon are renewed halfway there. */
const lifeMs = 4000;

suite('credentials out of the default chain', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-credentials-'));
  const environment = { ...process.env };
  let place: CredentialPlace;
  let origin: RawOrigin;
  let program: Running;
  let client: S3Client;
  let adminPort = 0;
  /** What to end afterwards, also when not all of it began. */
  const ends: (() => Promise<unknown>)[] = [];

  const start = (config: string): Promise<Running> =>
    runProgram(directory, 'both', config, adminPort, false);
  const readiness = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).text();
  const failures = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(
      /^s3accel_errors_total\{source="origin",code="no-credentials"\} (\d+)$/m.exec(text)?.[1] ?? 0,
    );
  };
  const signers = (): string[] =>
    origin.requests.map(({ head }) => /Credential=([^/]+)\//.exec(head)?.[1] ?? 'nobody');

  before(async () => {
    place = await startPlace(container);
    ends.push(() => place.close());
    origin = await RawOrigin.start(({ socket }) =>
      socket.write(answer('200 OK', ['ETag: "e"'], 'bytes')),
    );
    ends.push(() => origin.close());
    Object.assign(process.env, {
      HOME: directory,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${place.url}/creds`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: containerToken,
    });
    adminPort = await freePort();
    const port = await freePort();
    client = new S3Client(port, credentials);
    program = await start(`
[origin]
endpoint = "${origin.endpoint}"
region = "us-east-1"
[node]
id = 0
data_dir = "${directory}/data"
[cache]
capacity_bytes = "64MiB"
[gateway]
listen = "127.0.0.1:${port}"
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[admin]
listen = "127.0.0.1:${adminPort}"
`);
    ends.push(() => program.stop());
  });
  after(async () => {
    process.env = environment;
    for (const end of ends.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  });

  test('without any, requests fail at once as ServiceUnavailable, which is counted and logged', async () => {
    await until('the listener', async () => (await readiness()).includes('no credentials'));
    for (const refused of [
      await client.get('bucket', 'key'),
      await client.put('bucket', 'k', 'b'),
    ]) {
      assert.equal(refused.status, 503);
      assert.match(refused.body.toString(), /<Code>ServiceUnavailable<\/Code>/);
    }
    assert.equal(origin.requests.length, 0, 'the origin was asked without credentials');
    assert.ok((await failures()) >= 2);
    // At most one line in ten seconds, however often it is tried.
    const lines = program.log().match(/there are no credentials for origins/g)?.length ?? 0;
    assert.ok(lines >= 1 && lines <= 3, program.log());
  });

  test('once there are some, they sign, session token included', async () => {
    let issued = 0;
    place.issue = () => ({
      accessKeyId: `ASIA${++issued}`,
      secretAccessKey: 'of-the-role',
      sessionToken: `token-${issued}`,
      expiresAtMs: Date.now() + lifeMs,
    });
    await until('readiness', async () => (await readiness()) === 'ready\n', 40_000);
    assert.equal((await client.get('bucket', 'one')).status, 200);
    assert.equal((await client.put('bucket', 'two', 'body')).status, 200);
    for (const { head } of origin.requests) {
      const id = /Credential=ASIA(\d+)\//.exec(head)?.[1];
      assert.match(head, new RegExp(`x-amz-security-token: token-${id}`));
      assert.match(head, /SignedHeaders=[^,]*x-amz-security-token/);
    }
  });

  test('they are renewed before they end, for all requests at once', async () => {
    const first = signers().at(-1);
    const given = place.given();
    const deadline = performance.now() + 2.5 * lifeMs;
    let key = 0;
    while (performance.now() < deadline) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => client.get('bucket', `renewed-${key++}`)),
      );
      for (const { status } of answers) assert.equal(status, 200);
    }
    assert.notEqual(signers().at(-1), first);
    const renewals = place.given() - given;
    assert.ok(renewals >= 3 && renewals <= 7, `${renewals} renewals for ${key} requests`);
    assert.equal(await program.stop(), 0);
    assert.doesNotMatch(program.log(), /of-the-role|token-\d/);
  });
});
