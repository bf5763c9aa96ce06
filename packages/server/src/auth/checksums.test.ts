import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { checksumNamed, newChecksum, type ChecksumAlgorithm } from './checksums.ts';

function checksum(algorithm: ChecksumAlgorithm, ...pieces: readonly Uint8Array[]): string {
  const computed = newChecksum(algorithm);
  for (const piece of pieces) computed.update(piece);
  return computed.digest();
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

test('the check values of the algorithms, over 123456789', () => {
  const digits = Buffer.from('123456789');
  assert.equal(hex(checksum('crc32', digits)), 'cbf43926');
  assert.equal(hex(checksum('crc32c', digits)), 'e3069283');
  assert.equal(hex(checksum('crc64nvme', digits)), 'ae8b14860a799888');
});

test('nothing at all has a checksum too', () => {
  assert.equal(hex(checksum('crc32')), '00000000');
  assert.equal(hex(checksum('crc32c')), '00000000');
  assert.equal(hex(checksum('crc64nvme')), '0000000000000000');
  assert.equal(checksum('sha256'), createHash('sha256').digest('base64'));
});

/** One bit at a time, with BigInt. */
function naive(bytes: Uint8Array, width: bigint, polynomial: bigint): string {
  const mask = (1n << width) - 1n;
  let value = mask;
  for (const byte of bytes) {
    value ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) {
      value = (value & 1n) === 1n ? (value >> 1n) ^ polynomial : value >> 1n;
    }
  }
  return (value ^ mask).toString(16).padStart(Number(width / 4n), '0');
}

test('any bytes in any pieces give what the definition gives', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (pieces) => {
      const whole = Buffer.concat(pieces);
      assert.equal(hex(checksum('crc32', ...pieces)), naive(whole, 32n, 0xedb88320n));
      assert.equal(hex(checksum('crc32c', ...pieces)), naive(whole, 32n, 0x82f63b78n));
      assert.equal(hex(checksum('crc64nvme', ...pieces)), naive(whole, 64n, 0x9a6c9329ac4bc9b5n));
      assert.equal(checksum('sha1', ...pieces), createHash('sha1').update(whole).digest('base64'));
      assert.equal(
        checksum('sha256', ...pieces),
        createHash('sha256').update(whole).digest('base64'),
      );
    }),
  );
});

test('algorithms are found by the name of their header', () => {
  assert.equal(checksumNamed('x-amz-checksum-crc64nvme'), 'crc64nvme');
  assert.equal(checksumNamed('x-amz-checksum-sha256'), 'sha256');
  assert.equal(checksumNamed('x-amz-checksum-md4'), null);
  assert.equal(checksumNamed('crc32'), null);
});
