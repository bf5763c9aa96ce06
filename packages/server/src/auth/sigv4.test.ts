import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { SignatureV4 } from '@smithy/signature-v4';
import type { SourceData } from '@smithy/types';
import fc from 'fast-check';
import { formatAmzDate } from '@s3-accelerator/core/s3/http-date.ts';
import { RequestHead } from '../http/request-head.ts';
import { RequestParser, newHeadProgress } from '../http/request-parser.ts';
import { ClientTable, type ClientSettings } from './clients.ts';
import { SigV4, requiredScratchBytes } from './sigv4.ts';

interface Aws4Request {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}
// aws4 has no types of its own.
const aws4 = createRequire(import.meta.url)('aws4') as {
  sign(request: object, credentials: object): Aws4Request;
};

const accessKeyId = 'AKIAIOSFODNN7EXAMPLE';
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const temporary = {
  accessKeyId: 'ASIATEMPORARY',
  secretAccessKey: 'temporary',
  sessionToken: 'to/ken+==',
};
const clients: readonly ClientSettings[] = [
  { accessKeyId, secretAccessKey, grants: [] },
  { ...temporary, expiresAtMs: Date.UTC(2030, 0), grants: [] },
  { accessKeyId: 'with/slash', secretAccessKey: 's', grants: [] },
];
const exampleTime = Date.UTC(2013, 4, 24);
const now = Date.UTC(2026, 10, 29, 12);
const emptyHash = createHash('sha256').digest('hex');

const head = new RequestHead();
const parser = new RequestParser(head);
const sigv4 = new SigV4(new Digester(requiredScratchBytes), new ClientTable(clients), {
  region: 'us-east-1',
  maxScopes: 16,
});

type Headers = Readonly<Record<string, string>>;

function check(method: string, target: string, headers: Headers, atMs = now): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  const bytes = new Uint8Array(text.buffer, text.byteOffset, text.length);
  assert.equal(parser.parse(bytes, text, 0, text.length, newHeadProgress()), 'complete');
  const error = sigv4.check(head, atMs);
  assert.equal(error === null, sigv4.client !== null);
  return error ?? sigv4.client!.accessKeyId;
}

/** A third reading of SigV4, for requests that no library would make: the canonical request is given as lines. */
function sign(
  canonical: readonly string[],
  options: { secret?: string; region?: string; amzDate?: string; scopeDay?: string } = {},
): string {
  const { secret = secretAccessKey, region = 'us-east-1' } = options;
  const { amzDate = formatAmzDate(now / 1000) } = options;
  const day = options.scopeDay ?? amzDate.slice(0, 8);
  const hmac = (key: Buffer | string, text: string): Buffer =>
    createHmac('sha256', key).update(text, 'latin1').digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request');
  const hash = createHash('sha256').update(canonical.join('\n'), 'latin1').digest('hex');
  return hmac(
    key,
    `AWS4-HMAC-SHA256\n${amzDate}\n${day}/${region}/s3/aws4_request\n${hash}`,
  ).toString('hex');
}

const amzDate = formatAmzDate(now / 1000);

interface Signed {
  readonly method?: string;
  readonly target?: string;
  /** As the client writes it into its canonical request, when that isn't the target's path as sent. */
  readonly canonicalPath?: string;
  readonly canonicalQuery?: string;
  readonly signed?: Headers;
  readonly unsigned?: Headers;
  readonly region?: string;
  readonly accessKey?: string;
  readonly secret?: string;
  readonly date?: string;
  readonly scopeDay?: string;
  readonly hash?: string;
}

