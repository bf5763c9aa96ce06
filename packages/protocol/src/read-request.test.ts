import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { RangeKind } from '@s3-accelerator/core/s3/byte-range.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import fc from 'fast-check';
import { decodeFrameHeader, frameHeaderBytes, maxBodyBytes, newFrameHeader } from './frame.ts';
import { encodeReadRequest, readRequestBound, ReadRequestView } from './read-request.ts';

const noHash: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

const blocks: ReadRequest = {
  kind: 'blocks',
  bucket: 'data',
  key: 'a/\xe9',
  hash: { h0: 1, h1: 2, h2: 3, h3: 0xffff_ffff },
  onlyHeld: false,
  standsIn: false,
  confirmedWithinMs: Infinity,
  failedEtag: '',
  bodyLimit: 0,
  needsChecksums: false,
  rangeKind: 'none',
  first: 0x1_0000_0005,
  last: 0x1_0000_0006,
  partLast: 0x1_0000_0007,
  version: { h0: 5, h1: 6, h2: 7, h3: 8 },
  etag: '"e"',
  size: 0x2_0000_0000,
};

const lookup: ReadRequest = {
  ...blocks,
  kind: 'lookup',
  confirmedWithinMs: 250,
  failedEtag: '"old"',
  bodyLimit: 32_768,
  needsChecksums: false,
  rangeKind: 'suffix',
  first: 100,
  last: 0,
  partLast: 0,
  version: noHash,
  etag: '',
  size: 0,
};

function encode(request: ReadRequest, requestId = 9): Uint8Array {
  const bytes = new Uint8Array(readRequestBound(request));
  return bytes.subarray(0, encodeReadRequest(bytes, 0, requestId, request));
}

function decode(bytes: Uint8Array, view = new ReadRequestView()): ReadRequestView | string {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  if (fault !== null) return fault;
  return view.decode(bytes, frameHeaderBytes, bytes.length, header) ?? view;
}

/** The view's fields as a plain record. */
function plain(view: ReadRequestView | string): ReadRequest | string {
  if (typeof view === 'string') return view;
  const { kind, bucket, key, hash, confirmedWithinMs, failedEtag, bodyLimit, rangeKind } = view;
  const { first, last, partLast, version, etag, size, needsChecksums, onlyHeld, standsIn } = view;
  const asked = { kind, bucket, key, hash, confirmedWithinMs, failedEtag, bodyLimit, rangeKind };
  const flags = { needsChecksums, onlyHeld, standsIn };
  return { ...asked, first, last, partLast, version, etag, size, ...flags };
}

test('a request for blocks has these bytes', () => {
  assert.equal(
    Buffer.from(encode(blocks)).toString('hex'),
    '52000000' +
      '11' +
      '00' +
      '0000' +
      '09000000' +
      '00000000' +
      '010000000200000003000000ffffffff' +
      '05000000060000000700000008000000' +
      '0500000001000000' +
      '0600000001000000' +
      '0700000001000000' +
      '0000000002000000' +
      '0400' +
      '0300' +
      '0300' +
      '0000' +
      '64617461' +
      '612fe9' +
      '226522',
  );
});

test('a lookup has these bytes', () => {
  assert.equal(
    Buffer.from(encode(lookup)).toString('hex'),
    '44000000' +
      '10' +
      '00' +
      '0000' +
      '09000000' +
      '00000000' +
      '010000000200000003000000ffffffff' +
      'fa00000000000000' +
      '6400000000000000' +
      '0000000000000000' +
      '00800000' +
      '03000000' +
      '0400' +
      '0300' +
      '0500' +
      '0000' +
      '64617461' +
      '612fe9' +
      '226f6c6422',
  );
});

test('a lookup of any age says so with a flag', () => {
  const bytes = encode({ ...lookup, confirmedWithinMs: Infinity });
  assert.equal(bytes[5], 1);
  assert.deepEqual(plain(decode(bytes)), { ...lookup, confirmedWithinMs: Infinity });
  const fraction = encode({ ...lookup, confirmedWithinMs: 0.9 });
  assert.deepEqual(plain(decode(fraction)), { ...lookup, confirmedWithinMs: 0 });
});

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const hash = fc.record({ h0: u32, h1: u32, h2: u32, h3: u32 }, { noNullPrototype: true });
const binary = (maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('latin1'));

