import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checksumAlgorithms, checksumOf, checksumOfParts, startChecksum } from './checksum.ts';
import type { ChecksumAlgorithm } from './checksum.ts';
import { contentFrom } from './content.ts';
import { seededRandom } from '../random.ts';

// The check values of the CRC catalogue, over the digits 1 to 9.
const checkValues = { CRC32: 'cbf43926', CRC32C: 'e3069283', CRC64NVME: 'ae8b14860a799888' };
const random = seededRandom(3);
const bytes = Buffer.from(Array.from({ length: 10_000 }, () => Math.floor(random() * 256)));

test('the CRCs have their published check values', () => {
  for (const [algorithm, expected] of Object.entries(checkValues)) {
    const digest = startChecksum(algorithm as ChecksumAlgorithm);
    digest.update(Buffer.from('123456789'));
    assert.equal(digest.digest().toString('hex'), expected);
  }
});

test('a checksum does not depend on how its bytes are cut', () => {
  for (const algorithm of checksumAlgorithms) {
    const whole = checksumOf(contentFrom(bytes), algorithm).value;
    const digest = startChecksum(algorithm);
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + Math.floor(random() * 40));
      digest.update(piece);
      at += piece.length;
    }
    assert.equal(digest.digest().toString('base64'), whole, algorithm);
  }
});

test('CRCs of parts join to the CRC of the whole', () => {
  const cuts = [0, 1, 17, 5000, 5000, 10_000];
  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME'] as const) {
    const parts = cuts.slice(1).map((end, index) => {
      const content = contentFrom(bytes.subarray(cuts[index], end));
      return { size: content.size, checksum: checksumOf(content, algorithm) };
    });
    const joined = checksumOfParts(algorithm, 'FULL_OBJECT', parts);
    assert.equal(joined.value, checksumOf(contentFrom(bytes), algorithm).value, algorithm);
  }
});