/** Signs by hand and checks. */
function checkSigned(options: Signed, atMs = now): string {
  const { method = 'GET', target = '/bucket/key', region = 'us-east-1' } = options;
  const { accessKey = accessKeyId, secret = secretAccessKey, date = amzDate } = options;
  const { hash = emptyHash } = options;
  const day = options.scopeDay ?? date.slice(0, 8);
  const signed: Record<string, string> = {
    host: 's3.test',
    'x-amz-content-sha256': hash,
    'x-amz-date': date,
    ...options.signed,
  };
  const names = Object.keys(signed).sort();
  const [path = '', query = ''] = target.split('?');
  const signature = sign(
    [
      method,
      options.canonicalPath ?? path,
      options.canonicalQuery ?? query,
      ...names.map((name) => `${name}:${signed[name]!.replace(/[ \t]+/g, ' ')}`),
      '',
      names.join(';'),
      hash,
    ],
    { secret, region, amzDate: date, scopeDay: day },
  );
  return check(
    method,
    target,
    {
      ...signed,
      ...options.unsigned,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${day}/${region}/s3/aws4_request, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    },
    atMs,
  );
}

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

describe('one key, many spellings', () => {
  test('a path is accepted in any encoding of the key, signed canonically or as sent', () => {
    for (const [sent, canonical] of [
      ['/b/%61.txt', '/b/a.txt'],
      ['/b/a%2bb', '/b/a%2Bb'],
      ['/b/a+b', '/b/a%2Bb'],
      ["/b/!*()'", '/b/%21%2A%28%29%27'],
      ['/b/a%252Fb', '/b/a%252Fb'],
      ['/b/a%2Fb', '/b/a/b'],
      ['/b/\u00c3\u00a9', '/b/%C3%A9'],
      ['/b//a/./../c', '/b//a/./../c'],
    ] as const) {
      assert.equal(checkSigned({ target: sent, canonicalPath: canonical }), accessKeyId, sent);
      assert.equal(checkSigned({ target: sent }), accessKeyId, sent);
    }
  });

  test('a signature over one key never reaches another', () => {
    for (const [sent, canonical] of [
      ['/b/a/%2e%2e/secret', '/b/secret'],
      ['/b//foo', '/b/foo'],
      ['/b/foo/', '/b/foo'],
      ['/b/a%252Fb', '/b/a/b'],
      ['/b/a%2Fb', '/b/a%252Fb'],
      ['/b/a', '/b/A'],
    ] as const) {
      assert.equal(
        checkSigned({ target: sent, canonicalPath: canonical }),
        'SignatureDoesNotMatch',
        sent,
      );
    }
  });

  test('a plus in a query is a space, as S3 has it', () => {
    assert.equal(
      checkSigned({ target: '/b?prefix=a+b', canonicalQuery: 'prefix=a%20b' }),
      accessKeyId,
    );
    assert.equal(
      checkSigned({ target: '/b?prefix=a+b', canonicalQuery: 'prefix=a%2Bb' }),
      'SignatureDoesNotMatch',
    );
  });

  test('malformed escapes are an invalid URI', () => {
    assert.equal(checkSigned({ target: '/b/%zz' }), 'InvalidURI');
    assert.equal(checkSigned({ target: '/b/%4' }), 'InvalidURI');
    assert.equal(checkSigned({ target: '/b/k?a=%zz' }), 'InvalidURI');
  });
});

