import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import {
  encodeForgotten,
  encodeLogHeader,
  encodePut,
  FORGOTTEN_BYTES,
  LOG_HEADER_BYTES,
  putBytes,
  readEntries,
  readLog,
  type LogReader,
} from './metadata-log.ts';

interface Entry {
  readonly hash: Hash128;
  /** null: forgotten. */
  readonly metadata: ObjectMetadata | null;
}

const cacheId = { h0: 1, h1: 2, h2: 3, h3: 4 };
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const hashes = fc.record({ h0: u32, h1: u32, h2: u32, h3: u32 }, { noNullPrototype: true });
const metadata: fc.Arbitrary<ObjectMetadata> = fc.record(
  {
    etag: fc
      .array(fc.integer({ min: 0, max: 255 }), { maxLength: 70 })
      .map((bytes) => String.fromCharCode(...bytes)),
    size: fc.integer({ min: 0, max: 5 * 2 ** 40 }),
    lastModified: fc.integer({ min: 0, max: 2 ** 40 }),
    headerLines: fc.uint8Array({ maxLength: 300 }),
    knowsChecksums: fc.boolean(),
    version: hashes,
  },
  { noNullPrototype: true },
);
const entries: fc.Arbitrary<Entry[]> = fc.array(
  fc.record(
    { hash: hashes, metadata: fc.option(metadata, { freq: 3 }) },
    { noNullPrototype: true },
  ),
  { maxLength: 12 },
);

class Collected implements LogReader {
  readonly entries: Entry[] = [];

  put(hash: Hash128, put: ObjectMetadata): void {
    this.entries.push({ hash, metadata: put });
  }

  forgotten(hash: Hash128): void {
    this.entries.push({ hash, metadata: null });
  }
}

/** The log of some entries, and where each of them ends. */
function encoded(written: readonly Entry[]): { bytes: Uint8Array; ends: number[] } {
  const lengths = written.map((entry) =>
    entry.metadata === null ? FORGOTTEN_BYTES : putBytes(entry.metadata),
  );
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, LOG_HEADER_BYTES));
  bytes.fill(0xee);
  bytes.set(encodeLogHeader(cacheId));
  const ends: number[] = [];
  let at = LOG_HEADER_BYTES;
  for (const entry of written) {
    at =
      entry.metadata === null
        ? encodeForgotten(bytes, at, entry.hash)
        : encodePut(bytes, at, entry.hash, entry.metadata);
    ends.push(at);
  }
  equal(at, bytes.length);
  return { bytes, ends };
}

test('a log says what was written into it, in its order', () => {
  fc.assert(
    fc.property(entries, (written) => {
      const { bytes } = encoded(written);
      const read = new Collected();
      deepEqual(readLog(bytes, cacheId, read), {
        goodBytes: bytes.length,
        entries: written.length,
        end: 'whole',
      });
      deepEqual(read.entries, written);
    }),
  );
});

test('a log that is cut anywhere says what was whole before that', () => {
  fc.assert(
    fc.property(entries, fc.double({ min: 0, max: 1, noNaN: true }), (written, share) => {
      const { bytes, ends } = encoded(written);
      const cut = Math.floor(LOG_HEADER_BYTES + share * (bytes.length - LOG_HEADER_BYTES));
      const read = new Collected();
      const { goodBytes, end } = readLog(bytes.slice(0, cut), cacheId, read);
      const whole = ends.filter((at) => at <= cut);
      equal(goodBytes, whole.at(-1) ?? LOG_HEADER_BYTES);
      equal(end, goodBytes === cut ? 'whole' : 'torn');
      deepEqual(read.entries, written.slice(0, whole.length));
    }),
  );
});

test('a flipped bit ends the reading before its entry', () => {
  fc.assert(
    fc.property(entries, fc.nat(), fc.nat(7), (written, place, bit) => {
      const { bytes, ends } = encoded(written);
      if (ends.length === 0) return;
      const at = LOG_HEADER_BYTES + (place % (bytes.length - LOG_HEADER_BYTES));
      bytes[at]! ^= 1 << bit;
      const read = new Collected();
      const { end } = readLog(bytes, cacheId, read);
      const whole = ends.filter((entryEnd) => entryEnd <= at);
      equal(end, 'torn');
      deepEqual(read.entries, written.slice(0, whole.length));
    }),
  );
});

test('a log can be read in pieces of any size', () => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 600 }), (written, piece) => {
      const { bytes } = encoded(written);
      const read = new Collected();
      let held = new Uint8Array(0);
      for (let at = LOG_HEADER_BYTES; at < bytes.length; at += piece) {
        held = Uint8Array.from([...held, ...bytes.subarray(at, at + piece)]);
        const { end, isTorn } = readEntries(held, 0, read);
        ok(!isTorn);
        held = held.slice(end);
      }
      equal(held.length, 0);
      deepEqual(read.entries, written);
    }),
  );
});

test('a log of another cache, of no cache or cut within its header is not read', () => {
  const { bytes } = encoded([{ hash: cacheId, metadata: null }]);
  const read = new Collected();
  const foreign = { goodBytes: 0, entries: 0, end: 'foreign' };
  deepEqual(readLog(bytes, { ...cacheId, h3: 5 }, read), foreign);
  deepEqual(readLog(new Uint8Array(500), cacheId, read), foreign);
  deepEqual(readLog(bytes.slice(0, LOG_HEADER_BYTES - 1), cacheId, read), foreign);
  equal(read.entries.length, 0);
});

test('random bytes behind the header are never believed and never read past', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (rest) => {
      const bytes = Uint8Array.from([...encodeLogHeader(cacheId), ...rest]);
      const read = new Collected();
      equal(readLog(bytes, cacheId, read).goodBytes, LOG_HEADER_BYTES);
      equal(read.entries.length, 0);
    }),
  );
});
