import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  newBodyVerifier,
  type BodyExpectation,
  type BodyVerifier,
  type ChunkSigning,
} from './body-verifier.ts';
import { newChecksum, type ChecksumAlgorithm } from './checksums.ts';
import { LocalClient } from './clients.ts';

const client = new LocalClient({
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  grants: [],
});
const signing = (seed: string): ChunkSigning => ({
  key: client.signingKey('20130524', 'us-east-1'),
  amzDate: '20130524T000000Z',
  scope: '20130524/us-east-1/s3/aws4_request',
  seed,
});
const seed = '0'.repeat(64);

const plain: BodyExpectation = {
  form: 'unsigned',
  hash: '',
  contentLength: null,
  decodedLength: null,
  declaredTrailers: [],
  signing: null,
};

function verifier(expected: Partial<BodyExpectation>): BodyVerifier {
  const result = newBodyVerifier({ ...plain, ...expected });
  assert.ok(result.ok);
  return result.verifier;
}

interface Outcome {
  /** What came out before `end` was called, and in all. */
  readonly before: string;
  readonly body: string;
  readonly error: string | null;
  readonly verifier: BodyVerifier;
}

function run(
  expected: Partial<BodyExpectation>,
  wire: string,
  pieceSize = wire.length + 1,
): Outcome {
  const checked = verifier({ contentLength: wire.length, ...expected });
  let body = '';
  const emit = (bytes: Uint8Array): void => {
    body += Buffer.from(bytes).toString('latin1');
  };
  for (let at = 0; at < wire.length; at += pieceSize) {
    const error = checked.push(Buffer.from(wire.slice(at, at + pieceSize), 'latin1'), emit);
    if (error !== null) return { before: body, body, error, verifier: checked };
  }
  const before = body;
  return { before, error: checked.end(emit), body, verifier: checked };
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');

/** An independent signer of chunks. */
function signChunks(chunks: readonly string[], trailer: string | null, first = seed): string {
  const { key, amzDate, scope } = signing(first);
  const sign = (algorithm: string, previous: string, ...hashes: readonly string[]): string =>
    createHmac('sha256', key)
      .update([algorithm, amzDate, scope, previous, ...hashes].join('\n'))
      .digest('hex');
  let previous = first;
  let wire = '';
  for (const chunk of [...chunks, '']) {
    previous = sign('AWS4-HMAC-SHA256-PAYLOAD', previous, sha256(''), sha256(chunk));
    wire += `${chunk.length.toString(16)};chunk-signature=${previous}\r\n`;
    if (chunk !== '') wire += `${chunk}\r\n`;
  }
  if (trailer !== null) {
    const signature = sign('AWS4-HMAC-SHA256-TRAILER', previous, sha256(`${trailer}\n`));
    wire += `${trailer}\r\nx-amz-trailer-signature:${signature}\r\n`;
  }
  return `${wire}\r\n`;
}

function checksumOf(algorithm: ChecksumAlgorithm, body: string): string {
  const checksum = newChecksum(algorithm);
  checksum.update(Buffer.from(body, 'latin1'));
  return checksum.digest();
}

describe("AWS's published examples", () => {
  test('a chunked upload', () => {
    const wire =
      `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${'a'.repeat(65536)}\r\n` +
      `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${'a'.repeat(1024)}\r\n` +
      '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n';
    assert.equal(wire.length, 66824);
    const expected: Partial<BodyExpectation> = {
      form: 'signedChunks',
      decodedLength: 66560,
      signing: signing('4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9'),
    };
    const outcome = run(expected, wire, 1000);
    assert.equal(outcome.error, null);
    assert.equal(outcome.body, 'a'.repeat(66560));
  });

  test('a chunked upload with a trailer', () => {
    const wire =
      `10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n${'a'.repeat(65536)}\r\n` +
      `400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n${'a'.repeat(1024)}\r\n` +
      '0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n' +
      'x-amz-checksum-crc32c:sOO8/Q==\r\n' +
      'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n';
    const outcome = run(
      {
        form: 'signedChunksTrailer',
        decodedLength: 66560,
        declaredTrailers: ['x-amz-checksum-crc32c'],
        signing: signing('106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e'),
      },
      wire,
    );
    assert.equal(outcome.error, null);
    assert.equal(outcome.body.length, 66560);
    assert.deepEqual(outcome.verifier.trailers, [
      { name: 'x-amz-checksum-crc32c', value: 'sOO8/Q==' },
    ]);
  });
});

const chunks = fc.array(
  fc.string({
    unit: fc.constantFrom('a', '\r', '\n', '0', ';', '\u00ff'),
    minLength: 1,
    maxLength: 40,
  }),
  { maxLength: 5 },
);
const algorithm = fc.constantFrom<ChecksumAlgorithm>(
  'crc32',
  'crc32c',
  'crc64nvme',
  'sha1',
  'sha256',
);

describe('every form', () => {
  test('a right body comes out whole, in any pieces, its last byte only at the end', () => {
    fc.assert(
      fc.property(chunks, algorithm, fc.integer({ min: 1, max: 90 }), (pieces, which, size) => {
        const body = pieces.join('');
        const name = `x-amz-checksum-${which}`;
        const trailer = `${name}:${checksumOf(which, body)}`;
        const unsigned = [...pieces, ''].map(
          (piece) => `${piece.length.toString(16)}\r\n${piece === '' ? '' : `${piece}\r\n`}`,
        );
        const decodedLength = body.length;
        const forms: readonly (readonly [Partial<BodyExpectation>, string])[] = [
          [{ form: 'hash', hash: sha256(body) }, body],
          [
            { form: 'signedChunks', decodedLength, signing: signing(seed) },
            signChunks(pieces, null),
          ],
          [
            {
              form: 'signedChunksTrailer',
              decodedLength,
              declaredTrailers: [name],
              signing: signing(seed),
            },
            signChunks(pieces, trailer),
          ],
          [
            { form: 'unsignedTrailer', decodedLength, declaredTrailers: [name] },
            `${unsigned.join('')}${trailer}\r\n\r\n`,
          ],
        ];
        for (const [expected, wire] of forms) {
          const outcome = run(expected, wire, size);
          assert.equal(outcome.error, null);
          assert.equal(outcome.body, body);
          assert.equal(outcome.before, body.slice(0, -1));
        }
        const outcome = run({}, body, size);
        assert.equal(outcome.error, null);
        assert.equal(outcome.body, body);
      }),
      { numRuns: 300 },
    );
  });

  test('no changed byte of a signed upload goes unnoticed, and none lets the last byte out', () => {
    const body = 'hello world, this is a body';
    const trailer = `x-amz-checksum-crc32:${checksumOf('crc32', body)}`;
    const wire = signChunks([body.slice(0, 10), body.slice(10)], trailer);
    const expected: Partial<BodyExpectation> = {
      form: 'signedChunksTrailer',
      decodedLength: body.length,
      declaredTrailers: ['x-amz-checksum-crc32'],
      signing: signing(seed),
    };
    assert.equal(run(expected, wire).error, null);
    const harmless: string[] = [];
    for (let at = 0; at < wire.length; at += 1) {
      for (const flip of [1, 0x20, 0x80]) {
        const changed = String.fromCharCode(wire.charCodeAt(at) ^ flip);
        const outcome = run(expected, wire.slice(0, at) + changed + wire.slice(at + 1));
        if (outcome.error === null) harmless.push(`\n${wire}`.slice(at, at + 3));
        else assert.ok(outcome.body.length < body.length);
      }
    }
    // Only the case of the trailers' names and of the sizes' digits, which are read in any case.
    for (const context of harmless) assert.match(context, /^[\na-z0-9-][a-z][a-z0-9:;-]$/);
  });

  test('a body cut short anywhere is incomplete', () => {
    const body = 'some body';
    const trailer = `x-amz-checksum-crc32:${checksumOf('crc32', body)}`;
    const wire = signChunks([body], trailer);
    for (let length = 0; length < wire.length; length += 1) {
      const outcome = run(
        {
          form: 'signedChunksTrailer',
          decodedLength: body.length,
          declaredTrailers: ['x-amz-checksum-crc32'],
          signing: signing(seed),
        },
        wire.slice(0, length),
      );
      assert.equal(outcome.error, 'IncompleteBody');
      assert.ok(outcome.body.length < body.length);
    }
  });
});

describe('what is wrong has its code', () => {
  const trailers = ['x-amz-checksum-crc32'];
  const unsigned = (wire: string, declaredTrailers = trailers): string | null =>
    run({ form: 'unsignedTrailer', decodedLength: 4, declaredTrailers }, wire).error;
  const right = checksumOf('crc32', 'body');

  test('hashes and checksums', () => {
    const outcome = run({ form: 'hash', hash: sha256('body') }, 'bodx');
    assert.equal(outcome.error, 'XAmzContentSHA256Mismatch');
    assert.equal(outcome.body, 'bod');
    assert.equal(run({ form: 'hash', hash: sha256('') }, 'x').error, 'XAmzContentSHA256Mismatch');
    assert.equal(
      unsigned(`4\r\nbody\r\n0\r\nx-amz-checksum-crc32:${checksumOf('crc32', 'bodx')}\r\n\r\n`),
      'BadDigest',
    );
  });

  test('lengths', () => {
    const trailer = `x-amz-checksum-crc32:${right}\r\n\r\n`;
    assert.equal(unsigned(`3\r\nbod\r\n0\r\n${trailer}`), 'IncompleteBody');
    assert.equal(unsigned(`5\r\nbody!\r\n0\r\n${trailer}`), 'IncompleteBody');
    assert.equal(unsigned(`4\r\nbody\r\n0\r\n${trailer}more`), 'IncompleteBody');
    assert.equal(unsigned(`4\r\nbody\r\n0\r\n${trailer}`), null);
  });

  test('trailers that are missing, undeclared, repeated or malformed', () => {
    const body = '4\r\nbody\r\n0\r\n';
    const line = `x-amz-checksum-crc32:${right}\r\n`;
    assert.equal(unsigned(`${body}\r\n`), 'MalformedTrailerError');
    assert.equal(unsigned(`${body}${line}${line}\r\n`), 'MalformedTrailerError');
    assert.equal(unsigned(`${body}${line}\r\n`, []), 'MalformedTrailerError');
    assert.equal(unsigned(`${body}x-amz-checksum-sha1:a\r\n\r\n`), 'MalformedTrailerError');
    assert.equal(unsigned(`${body}no colon\r\n\r\n`), 'MalformedTrailerError');
    assert.equal(
      unsigned(`${body}x-amz-trailer-signature:${seed}\r\n\r\n`),
      'MalformedTrailerError',
    );
    assert.equal(unsigned(`${body}\r\n`, []), null);
  });

  test('trailer lines may end in a bare line feed, and have spaces around the value', () => {
    assert.equal(unsigned(`4\r\nbody\r\n0\r\nX-Amz-Checksum-CRC32: ${right} \n\n`), null);
  });

  test('an empty line before the signature of a trailer is taken', () => {
    const trailer = `x-amz-checksum-crc32:${right}`;
    const wire = signChunks(['body'], trailer).replace(`${right}\r\n`, `${right}\n\r\n`);
    const outcome = run(
      {
        form: 'signedChunksTrailer',
        decodedLength: 4,
        declaredTrailers: trailers,
        signing: signing(seed),
      },
      wire,
    );
    assert.equal(outcome.error, null);
  });

  test('broken framing', () => {
    for (const wire of [
      'x\r\n',
      '4\nbody\r\n',
      '4 \r\nbody\r\n',
      '-4\r\nbody\r\n',
      '4\r\nbodyX\r\n',
      '4\r\nbody\n0\r\n',
      '0000000000004\r\nbody\r\n',
      '4;other=1\r\nbody\r\n',
      `4;chunk-signature=${'0'.repeat(63)}\r\nbody\r\n`,
      `4;${'x'.repeat(300)}`,
    ]) {
      assert.equal(unsigned(wire), 'InvalidRequest', wire);
    }
    assert.equal(
      unsigned(`4\r\nbody\r\n0\r\n${'x-amz-checksum-crc32'.repeat(1000)}`),
      'InvalidRequest',
    );
  });

  test('signatures that are missing or of another chain', () => {
    const expected = (first: string): Partial<BodyExpectation> => ({
      form: 'signedChunks',
      decodedLength: 4,
      signing: signing(first),
    });
    assert.equal(run(expected(seed), signChunks(['body'], null)).error, null);
    assert.equal(
      run(expected('1'.repeat(64)), signChunks(['body'], null)).error,
      'SignatureDoesNotMatch',
    );
    assert.equal(run(expected(seed), '4\r\nbody\r\n0\r\n\r\n').error, 'SignatureDoesNotMatch');
    const withoutTrailer = { ...expected(seed), form: 'signedChunksTrailer' } as const;
    assert.equal(run(withoutTrailer, signChunks(['body'], null)).error, 'SignatureDoesNotMatch');
  });

  test('what can not be verified is refused before its first byte', () => {
    const refused = (expected: Partial<BodyExpectation>): string => {
      const result = newBodyVerifier({ ...plain, ...expected });
      return result.ok ? 'accepted' : result.code;
    };
    assert.equal(refused({ form: 'unsignedTrailer' }), 'MissingContentLength');
    assert.equal(
      refused({ form: 'unsignedTrailer', decodedLength: 1, declaredTrailers: ['x-amz-meta-a'] }),
      'InvalidRequest',
    );
    assert.equal(
      refused({ form: 'signedChunks', decodedLength: 1, declaredTrailers: trailers }),
      'InvalidRequest',
    );
  });
});