describe('headers', () => {
  test('inner spaces are folded in the canonical string only', () => {
    assert.equal(checkSigned({ signed: { 'x-amz-meta-a': 'a  b \t c' } }), accessKeyId);
  });

  test('SDKs may sign accept-encoding, user-agent and content-length: 0 on a GET', () => {
    const signed = { 'accept-encoding': 'identity', 'content-length': '0', 'user-agent': 'x  y' };
    assert.equal(checkSigned({ signed }), accessKeyId);
  });

  test('unsigned x-amz-headers that change the operation are refused', () => {
    for (const name of [
      'x-amz-copy-source',
      'X-Amz-Acl',
      'x-amz-meta-a',
      'x-amz-checksum-mode',
      'x-amz-server-side-encryption-customer-key',
      'x-amz-storage-class',
    ]) {
      assert.equal(checkSigned({ unsigned: { [name]: 'v' } }), 'AccessDenied', name);
    }
    assert.equal(checkSigned({ unsigned: { 'x-amz-user-agent': 'v', range: 'v' } }), accessKeyId);
  });

  test('a signature that leaves out host is refused', () => {
    const signature = sign([
      'GET',
      '/b/k',
      '',
      `x-amz-date:${amzDate}`,
      '',
      'x-amz-date',
      emptyHash,
    ]);
    assert.equal(
      check('GET', '/b/k', {
        host: 'h',
        'x-amz-date': amzDate,
        'x-amz-content-sha256': emptyHash,
        authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${amzDate.slice(0, 8)}/us-east-1/s3/aws4_request, SignedHeaders=x-amz-date, Signature=${signature}`,
      }),
      'AccessDenied',
    );
  });

  test('lists that are unsorted, repeat a name or name what is not there match nothing', () => {
    const day = amzDate.slice(0, 8);
    for (const list of [
      'x-amz-date;host',
      'host;host',
      'host;missing',
      '',
      ';host',
      'host;',
      'Host',
    ]) {
      const names = list.split(';');
      const lines = names.map((name) => `${name}:${name === 'x-amz-date' ? amzDate : 'h'}`);
      const signature = sign(['GET', '/b/k', '', ...lines, '', list, emptyHash]);
      const error = check('GET', '/b/k', {
        host: 'h',
        'x-amz-date': amzDate,
        'x-amz-content-sha256': emptyHash,
        authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${day}/us-east-1/s3/aws4_request, SignedHeaders=${list}, Signature=${signature}`,
      });
      assert.notEqual(error, accessKeyId, list);
    }
  });
});

