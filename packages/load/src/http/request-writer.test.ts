import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { HeadParts } from './request-writer.ts';
import { RequestWriter, emptyHash, maxHeadBytes, unsignedPayload } from './request-writer.ts';

// The library ships no types; this is all that is used of it.
const aws4 = createRequire(import.meta.url)('aws4') as {
  sign(
    request: {
      service: string;
      region: string;
      method: string;
      path: string;
      host: string;
      headers: Record<string, string>;
    },
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string },
  ): { readonly headers: Record<string, string | number> };
};

const endpoint = {
  url: 'http://127.0.0.1:9000',
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a secret',
  sessionToken: null,
};
const get: HeadParts = {
  method: 'GET',
  path: '/load/small/000000001',
  query: '',
  range: '',
  payloadHash: emptyHash,
  bodyBytes: -1,
};

function headOf(writer: RequestWriter, parts: HeadParts, now: number): string {
  const into = Buffer.alloc(maxHeadBytes);
  return into.toString('latin1', 0, writer.write(into, parts, now));
}

function headerOf(head: string, name: string): string {
  return new RegExp(`\r\n${name}: ([^\r]*)\r\n`).exec(head)?.[1] ?? '';
}

/** The signature by an independent signer. */
function authorizationBy(
  path: string,
  parts: HeadParts,
  head: string,
  token: string | null,
): string {
  const signed = aws4.sign(
    {
      service: 's3',
      region: endpoint.region,
      method: parts.method,
      host: '127.0.0.1:9000',
      path,
      headers: {
        'X-Amz-Date': headerOf(head, 'x-amz-date'),
        'X-Amz-Content-Sha256': parts.payloadHash,
      },
    },
    {
      accessKeyId: endpoint.accessKeyId,
      secretAccessKey: endpoint.secretAccessKey,
      ...(token === null ? {} : { sessionToken: token }),
    },
  );
  return String(signed.headers['Authorization']);
}

const now = Date.UTC(2026, 10, 30, 23, 59, 59, 500);

test('signatures are those of an independent signer, also past midnight', () => {
  const writer = new RequestWriter(endpoint);
  for (const at of [now, now + 400, now + 600, now + 86_400_000]) {
    const put = { ...get, method: 'PUT', payloadHash: unsignedPayload, bodyBytes: 5 } as const;
    const list = {
      ...get,
      path: '/load',
      query: 'list-type=2&prefix=small%2F&start-after=small%2F1',
    };
    for (const parts of [get, put, list, { ...get, method: 'HEAD' } as const]) {
      const head = headOf(writer, parts, at);
      const target = parts.query === '' ? parts.path : `${parts.path}?${parts.query}`;
      assert.ok(head.startsWith(`${parts.method} ${target} HTTP/1.1\r\n`));
      assert.equal(headerOf(head, 'authorization'), authorizationBy(target, parts, head, null));
    }
  }
});

test('a session token is sent and signed', () => {
  const head = headOf(new RequestWriter({ ...endpoint, sessionToken: 'a/token=' }), get, now);
  assert.equal(headerOf(head, 'x-amz-security-token'), 'a/token=');
  assert.equal(headerOf(head, 'authorization'), authorizationBy(get.path, get, head, 'a/token='));
});

test("an endpoint's own path stands before the bucket, and is signed", () => {
  const writer = new RequestWriter({ ...endpoint, url: 'http://127.0.0.1:9000/s3' });
  const head = headOf(writer, get, now);
  assert.ok(head.startsWith('GET /s3/load/small/000000001 HTTP/1.1\r\n'));
  assert.equal(headerOf(head, 'authorization'), authorizationBy(`/s3${get.path}`, get, head, null));
});
