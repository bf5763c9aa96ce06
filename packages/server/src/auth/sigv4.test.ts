import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { formatAmzDate } from '@s3-accelerator/core/s3/http-date.ts';
import { newHeadProgress } from '../http/request-parser.ts';
import { ClientTable } from './clients.ts';
import { SigV4, requiredScratchBytes } from './sigv4.ts';
import {
  accessKeyId,
  secretAccessKey,
  temporary,
  clients,
  now,
  emptyHash,
  head,
  parser,
  sigv4,
  type Headers,
  check,
  sign,
  amzDate,
  checkSigned,
} from './testing/signed-requests.ts';

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