describe('refusals by S3 code', () => {
  test('no signature at all', () => {
    assert.equal(check('GET', '/b/k', { host: 'h' }), 'AccessDenied');
    assert.equal(check('GET', '/b/k?x-id=GetObject', { host: 'h' }), 'AccessDenied');
  });

  test('other schemes', () => {
    const scheme = (authorization: string): string =>
      check('GET', '/b/k', { host: 'h', authorization });
    assert.equal(scheme('AWS AKID:c2ln'), 'InvalidRequest');
    assert.equal(scheme('AWS4-ECDSA-P256-SHA256 Credential=a'), 'InvalidRequest');
    assert.equal(scheme('Basic YTpi'), 'InvalidArgument');
    assert.equal(scheme(''), 'InvalidArgument');
    assert.equal(
      check('GET', '/b/k?AWSAccessKeyId=a&Signature=b&Expires=1', { host: 'h' }),
      'InvalidRequest',
    );
  });

  test('a malformed header', () => {
    const credential = `Credential=${accessKeyId}/20261129/us-east-1/s3/aws4_request`;
    for (const fields of [
      '',
      credential,
      `${credential}, SignedHeaders=host`,
      `${credential}, SignedHeaders=host, Signature=a, Signature=a`,
      `${credential}, ${credential}, SignedHeaders=host, Signature=a`,
      `${credential}, SignedHeaders=host, SignedHeaders=host, Signature=a`,
      `${credential}, SignedHeaders=host, Signature=a, Other=b`,
      'Credential=a, SignedHeaders=host, Signature=a',
      `Credential=${accessKeyId}/20261129/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=a`,
      `Credential=${accessKeyId}/20261129/us-east-1/s3/aws3_request, SignedHeaders=host, Signature=a`,
      `Credential=/20261129/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=a`,
    ]) {
      assert.equal(
        check('GET', '/b/k', { host: 'h', authorization: `AWS4-HMAC-SHA256 ${fields}` }),
        'AuthorizationHeaderMalformed',
        fields,
      );
    }
  });

  test('an unknown key, with or without a right signature', () => {
    assert.equal(checkSigned({ accessKey: 'AKIANOBODY' }), 'InvalidAccessKeyId');
  });

  test('a key with slashes is found', () => {
    assert.equal(checkSigned({ accessKey: 'with/slash', secret: 's' }), 'with/slash');
  });

  test('a wrong secret', () => {
    assert.equal(checkSigned({ secret: 'wrong' }), 'SignatureDoesNotMatch');
  });

  test('another region is answered with ours, and auto is allowed', () => {
    assert.equal(checkSigned({ region: 'eu-west-1' }), 'AuthorizationHeaderMalformed');
    assert.deepEqual(sigv4.details, [['Region', 'us-east-1']]);
    assert.equal(checkSigned({ region: 'auto' }), accessKeyId);
  });

  test('a clock that is off by more than fifteen minutes', () => {
    const minutes = 60_000;
    assert.equal(checkSigned({}, now + 15 * minutes), accessKeyId);
    assert.equal(checkSigned({}, now - 15 * minutes), accessKeyId);
    assert.equal(checkSigned({}, now + 15 * minutes + 1000), 'RequestTimeTooSkewed');
    assert.equal(checkSigned({}, now - 15 * minutes - 1000), 'RequestTimeTooSkewed');
    assert.deepEqual(sigv4.details[0], ['RequestTime', amzDate]);
  });

  test('a scope of another day than the request', () => {
    assert.equal(checkSigned({ scopeDay: '20261128' }), 'AuthorizationHeaderMalformed');
  });

  test('missing and unreadable dates and hashes', () => {
    assert.equal(checkSigned({ date: '20261129T120000' }), 'AccessDenied');
    assert.equal(checkSigned({ hash: 'abc' }), 'InvalidArgument');
    assert.equal(checkSigned({ hash: emptyHash.toUpperCase() }), 'InvalidArgument');
    assert.equal(
      checkSigned({ hash: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }),
      'InvalidArgument',
    );
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261129/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`;
    assert.equal(check('GET', '/b/k', { host: 'h', authorization }), 'MissingSecurityHeader');
    assert.equal(
      check('GET', '/b/k', { host: 'h', authorization, 'x-amz-content-sha256': emptyHash }),
      'AccessDenied',
    );
  });

  test('the forms of a payload are told apart', () => {
    for (const [hash, form] of [
      ['UNSIGNED-PAYLOAD', 'unsigned'],
      ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'signedChunks'],
      ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', 'signedChunksTrailer'],
      ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'unsignedTrailer'],
      [emptyHash, 'hash'],
    ] as const) {
      assert.equal(checkSigned({ hash }), accessKeyId);
      assert.equal(sigv4.payload, form);
      assert.equal(sigv4.payloadHash(), hash);
    }
  });

  test('session tokens must be the right one, or absent where none is configured', () => {
    const from = { accessKey: temporary.accessKeyId, secret: temporary.secretAccessKey };
    const token = (value: string): Headers => ({ 'x-amz-security-token': value });
    assert.equal(
      checkSigned({ ...from, signed: token(temporary.sessionToken) }),
      temporary.accessKeyId,
    );
    assert.equal(checkSigned({ ...from, signed: token('wrong') }), 'InvalidToken');
    assert.equal(checkSigned(from), 'InvalidToken');
    assert.equal(checkSigned({ signed: token(temporary.sessionToken) }), 'InvalidToken');
    const later = Date.UTC(2030, 0, 1);
    const date = formatAmzDate(later / 1000);
    assert.equal(
      checkSigned({ ...from, date, signed: token(temporary.sessionToken) }, later),
      'ExpiredToken',
    );
  });

  test('details never hold a secret or a signature', () => {
    checkSigned({}, now + 86_400_000);
    assert.ok(!JSON.stringify(sigv4.details).includes('Signature'));
    const [client] = [new ClientTable(clients).find(accessKeyId)];
    assert.ok(!JSON.stringify(client).includes(secretAccessKey));
  });
});

describe('presigned', () => {
  const query = (changes: Readonly<Record<string, string | null>> = {}): Record<string, string> => {
    const all: Record<string, string | null> = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `${accessKeyId}/20261129/us-east-1/s3/aws4_request`,
      'X-Amz-Date': amzDate,
      'X-Amz-Expires': '3600',
      'X-Amz-SignedHeaders': 'host',
      ...changes,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  };

  function presign(
    changes: Readonly<Record<string, string | null>> = {},
    extra: {
      headers?: Headers;
      append?: string;
      hash?: string;
      method?: string;
      atMs?: number;
    } = {},
  ): string {
    const { headers = {}, append = '', hash = 'UNSIGNED-PAYLOAD', method = 'GET' } = extra;
    const own = query(changes);
    const canonicalQuery = Object.entries(own)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join('&');
    const names = (own['X-Amz-SignedHeaders'] ?? 'host').split(';');
    const all: Headers = { host: 's3.test', ...headers };
    const signature = sign([
      method,
      '/b/k',
      canonicalQuery,
      ...names.map((name) => `${name}:${all[name] ?? ''}`),
      '',
      names.join(';'),
      hash,
    ]);
    return check(
      method,
      `/b/k?X-Amz-Signature=${signature}&${canonicalQuery}${append}`,
      all,
      extra.atMs ?? now,
    );
  }

  test('a URL is good for as long as it says, and not before its time', () => {
    assert.equal(presign(), accessKeyId);
    assert.equal(presign({}, { atMs: now + 3_600_000 }), accessKeyId);
    assert.equal(presign({}, { atMs: now + 3_601_000 }), 'AccessDenied');
    assert.equal(presign({}, { atMs: now - 901_000 }), 'AccessDenied');
    assert.equal(presign({ 'X-Amz-Expires': '604800' }, { atMs: now + 604_800_000 }), accessKeyId);
  });

  test('parameters that are wrong or missing', () => {
    for (const changes of [
      { 'X-Amz-Algorithm': 'AWS4-ECDSA-P256-SHA256' },
      { 'X-Amz-Algorithm': null },
      { 'X-Amz-Credential': null },
      { 'X-Amz-Credential': 'nonsense' },
      { 'X-Amz-Date': null },
      { 'X-Amz-Date': 'today' },
      { 'X-Amz-Date': '20261128T120000Z' },
      { 'X-Amz-Expires': null },
      { 'X-Amz-Expires': '0' },
      { 'X-Amz-Expires': '-1' },
      { 'X-Amz-Expires': '604801' },
      { 'X-Amz-Expires': '1e3' },
      { 'X-Amz-SignedHeaders': null },
    ]) {
      assert.equal(presign(changes), 'AuthorizationQueryParametersError', JSON.stringify(changes));
    }
    const region = `${accessKeyId}/20261129/eu-west-1/s3/aws4_request`;
    assert.equal(presign({ 'X-Amz-Credential': region }), 'AuthorizationQueryParametersError');
    assert.deepEqual(sigv4.details, [['Region', 'us-east-1']]);
    const nobody = 'AKIANOBODY/20261129/us-east-1/s3/aws4_request';
    assert.equal(presign({ 'X-Amz-Credential': nobody }), 'InvalidAccessKeyId');
  });

  test('every parameter but the signature is covered by it', () => {
    for (const append of ['&versionId=1', '&x-amz-copy-source=%2Fb%2Fsecret', '&acl', '&']) {
      const expected = append === '&' ? accessKeyId : 'SignatureDoesNotMatch';
      assert.equal(presign({}, { append }), expected, append);
    }
    assert.equal(presign({ 'x-id': 'GetObject', 'x-amz-checksum-mode': 'ENABLED' }), accessKeyId);
    assert.equal(presign({}, { append: '&X-Amz-Expires=9' }), 'AuthorizationQueryParametersError');
    assert.equal(
      presign({}, { append: `&X-Amz-Signature=${'0'.repeat(64)}` }),
      'AuthorizationQueryParametersError',
    );
  });

  test('unsigned x-amz-headers are refused, signed ones accepted', () => {
    for (const name of ['x-amz-copy-source', 'x-amz-acl', 'x-amz-content-sha256']) {
      const value = name === 'x-amz-content-sha256' ? emptyHash : '/b/secret';
      const headers = { [name]: value };
      assert.equal(presign({}, { headers, method: 'PUT' }), 'AccessDenied', name);
      const hash = name === 'x-amz-content-sha256' ? emptyHash : 'UNSIGNED-PAYLOAD';
      assert.equal(
        presign({ 'X-Amz-SignedHeaders': `host;${name}` }, { headers, method: 'PUT', hash }),
        accessKeyId,
        name,
      );
    }
  });

  test('a payload hash in the query counts', () => {
    const hashed = { 'X-Amz-Content-Sha256': emptyHash };
    assert.equal(presign(hashed, { hash: emptyHash }), accessKeyId);
    assert.equal(sigv4.payload, 'hash');
    assert.equal(presign(hashed), 'SignatureDoesNotMatch');
  });

  test('a second signature in the header is refused', () => {
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261129/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`;
    assert.equal(presign({}, { headers: { authorization } }), 'InvalidArgument');
  });
});