const anyBlocks = fc
  .tuple(fc.nat(5e12), fc.nat(maxBodyBytes - 1), fc.nat(16e6), fc.nat(5e12))
  .chain(([first, length, ahead, rest]) =>
    fc.record(
      {
        ...Object.fromEntries(
          Object.entries(blocks).map(([name, value]) => [name, fc.constant(value)] as const),
        ),
        bucket: binary(63),
        key: binary(1024),
        etag: binary(100),
        hash,
        onlyHeld: fc.boolean(),
        standsIn: fc.boolean(),
        version: hash,
        first: fc.constant(first),
        last: fc.constant(first + length),
        partLast: fc.constant(first + length + ahead),
        size: fc.constant(first + length + ahead + rest + 1),
      },
      { noNullPrototype: true },
    ),
  ) as fc.Arbitrary<ReadRequest>;

const anyLookup: fc.Arbitrary<ReadRequest> = fc.record(
  {
    kind: fc.constant('lookup' as const),
    bucket: binary(63),
    key: binary(1024),
    hash,
    onlyHeld: fc.boolean(),
    standsIn: fc.boolean(),
    confirmedWithinMs: fc.oneof(fc.constant(Infinity), fc.maxSafeNat()),
    failedEtag: binary(100),
    bodyLimit: fc.nat(maxBodyBytes),
    needsChecksums: fc.boolean(),
    rangeKind: fc.constantFrom<RangeKind>('none', 'bounded', 'from', 'suffix'),
    first: fc.maxSafeNat(),
    last: fc.maxSafeNat(),
    partLast: fc.constant(0),
    version: fc.constant(noHash),
    etag: fc.constant(''),
    size: fc.constant(0),
  },
  { noNullPrototype: true },
);

test('any request comes back as it was sent, out of a reused view', () => {
  const view = new ReadRequestView();
  fc.assert(
    fc.property(fc.oneof(anyBlocks, anyLookup), (request) => {
      const bytes = encode(request);
      assert.ok(bytes.length <= readRequestBound(request));
      assert.deepEqual(plain(decode(bytes, view)), request);
    }),
    { numRuns: 500 },
  );
});

test('a request cut or stretched anywhere is refused', () => {
  for (const request of [blocks, lookup]) {
    const whole = encode(request);
    for (let length = frameHeaderBytes; length < whole.length; length++) {
      assert.equal(decode(whole.subarray(0, length)), 'length');
    }
    assert.equal(decode(Buffer.concat([whole, new Uint8Array(1)])), 'length');
  }
});

test('positions that no block has are refused', () => {
  const refused = (change: Partial<ReadRequest>): void => {
    assert.equal(decode(encode({ ...blocks, ...change })), 'figure', JSON.stringify(change));
  };
  refused({ last: blocks.first - 1 });
  refused({ partLast: blocks.last - 1 });
  refused({ size: blocks.partLast });
  refused({ last: blocks.first + maxBodyBytes, partLast: blocks.first + maxBodyBytes });
  const far = encode(blocks);
  far.fill(0xff, frameHeaderBytes + 56, frameHeaderBytes + 64);
  assert.equal(decode(far), 'figure');
});

test('figures that no lookup has are refused', () => {
  assert.equal(decode(encode({ ...lookup, bodyLimit: maxBodyBytes + 1 })), 'figure');
  const kind = encode(lookup);
  kind[frameHeaderBytes + 44] = 4;
  assert.equal(decode(kind), 'figure');
  const age = encode(lookup);
  age.fill(0xff, frameHeaderBytes + 16, frameHeaderBytes + 24);
  assert.equal(decode(age), 'figure');
});

test('a request that announces a body, other flags or another type is refused', () => {
  const body = encode(blocks);
  body[12] = 1;
  assert.equal(decode(body), 'limit');
  const flags = encode(blocks);
  flags[5] = 1;
  assert.equal(decode(flags), 'reserved');
  const lookupFlags = encode(lookup);
  lookupFlags[5] = 16;
  assert.equal(decode(lookupFlags), 'reserved');
  const type = encode(blocks);
  type[4] = 25;
  assert.equal(decode(type), 'type');
});
