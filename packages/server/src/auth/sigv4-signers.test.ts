import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { SignatureV4 } from '@smithy/signature-v4';
import type { SourceData } from '@smithy/types';
import fc from 'fast-check';
import {
  accessKeyId,
  secretAccessKey,
  temporary,
  exampleTime,
  now,
  emptyHash,
  sigv4,
  check,
  amzDate,
} from './testing/signed-requests.ts';

interface Aws4Request {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}
// aws4 has no types of its own.
const aws4 = createRequire(import.meta.url)('aws4') as {
  sign(request: object, credentials: object): Aws4Request;
};

describe("AWS's published examples", () => {
  const scope = '20130524/us-east-1/s3/aws4_request';
  const host = 'examplebucket.s3.amazonaws.com';
  const authorization = (signedHeaders: string, signature: string): string =>
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${signedHeaders},Signature=${signature}`;
  const common = {
    host,
    'x-amz-content-sha256': emptyHash,
    'x-amz-date': '20130524T000000Z',
  };
  const plain = 'host;x-amz-content-sha256;x-amz-date';

  test('GET Object', () => {
    const headers = {
      ...common,
      Range: 'bytes=0-9',
      Authorization: authorization(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    };
    assert.equal(check('GET', '/test.txt', headers, exampleTime), accessKeyId);
    assert.equal(sigv4.payload, 'hash');
  });

  test('PUT Object', () => {
    const headers = {
      ...common,
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      authorization: authorization(
        'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    };
    assert.equal(check('PUT', '/test$file.text', headers, exampleTime), accessKeyId);
    assert.equal(check('PUT', '/test%24file.text', headers, exampleTime), accessKeyId);
  });

  test('GET Bucket lifecycle, a parameter without a value', () => {
    const headers = {
      ...common,
      authorization: authorization(
        plain,
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    };
    assert.equal(check('GET', '/?lifecycle', headers, exampleTime), accessKeyId);
  });

  test('list objects', () => {
    const headers = {
      ...common,
      authorization: authorization(
        plain,
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    };
    assert.equal(check('GET', '/?max-keys=2&prefix=J', headers, exampleTime), accessKeyId);
    assert.equal(check('GET', '/?prefix=J&max-keys=2', headers, exampleTime), accessKeyId);
  });

  test('a presigned URL', () => {
    const target =
      '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
    assert.equal(check('GET', target, { host }, exampleTime), accessKeyId);
    assert.equal(sigv4.presigned, true);
    assert.equal(check('GET', target, { host }, exampleTime + 86_400_000), accessKeyId);
    assert.equal(check('GET', target, { host }, exampleTime + 86_401_000), 'AccessDenied');
  });

  test('the head of a chunked upload', () => {
    const headers = {
      host: 's3.amazonaws.com',
      'x-amz-date': '20130524T000000Z',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      authorization: authorization(
        'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
        '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
      ),
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': '66560',
      'content-length': '66824',
    };
    assert.equal(check('PUT', '/examplebucket/chunkObject.txt', headers, exampleTime), accessKeyId);
    assert.equal(sigv4.payload, 'signedChunks');
    assert.equal(sigv4.amzDate(), '20130524T000000Z');
    assert.equal(
      sigv4.signature(),
      '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
    );
    assert.equal(sigv4.scope.text, scope);
  });
});

const keyCharacters = fc.string({
  unit: fc.constantFrom(...Array.from('aZ0-._~/ %+!*()\'"&=?:@;$,[]<>\\^`{|}\u00e9\u65e5')),
  minLength: 1,
  maxLength: 30,
});
const headerValue = fc
  .string({ unit: fc.constantFrom(...Array.from('ab ,;=/')), maxLength: 20 })
  .map((text) => text.trim());
const parameters = fc.dictionary(
  fc.constantFrom('prefix', 'delimiter', 'max-keys', 'marker', 'acl', 'X', 'x-id'),
  fc.string({ unit: fc.constantFrom(...Array.from('aZ/+ &=%~*\u00e9')), maxLength: 8 }),
  { maxKeys: 4 },
);

function encodePath(key: string): string {
  return key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(
        /[!'()*]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/');
}

describe('what other signers sign', () => {
  test('requests signed by the AWS SDK are accepted', async () => {
    const signer = new SignatureV4({
      credentials: { accessKeyId, secretAccessKey },
      region: 'us-east-1',
      service: 's3',
      sha256: Sha256,
      uriEscapePath: false,
    });
    await fc.assert(
      fc.asyncProperty(keyCharacters, headerValue, parameters, async (key, value, query) => {
        const path = `/bucket/${encodePath(key)}`;
        const signed = await signer.sign(
          {
            method: 'GET',
            protocol: 'http:',
            hostname: 's3.test',
            path,
            query,
            headers: { host: 's3.test', 'x-amz-meta-a': value, 'x-amz-content-sha256': emptyHash },
          },
          { signingDate: new Date(now) },
        );
        const target = path + queryText(query);
        assert.equal(check('GET', target, signed.headers), accessKeyId);
      }),
      { numRuns: 200 },
    );
  });

  test('URLs presigned by the AWS SDK are accepted', async () => {
    const signer = new SignatureV4({
      credentials: temporary,
      region: 'us-east-1',
      service: 's3',
      sha256: Sha256,
      uriEscapePath: false,
    });
    await fc.assert(
      fc.asyncProperty(keyCharacters, parameters, async (key, query) => {
        const path = `/bucket/${encodePath(key)}`;
        const signed = await signer.presign(
          {
            method: 'GET',
            protocol: 'http:',
            hostname: 's3.test',
            path,
            query,
            headers: {
              host: 's3.test',
              'x-amz-checksum-mode': 'ENABLED',
              'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
            },
          },
          { signingDate: new Date(now), expiresIn: 60 },
        );
        const all = signed.query as Record<string, string>;
        assert.equal(
          check('GET', path + queryText(all), { host: 's3.test' }),
          temporary.accessKeyId,
        );
      }),
      { numRuns: 100 },
    );
  });

  test('requests signed by aws4 are accepted, in header and query', () => {
    fc.assert(
      fc.property(keyCharacters, parameters, fc.boolean(), (key, query, signQuery) => {
        const dated = signQuery ? { ...query, 'X-Amz-Date': amzDate } : query;
        const target = `/bucket/${encodePath(key)}${queryText(dated)}`;
        const signed = aws4.sign(
          {
            service: 's3',
            region: 'us-east-1',
            method: 'GET',
            host: 's3.test',
            path: target,
            signQuery,
            headers: signQuery ? {} : { 'X-Amz-Date': amzDate },
          },
          { accessKeyId, secretAccessKey },
        );
        const headers = { Host: 's3.test', ...signed.headers };
        assert.equal(check('GET', signed.path ?? '', headers), accessKeyId);
      }),
      { numRuns: 200 },
    );
  });
});

function queryText(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** The digest that the SDK's signer is built with. */
class Sha256 {
  readonly #digest;
  constructor(secret?: SourceData) {
    this.#digest =
      secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(bytes: SourceData): void {
    this.#digest.update(bytesOf(bytes));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#digest.digest());
  }
  reset(): void {
    throw new Error('the signer makes a new one for each digest');
  }
}

function bytesOf(source: SourceData): Uint8Array {
  if (typeof source === 'string') return Buffer.from(source);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}