test('no byte of a signed request can be changed unnoticed', () => {
  const hash = 'UNSIGNED-PAYLOAD';
  const names = 'host;range;x-amz-content-sha256;x-amz-date';
  const signature = sign([
    'GET',
    '/bucket/some%20key',
    'list-type=2&prefix=a%2Fb',
    'host:s3.test',
    'range:bytes=0-9',
    `x-amz-content-sha256:${hash}`,
    `x-amz-date:${amzDate}`,
    '',
    names,
    hash,
  ]);
  const text = Buffer.from(
    'GET /bucket/some%20key?list-type=2&prefix=a%2Fb HTTP/1.1\r\n' +
      `host:s3.test\r\nrange:bytes=0-9\r\nx-amz-content-sha256:${hash}\r\nx-amz-date:${amzDate}\r\n` +
      `authorization:AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261129/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}\r\n\r\n`,
  );
  const accepted = (bytes: Buffer): boolean =>
    parser.parse(bytes, bytes, 0, bytes.length, newHeadProgress()) === 'complete' &&
    sigv4.check(head, now) === null;
  assert.equal(accepted(text), true);
  const harmless: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    for (const flip of [1, 2, 0x20, 0x80]) {
      const changed = Buffer.from(text);
      changed[at]! ^= flip;
      if (accepted(changed))
        harmless.push(`${text.toString('latin1', at - 4, at)}|${String.fromCharCode(text[at]!)}`);
    }
  }
  // Header names are read in any case, HTTP/1.0 signs alike, and `%2F` and `%2f` are one byte.
  for (const story of harmless) {
    assert.match(story, /^(.*[a-z\n-]\|[a-z-]|TP\/1\.?\|1|\/1\.?\|1|P\/1\.\|1|=a%2\|F)$/s, story);
  }
  assert.ok(harmless.length < 60);
});

test('revoked clients are refused on the next request, and scopes are bounded', () => {
  const few = new SigV4(new Digester(requiredScratchBytes), new ClientTable(clients), {
    region: 'auto',
    maxScopes: 2,
  });
  const request = (region: string): string | null => {
    checkSigned({ region });
    return few.check(head, now);
  };
  for (const region of ['r-1', 'r-2', 'r-3', 'r-1', 'r-2', 'r-3', 'us-east-1', 'auto']) {
    assert.equal(request(region), null, region);
  }
  few.replaceClients(new ClientTable(clients.slice(1)));
  assert.equal(request('auto'), 'InvalidAccessKeyId');
});
