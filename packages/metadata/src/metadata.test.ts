// The reference metadata service as a program: what it answers, to whom, and how it reloads.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startMetadata, type MetadataProgram } from './testing/metadata-program.ts';

const tokens = `
[[tokens]]
token = "the-token-of-all-things"
[[tokens]]
token = "the-token-of-gateways"
answers = "clients"
[[tokens]]
token = "the-token-of-nodes"
answers = "origins"
`;
const origin = `
[origin]
endpoint = "http://127.0.0.1:8080"
region = "us-east-1"
access_key_id = "origin-id"
secret_access_key = "secret-of-the-origin"
[origins.assets]
endpoint = "https://assets.example.com/s3"
region = "auto"
bucket = "assets-production"
`;
const clients = `
[[clients]]
access_key_id = "reader"
secret_access_key = "secret-of-the-first-key"
session_token = "token of the reader"
expires_at = 2100-01-01T00:00:00Z
keys = [{ access_key_id = "reader-2", secret_access_key = "secret-of-the-second-key" }]
grants = [{ bucket = "tables", prefix = "ä/", access = "read" }]
`;
const everything = tokens + origin + clients;
const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');

suite('the metadata service', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-metadata-'));
  let service: MetadataProgram;

  before(async () => {
    service = await startMetadata(directory, everything);
  });
  after(async () => {
    assert.equal(await service.stop(), 0);
    assert.doesNotMatch(service.log(), /secret-of|the-token|token of/);
    rmSync(directory, { recursive: true });
  });

  async function get(
    path: string,
    token: string | null = 'the-token-of-all-things',
  ): Promise<{ status: number; body: Record<string, unknown>; text: string }> {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(service.url + path, { headers });
    const text = await answer.text();
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    return { status: answer.status, body: JSON.parse(text) as Record<string, unknown>, text };
  }
  const client = (id: string, date = today, region = 'us-east-1'): string =>
    `/v1/clients/${id}?date=${date}&region=${region}`;

  test('a client is told with a key for the day, never with its secret', async () => {
    const { status, body, text } = await get(client('reader'));
    assert.equal(status, 200);
    assert.equal(body['access_key_id'], 'reader');
    assert.match(String(body['signing_key']), /^[0-9a-f]{64}$/);
    assert.match(String(body['session_token_sha256']), /^[0-9a-f]{64}$/);
    assert.equal(body['expires_at'], '2100-01-01T00:00:00.000Z');
    assert.deepEqual(body['grants'], [{ bucket: 'tables', prefix: 'ä/', access: 'read' }]);
    assert.doesNotMatch(text, /secret-of|token of the reader/);
  });

  test('keys differ by day and region, and by key of the client', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const keys = new Set<unknown>();
    for (const path of [
      client('reader'),
      client('reader', yesterday.replaceAll('-', '')),
      client('reader', today, 'auto'),
      client('reader-2'),
    ]) {
      keys.add((await get(path)).body['signing_key']);
    }
    assert.equal(keys.size, 4);
    const { body } = await get(client('reader-2'));
    assert.equal(body['session_token_sha256'], undefined);
    assert.equal(body['expires_at'], undefined);
  });

  test('origins are told whole, with their credentials', async () => {
    assert.deepEqual((await get('/v1/origins')).body, {
      origin: {
        endpoint: 'http://127.0.0.1:8080',
        region: 'us-east-1',
        access_key_id: 'origin-id',
        secret_access_key: 'secret-of-the-origin',
        addressing: 'path',
        checksum_trailers: true,
      },
      origins: {
        assets: {
          endpoint: 'https://assets.example.com/s3',
          region: 'auto',
          addressing: 'path',
          checksum_trailers: true,
          bucket: 'assets-production',
        },
      },
    });
  });

  test('a token answers what it is for', async () => {
    const status = async (path: string, token: string | null): Promise<number> =>
      (await get(path, token)).status;
    assert.equal(await status(client('reader'), 'the-token-of-gateways'), 200);
    assert.equal(await status('/v1/origins', 'the-token-of-gateways'), 403);
    assert.equal(await status(client('reader'), 'the-token-of-nodes'), 403);
    assert.equal(await status('/v1/origins', 'the-token-of-nodes'), 200);
    for (const token of [null, '', 'the-token-of-all-thing', 'the-token-of-all-things1', 'x']) {
      assert.equal(await status('/v1/origins', token), 401, String(token));
      assert.equal(await status(client('reader'), token), 401, String(token));
      assert.equal(await status('/v2', token), 401, String(token));
    }
    assert.equal(await status('/healthz', null), 200);
  });

  test('what makes no sense is refused', async () => {
    assert.equal((await get(client('nobody'))).status, 404);
    assert.equal((await get(client('__proto__'))).status, 404);
    assert.equal((await get('/v1/else')).status, 404);
    for (const date of ['', '20260101', '21000101', '2026-01-1', 'today']) {
      assert.equal((await get(client('reader', date))).status, 400, date);
    }
    assert.equal((await get(client('reader', today, 'a%2Fb'))).status, 400);
    assert.equal((await get(client('%ff'))).status, 400);
    const posted = await fetch(`${service.url}/v1/origins`, { method: 'POST', body: 'x' });
    assert.equal(posted.status, 405);
  });

  test('SIGHUP applies a good file, and a bad one changes nothing', async () => {
    await service.reload(everything.replace('secret_access_key', 'secret_acces_key'));
    assert.equal((await get(client('reader'))).status, 200);
    assert.match(service.log(), /nothing changed/);
    await service.reload(everything.replace('"reader"', '"writer"'));
    assert.equal((await get(client('reader'))).status, 404);
    assert.equal((await get(client('writer'))).status, 200);
    await service.reload(everything.replace('of-all-things', 'of-everything-else'));
    assert.equal((await get(client('reader'))).status, 401);
    assert.equal((await get(client('reader'), 'the-token-of-everything-else')).status, 200);
    await service.reload(everything);
    assert.equal((await get(client('reader'))).status, 200);
  });
});

test('an old Node hands over to the newer one of the workspace', () => {
  const program = join(import.meta.dirname, '../bin/s3-accelerator-metadata.mjs');
  const asNode20 = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', asNode20, program, '--help'],
    { encoding: 'utf8' },
  );
  assert.equal(stderr, '');
  assert.match(stdout, /^Usage: s3-accelerator-metadata CONFIG\.toml/);
  assert.equal(status, 0);
});
