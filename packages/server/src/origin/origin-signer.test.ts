import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { OriginSigner, emptyPayloadHash, unsignedPayload } from './origin-signer.ts';

interface Aws4Request {
  host: string;
  path: string;
  method: string;
  service: string;
  region: string;
  headers: Record<string, string>;
  extraHeadersToIgnore?: Record<string, boolean>;
}
interface Aws4 {
  sign(
    request: Aws4Request,
    credentials: { accessKeyId: string; secretAccessKey: string },
  ): { headers: Record<string, string> };
}
const aws4 = createRequire(import.meta.url)('aws4') as Aws4;

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const now = Date.UTC(2013, 4, 24, 0, 0, 0);

function signature(headers: readonly string[]): string {
  const at = headers.findIndex((part, i) => i % 2 === 0 && part === 'authorization');
  const match = /Signature=([0-9a-f]{64})$/.exec(headers[at + 1] ?? '');
  assert.ok(match, 'there is a signature');
  return match[1]!;
}

function sign(
  method: string,
  target: string,
  extra: string[] = [],
  payloadHash = emptyPayloadHash,
): string[] {
  const headers = ['host', 'examplebucket.s3.amazonaws.com', ...extra];
  new OriginSigner().sign(method, target, headers, payloadHash, credentials, 'us-east-1', now);
  return headers;
}

test('signs the GET Bucket Lifecycle example of the S3 documentation as it is published', () => {
  assert.equal(
    signature(sign('GET', '/?lifecycle')),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  );
});

test('signs the List Objects example of the S3 documentation as it is published', () => {
  assert.equal(
    signature(sign('GET', '/?max-keys=2&prefix=J')),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

// Characters that clients leave alone: here the raw path is its own canonical form, so the oracles agree.
const pathChar = fc.constantFrom(...'abcXYZ019-._~/'.split(''), '%20', '%2A', '%C3%A9', '%25');
const path = fc.array(pathChar, { maxLength: 30 }).map((parts) => `/${parts.join('')}`);
const word = fc.stringMatching(/^[A-Za-z0-9 !*'()/+&=~-]{0,8}$/);

test('agrees with @smithy/signature-v4 on paths with //, . and .., on queries and on headers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'PUT', 'DELETE', 'HEAD'),
      path,
      fc.dictionary(fc.stringMatching(/^[a-z-]{1,6}$/), word, { maxKeys: 4 }),
      fc.stringMatching(/^[a-zA-Z0-9 ;,]{1,20}$/).filter((value) => value.trim() !== ''),
      fc.constantFrom(emptyPayloadHash, unsignedPayload),
      async (method, requestPath, query, meta, payloadHash) => {
        const signer = new SignatureV4({
          credentials,
          region: 'us-east-1',
          service: 's3',
          sha256: Sha256,
          uriEscapePath: false,
          applyChecksum: true,
        });
        const signed = await signer.sign(
          {
            protocol: 'http:',
            hostname: 'examplebucket.s3.amazonaws.com',
            method,
            path: requestPath,
            query,
            headers: {
              host: 'examplebucket.s3.amazonaws.com',
              'x-amz-meta-note': meta,
              'x-amz-content-sha256': payloadHash,
            },
          },
          { signingDate: new Date(now) },
        );
        const text = Object.entries(query)
          .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
          .join('&');
        const target = text === '' ? requestPath : `${requestPath}?${text}`;
        const mine = signature(sign(method, target, ['x-amz-meta-note', meta], payloadHash));
        assert.equal(mine, /Signature=(\w+)$/.exec(signed.headers['authorization'] ?? '')?.[1]);
      },
    ),
    { numRuns: 300 },
  );
});

test('agrees with aws4 on keys in any legal encoding', () => {
  const odd = fc
    .array(fc.constantFrom('a', '%61', '/', '//', '.', '..', "'", '(', ')', '*', '!', '%2b', '%2B'))
    .map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(odd, (target) => {
      const host = 'examplebucket.s3.amazonaws.com';
      const signed = aws4.sign(
        {
          host,
          path: target,
          method: 'GET',
          service: 's3',
          region: 'us-east-1',
          headers: {
            host,
            'X-Amz-Date': '20130524T000000Z',
            'X-Amz-Content-Sha256': emptyPayloadHash,
          },
        },
        credentials,
      );
      const theirs = /Signature=(\w+)$/.exec(signed.headers['Authorization'] ?? '')?.[1];
      assert.equal(signature(sign('GET', target)), theirs);
    }),
    { numRuns: 300 },
  );
});

test('signs every x-amz header with folded spaces and joined duplicates, and sends them as given', () => {
  const headers = sign('PUT', '/k', ['X-Amz-Meta-A', 'two  spaces', 'x-amz-meta-a', ' \xa0b ']);
  assert.equal(headers[3], 'two  spaces');
  const once = sign('PUT', '/k', ['x-amz-meta-a', 'two spaces,\xa0b']);
  assert.equal(signature(headers), signature(once));
  const names = headers.at(-1) ?? '';
  assert.match(names, /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-meta-a,/);
});

test('sends and signs the session token of temporary credentials', () => {
  const headers = ['host', 'h'];
  const temporary = { ...credentials, sessionToken: 'token' };
  new OriginSigner().sign('GET', '/', headers, emptyPayloadHash, temporary, 'us-east-1', now);
  assert.deepEqual(headers.slice(6, 8), ['x-amz-security-token', 'token']);
  assert.match(headers.at(-1) ?? '', /x-amz-date;x-amz-security-token,/);
});

test('takes a new signing key when the day, the region or the credentials change', () => {
  const signer = new OriginSigner();
  const at = (when: number, region: string, secretAccessKey: string): string => {
    const headers = ['host', 'h'];
    const chosen = { accessKeyId: 'a', secretAccessKey };
    signer.sign('GET', '/', headers, emptyPayloadHash, chosen, region, when);
    return signature(headers);
  };
  const all = [
    at(now, 'us-east-1', 's'),
    at(now + 86_400_000, 'us-east-1', 's'),
    at(now, 'eu-west-1', 's'),
    at(now, 'us-east-1', 't'),
  ];
  assert.equal(new Set(all).size, 4);
  assert.equal(at(now, 'us-east-1', 's'), all[0]);
});

/** What the smithy signer hashes with. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(chunk));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error('the signer makes a new one instead');
  }
}

function bytesOf(value: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof value === 'string') return Buffer.from(value);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
