import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import { objectHash, TestIdentity } from '../testing/identity.ts';
import { MetadataTable } from './metadata-table.ts';

/** A table whose log is a list of words, and one object of it. */
function tableOf(etag: string): {
  table: MetadataTable;
  identity: TestIdentity;
  hash: Hash128;
  log: string[];
} {
  const log: string[] = [];
  const identity = new TestIdentity();
  const table = new MetadataTable(10, 100_000, 1, identity, {
    logMetadata: () => log.push('kept'),
    logForgotten: () => log.push('forgotten'),
    compactMetadataLog: () => log.push('compacted'),
  });
  const hash = objectHash('b', 'k');
  const version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  identity.version('b', hash, etag, version);
  const metadata: ObjectMetadata = {
    etag,
    size: 1,
    lastModified: 0,
    headerLines: new Uint8Array(),
    knowsChecksums: true,
    version,
  };
  table.keep(hash, metadata, 5);
  return { table, identity, hash, log };
}

test('what is known of an object is given while its bucket points at the same origin', () => {
  const { table, identity, hash, log } = tableOf('"1"');
  assert.equal(table.get('b', hash)?.confirmedAt, 5);
  identity.pointAt('elsewhere', 'second');
  assert.equal(table.get('b', hash)?.metadata.etag, '"1"');
  assert.deepEqual(log, ['kept']);
});

test('what was known of a bucket’s former origin is forgotten, in the log too', () => {
  const { table, identity, hash, log } = tableOf('"1"');
  identity.pointAt('b', 'second');
  assert.equal(table.get('b', hash), null);
  assert.equal(table.count, 0);
  assert.deepEqual(log, ['kept', 'forgotten']);
});

test('metadata that is only confirmed isn’t logged again', () => {
  const { table, hash, log } = tableOf('"1"');
  const { metadata } = table.get('b', hash)!;
  table.keep(hash, metadata, 9);
  assert.equal(table.get('b', hash)?.confirmedAt, 9);
  assert.deepEqual(log, ['kept']);
  table.keep(hash, { ...metadata }, 10);
  assert.deepEqual(log, ['kept', 'kept']);
});

test('a version that turned out to be gone is forgotten, and no other', () => {
  const { table, hash } = tableOf('"1"');
  table.dropVersion(hash, '"2"');
  assert.equal(table.count, 1);
  table.dropVersion(hash, '"1"');
  assert.equal(table.count, 0);
});
