// S3's additional checksums: the algorithms, their header names, and the sum of a multipart object.
import type { Content } from './content.ts';
import { Crc32, Crc32c, Crc64Nvme, joinCrc } from './crc.ts';
import { HashDigest } from './digest.ts';
import type { Digest } from './digest.ts';

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256';
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** A checksum as S3 shows it: base64, with `-N` after it when it is a checksum of N checksums. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  readonly value: string;
}

const rows: Readonly<Record<ChecksumAlgorithm, { bytes: number; start: () => Digest }>> = {
  CRC32: { bytes: 4, start: () => new Crc32() },
  CRC32C: { bytes: 4, start: () => new Crc32c() },
  CRC64NVME: { bytes: 8, start: () => new Crc64Nvme() },
  SHA1: { bytes: 20, start: () => new HashDigest('sha1') },
  SHA256: { bytes: 32, start: () => new HashDigest('sha256') },
};

export const checksumAlgorithms = Object.keys(rows) as readonly ChecksumAlgorithm[];

export function startChecksum(algorithm: ChecksumAlgorithm): Digest {
  return rows[algorithm].start();
}

/** The lower-case header (or trailer) that carries a checksum. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The algorithm a name stands for, in any case; null if there is none. */
export function checksumAlgorithm(name: string): ChecksumAlgorithm | null {
  return checksumAlgorithms.find((algorithm) => algorithm === name.toUpperCase()) ?? null;
}

/** Whether a value has the form of a checksum of this algorithm. */
export function isChecksumValue(algorithm: ChecksumAlgorithm, value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === rows[algorithm].bytes && bytes.toString('base64') === value;
}

export function checksumOf(content: Content, algorithm: ChecksumAlgorithm): Checksum {
  const digest = startChecksum(algorithm);
  for (const slice of content.slices(0, content.size)) digest.update(slice);
  return { algorithm, type: 'FULL_OBJECT', value: digest.digest().toString('base64') };
}

/** The checksum of a multipart object, from those of its parts. */
export function checksumOfParts(
  algorithm: ChecksumAlgorithm,
  type: ChecksumType,
  parts: readonly { readonly size: number; readonly checksum: Checksum }[],
): Checksum {
  if (type === 'FULL_OBJECT' && algorithm !== 'SHA1' && algorithm !== 'SHA256') {
    let joined = Buffer.alloc(rows[algorithm].bytes);
    for (const part of parts) {
      const value = Buffer.from(part.checksum.value, 'base64');
      joined = Buffer.from(joinCrc(algorithm, joined, value, part.size));
    }
    return { algorithm, type, value: joined.toString('base64') };
  }
  const digest = startChecksum(algorithm);
  for (const part of parts) digest.update(Buffer.from(part.checksum.value, 'base64'));
  const value = `${digest.digest().toString('base64')}-${parts.length}`;
  return { algorithm, type: 'COMPOSITE', value };
}
