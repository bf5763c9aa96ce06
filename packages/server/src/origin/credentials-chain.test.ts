// AWS's default chain against local copies of the places that it looks at.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { defaultChain } from './credentials-chain.ts';
import {
  container,
  containerToken,
  instance,
  startPlace,
  tokenService,
  webIdentity,
  type CredentialPlace,
  type Issued,
} from './testing/credential-places.ts';

const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-chain-'));
const before = { ...process.env };
const places: CredentialPlace[] = [];

const issued: Issued = {
  accessKeyId: 'ASIA0',
  secretAccessKey: 'of-the-role',
  sessionToken: 'token+of/the=role',
  // The chain takes what is about to end for ended.
  expiresAtMs: Math.floor(Date.now() / 1000) * 1000 + 3_600_000,
};

/** An environment in which the chain finds nothing but what a test puts there. */
beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) Reflect.deleteProperty(process.env, name);
  }
  process.env['HOME'] = directory;
  process.env['AWS_SHARED_CREDENTIALS_FILE'] = join(directory, 'credentials');
  process.env['AWS_CONFIG_FILE'] = join(directory, 'config');
  process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
});
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
  rmSync(join(directory, 'credentials'), { force: true });
});
after(() => {
  process.env = before;
  rmSync(directory, { recursive: true });
});

async function place(script: Parameters<typeof startPlace>[0]): Promise<CredentialPlace> {
  const started = await startPlace(script);
  places.push(started);
  started.issue = () => issued;
  return started;
}

const ask = defaultChain('eu-west-1');

test('the environment comes first, and its keys have no end', async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIA0';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'of-the-environment';
  assert.deepEqual(await ask(), {
    accessKeyId: 'AKIA0',
    secretAccessKey: 'of-the-environment',
    expiresAtMs: Infinity,
  });
});

test('a profile is read again each time, so that editing it counts', async () => {
  process.env['AWS_PROFILE'] = 'cache';
  const profile = (id: string): string =>
    `[cache]\naws_access_key_id = ${id}\naws_secret_access_key = of-the-profile\n`;
  writeFileSync(join(directory, 'credentials'), profile('AKIA1'));
  assert.equal((await ask()).accessKeyId, 'AKIA1');
  writeFileSync(join(directory, 'credentials'), profile('AKIA2'));
  assert.equal((await ask()).accessKeyId, 'AKIA2');
});

test("a container's endpoint gives credentials that end", async () => {
  const { url } = await place(container);
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${url}/creds`;
  process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] = containerToken;
  assert.deepEqual(await ask(), issued);
});

test("an instance's metadata service is asked within a session", async () => {
  Reflect.deleteProperty(process.env, 'AWS_EC2_METADATA_DISABLED');
  process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = (await place(instance)).url;
  assert.deepEqual(await ask(), issued);
});

test('a web identity is traded for credentials at the token service', async () => {
  const file = join(directory, 'identity');
  writeFileSync(file, webIdentity);
  process.env['AWS_WEB_IDENTITY_TOKEN_FILE'] = file;
  process.env['AWS_ROLE_ARN'] = 'arn:aws:iam::123456789012:role/cache';
  process.env['AWS_ENDPOINT_URL_STS'] = (await place(tokenService)).url;
  assert.deepEqual(await ask(), issued);
});

test('where there are none it says so', async () => {
  await assert.rejects(ask(), /credentials/i);
});
