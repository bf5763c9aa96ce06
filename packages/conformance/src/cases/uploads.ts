// Every form of upload: what the payload hash says, and what checksums and digests prove.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import type { PayloadForm, RawRequest } from '../signed-request.ts';
import { assertErrorDocument, md5Tag, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

const body = patternBytes(150_000, 'upload');
// Values of bitwise, independent implementations over the nine digits of the usual check.
const digits = Buffer.from('123456789');
const digitSums = {
  CRC32: 'y/Q5Jg==',
  CRC32C: '4waSgw==',
  CRC64NVME: 'rosUhgp5mIg=',
  SHA1: createHash('sha1').update(digits).digest('base64'),
  SHA256: createHash('sha256').update(digits).digest('base64'),
} as const;
type Algorithm = keyof typeof digitSums;
const algorithms = Object.keys(digitSums) as readonly Algorithm[];
const wrongSums: Readonly<Record<Algorithm, string>> = {
  CRC32: 'AAAAAA==',
  CRC32C: 'AAAAAA==',
  CRC64NVME: 'AAAAAAAAAAA=',
  SHA1: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  SHA256: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
};

function checksumName(algorithm: Algorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

function bodyCrc32(bytes: Buffer): string {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(crc32(bytes));
  return out.toString('base64');
}

/** An upload that must be refused, over an object that must survive it, cached or not. */
async function assertLost(
  target: Target,
  rest: Omit<RawRequest, 'method' | 'target'>,
  status: number,
  code: string,
): Promise<void> {
  const key = target.freshKey();
  await target.put(key, 'survives');
  await target.getRepeatedly(key, 'survives');
  const answer = await target.rawKey('PUT', key, rest);
  assertErrorDocument(answer, status, code);
  await target.getRepeatedly(key, 'survives');
}

async function assertStored(
  target: Target,
  rest: Omit<RawRequest, 'method' | 'target'>,
): Promise<string> {
  const key = target.freshKey();
  await target.put(key, 'replaced');
  await target.getRepeatedly(key, 'replaced');
  const answer = await target.rawKey('PUT', key, rest);
  assert.equal(answer.status, 200, answer.body.toString());
  assert.equal(answer.headers.get('etag'), md5Tag(rest.body ?? ''));
  await target.getRepeatedly(key, rest.body ?? '');
  return key;
}

const trailerForms: readonly PayloadForm[] = [
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
];

export const uploadCases: readonly Case[] = [
  ...(['hash', 'unsigned', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'] as const).map((form) => ({
    name: `an upload whose payload hash is ${form} is stored`,
    run: async (target: Target) => {
      await assertStored(target, { body, form });
    },
  })),
  {
    name: 'a streamed upload of no bytes is stored',
    run: async (target) => {
      const empty = Buffer.alloc(0);
      await assertStored(target, { body: empty, form: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' });
    },
  },
  {
    name: 'a streamed upload in one chunk of exactly its size is stored',
    run: async (target) => {
      await assertStored(target, {
        body,
        form: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        chunkBytes: body.length,
      });
    },
  },
  ...trailerForms.map((form) => ({
    name: `an upload by ${form} with a trailing CRC32 is stored`,
    run: async (target: Target) => {
      const trailer = ['x-amz-checksum-crc32', bodyCrc32(body)] as const;
      await assertStored(target, { body, form, trailer });
    },
  })),
  ...trailerForms.map((form) => ({
    name: `an upload by ${form} with a wrong trailer is a BadDigest and stores nothing`,
    run: async (target: Target) => {
      const trailer = ['x-amz-checksum-crc32', wrongSums.CRC32] as const;
      await assertLost(target, { body, form, trailer }, 400, 'BadDigest');
    },
  })),
  ...algorithms.map((algorithm) => ({
    name: `a ${algorithm} trailer is checked and kept`,
    run: async (target: Target) => {
      const key = await assertStored(target, {
        body: digits,
        form: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        trailer: [checksumName(algorithm), digitSums[algorithm]],
      });
      await assertChecksumShown(target, key, algorithm);
    },
  })),
  ...algorithms.map((algorithm) => ({
    name: `a ${algorithm} header is checked and kept`,
    run: async (target: Target) => {
      const key = await assertStored(target, {
        body: digits,
        headers: [[checksumName(algorithm), digitSums[algorithm]]],
      });
      await assertChecksumShown(target, key, algorithm);
    },
  })),
  ...algorithms.map((algorithm) => ({
    name: `a wrong ${algorithm} header is a BadDigest and stores nothing`,
    run: (target: Target) => {
      const headers = [[checksumName(algorithm), wrongSums[algorithm]]] as const;
      return assertLost(target, { body: digits, headers }, 400, 'BadDigest');
    },
  })),
  ...algorithms.map((algorithm) => ({
    name: `the SDK stores and verifies a streamed body with ${algorithm}`,
    run: async (target: Target) => {
      const key = target.freshKey();
      await target.client.send(
        new PutObjectCommand({
          Bucket: target.bucket,
          Key: key,
          Body: Readable.from([body.subarray(0, 70_000), body.subarray(70_000)]),
          ContentLength: body.length,
          ChecksumAlgorithm: algorithm,
        }),
      );
      await target.getRepeatedly(key, body, { ChecksumMode: 'ENABLED' });
    },
  })),
  {
    name: 'aws-chunked is not stored as an encoding, and others beside it are',
    run: async (target) => {
      const trailer = ['x-amz-checksum-crc32', bodyCrc32(digits)] as const;
      const form = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
      const bare = await assertStored(target, { body: digits, form, trailer });
      assert.equal((await target.get(bare)).output.ContentEncoding ?? '', '');
      const both = await assertStored(target, {
        body: digits,
        form,
        trailer,
        headers: [['content-encoding', 'aws-chunked,gzip']],
      });
      assert.equal((await target.get(both)).output.ContentEncoding, 'gzip');
    },
  },
  {
    name: 'a wrong signature on the last chunk stores nothing',
    run: (target) => {
      const form = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
      const spoil = 'last-chunk-signature';
      return assertLost(target, { body, form, spoil }, 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'a changed byte in a signed chunk stores nothing',
    run: (target) => {
      const form = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
      return assertLost(target, { body, form, spoil: 'body' }, 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'a wrong signature on the trailer stores nothing',
    run: (target) => {
      const form = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
      const trailer = ['x-amz-checksum-crc32', bodyCrc32(body)] as const;
      const spoil = 'trailer-signature';
      return assertLost(target, { body, form, trailer, spoil }, 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'a body that differs from its hash stores nothing',
    run: (target) => assertLost(target, { body, spoil: 'body' }, 400, 'XAmzContentSHA256Mismatch'),
  },
  {
    name: 'a right Content-MD5 is accepted',
    run: async (target) => {
      const md5 = createHash('md5').update(body).digest('base64');
      await assertStored(target, { body, headers: [['content-md5', md5]] });
    },
  },
  {
    name: 'a wrong Content-MD5 is a BadDigest and stores nothing',
    run: (target) => {
      const md5 = createHash('md5').update('other').digest('base64');
      return assertLost(target, { body, headers: [['content-md5', md5]] }, 400, 'BadDigest');
    },
  },
  {
    name: 'a malformed Content-MD5 is an InvalidDigest',
    run: (target) => {
      return assertLost(target, { body, headers: [['content-md5', 'no']] }, 400, 'InvalidDigest');
    },
  },
];

async function assertChecksumShown(
  target: Target,
  key: string,
  algorithm: Algorithm,
): Promise<void> {
  for (let read = 0; read < 3; read++) {
    const output = await target.client.send(
      new GetObjectCommand({ Bucket: target.bucket, Key: key, ChecksumMode: 'ENABLED' }),
    );
    await output.Body?.transformToByteArray();
    assert.equal(output[`Checksum${algorithm}`], digitSums[algorithm]);
  }
}
