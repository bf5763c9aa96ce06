/** Uploads in every form of payload that clients send, right and wrong, end to end. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { defaultCredential, startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { checksumNamed, newChecksum } from '../auth/checksums.ts';
import { Origins } from '../origin/origins.ts';
import { GatewayRig } from './testing/gateway-rig.ts';
import { call, putStreamed } from './testing/signed-client.ts';
import type { StreamedPut } from './testing/signed-client.ts';

const trailers = [
  'x-amz-checksum-crc32',
  'x-amz-checksum-crc32c',
  'x-amz-checksum-crc64nvme',
  'x-amz-checksum-sha1',
  'x-amz-checksum-sha256',
] as const;

async function start(
  t: TestContext,
  checksumTrailers = true,
): Promise<{ s3: MemoryS3; rig: GatewayRig }> {
  const s3 = await startMemoryS3({ buckets: ['data'] });
  const credentials = {
    accessKeyId: defaultCredential.accessKey,
    secretAccessKey: defaultCredential.secretKey,
  };
  const settings = { endpoint: s3.endpoint, region: 'us-east-1', credentials, checksumTrailers };
  const rig = new GatewayRig(new Origins(settings));
  t.after(async () => {
    await rig.close();
    await s3.close();
  });
  return { s3, rig };
}

function checksumOf(name: string, pieces: readonly Buffer[]): string {
  const algorithm = checksumNamed(name);
  assert.ok(algorithm !== null);
  const checksum = newChecksum(algorithm);
  for (const piece of pieces) checksum.update(piece);
  return checksum.digest();
}

const shapes: readonly (readonly [string, readonly Buffer[]])[] = [
  ['an empty body', []],
  ['one byte', [Buffer.from('x')]],
  ['two chunks', [Buffer.alloc(65536, 'a'), Buffer.from('rest')]],
  ['many chunks', Array.from({ length: 40 }, (_, i) => Buffer.alloc(64 * 1024, i))],
];

for (const [what, pieces] of shapes) {
  for (const isSigned of [true, false]) {
    for (const trailer of isSigned ? ['', trailers[1]] : trailers) {
      const form = `${isSigned ? 'signed' : 'unsigned'} chunks${trailer === '' ? '' : ` with ${trailer}`}`;
      test(`${what} in ${form} is stored without framing, its checksum kept`, async (t) => {
        const { s3, rig } = await start(t);
        const put: StreamedPut = {
          target: '/data/k',
          headers: ['content-encoding', 'aws-chunked, gzip'],
          isSigned,
          pieces,
          ...(trailer === '' ? {} : { trailer: [trailer, checksumOf(trailer, pieces)] as const }),
        };
        const answer = await putStreamed(rig.port, put);
        assert.equal(answer.status, 200, answer.body.toString());
        assert.ok(s3.get('data', 'k')?.bytes.equals(Buffer.concat(pieces)));
        const headers = ['x-amz-checksum-mode', 'ENABLED'];
        const head = await call(rig.port, { method: 'HEAD', target: '/data/k', headers });
        assert.equal(head.header('content-encoding'), 'gzip');
        if (trailer !== '') assert.equal(head.header(trailer), checksumOf(trailer, pieces));
        const seen = s3.traffic.log.find(({ method }) => method === 'PUT');
        assert.match(seen?.headers.get('content-length') ?? '', /^\d+$/);
        assert.equal(seen?.headers.get('transfer-encoding'), undefined);
      });
    }
  }
}

/** Uploads that are wrong in their last bytes only, or in the first. */
const wrongs: readonly (readonly [string, StreamedPut, string])[] = [
  [
    'a trailing checksum that does not match',
    {
      target: '/data/k',
      isSigned: false,
      pieces: [Buffer.alloc(100_000, 'n')],
      trailer: ['x-amz-checksum-crc64nvme', 'AAAAAAAAAAA='],
    },
    'BadDigest',
  ],
  [
    'a last chunk whose signature is wrong',
    {
      target: '/data/k',
      isSigned: true,
      pieces: [Buffer.alloc(100_000, 'n')],
      tamper: (body): void => {
        const at = body.lastIndexOf('chunk-signature=') + 20;
        body[at] = body[at] === 0x30 ? 0x31 : 0x30;
      },
    },
    'SignatureDoesNotMatch',
  ],
  [
    'a chunk whose bytes are not those that were signed',
    {
      target: '/data/k',
      isSigned: true,
      pieces: [Buffer.alloc(100_000, 'n'), Buffer.alloc(100_000, 'n')],
      tamper: (body): void => {
        body[150] = 0;
      },
    },
    'SignatureDoesNotMatch',
  ],
  [
    'a trailer whose signature is wrong',
    {
      target: '/data/k',
      isSigned: true,
      pieces: [Buffer.from('n')],
      trailer: ['x-amz-checksum-crc32', checksumOf('x-amz-checksum-crc32', [Buffer.from('n')])],
      tamper: (body): void => {
        const at = body.lastIndexOf('x-amz-trailer-signature:') + 30;
        body[at] = body[at] === 0x30 ? 0x31 : 0x30;
      },
    },
    'SignatureDoesNotMatch',
  ],
  [
    'an unknown trailer',
    {
      target: '/data/k',
      isSigned: false,
      pieces: [Buffer.from('n')],
      trailer: ['x-amz-checksum-md5', 'AAAA'],
    },
    'InvalidRequest',
  ],
];

for (const [what, put, code] of wrongs) {
  for (const checksumTrailers of [true, false]) {
    const origin = checksumTrailers ? '' : ', at an origin without trailers too';
    test(`${what} is refused, and the old object survives${origin}`, async (t) => {
      const { s3, rig } = await start(t, checksumTrailers);
      s3.put('data', 'k', 'old');
      const answer = await putStreamed(rig.port, put);
      assert.match(answer.body.toString(), new RegExp(`<Code>${code}</Code>`));
      while (rig.client.counters.inFlight > 0) await sleep(2);
      await sleep(20);
      assert.equal(s3.get('data', 'k')?.bytes.toString(), 'old');
      assert.ok(!rig.writes.includes('done data/k'));
    });
  }
}

test('a streamed upload goes to an origin without trailers as a plain one', async (t) => {
  const { s3, rig } = await start(t, false);
  const pieces = [Buffer.alloc(70_000, 'p'), Buffer.from('q')];
  const name = 'x-amz-checksum-sha256';
  const trailer = [name, checksumOf(name, pieces)] as const;
  const answer = await putStreamed(rig.port, {
    target: '/data/k',
    isSigned: false,
    pieces,
    trailer,
  });
  assert.equal(answer.status, 200, answer.body.toString());
  assert.ok(s3.get('data', 'k')?.bytes.equals(Buffer.concat(pieces)));
  const seen = s3.traffic.log.find(({ method }) => method === 'PUT');
  assert.equal(seen?.headers.get(name), trailer[1]);
  assert.equal(seen.headers.get('content-encoding'), undefined);
});
