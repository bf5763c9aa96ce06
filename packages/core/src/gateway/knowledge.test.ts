import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import { Knowledge } from './knowledge.ts';
import { defaultGatewayLimits } from './limits.ts';

const hash: Hash128 = { h0: 1, h1: 2, h2: 3, h3: 4 };
const versionOf = (etag: string): ObjectMetadata => ({
  etag,
  size: 1,
  lastModified: 0,
  headerLines: new Uint8Array(0),
  knowsChecksums: true,
  version: hash,
});
const moment = { now: 0 };
const newKnowledge = (): Knowledge =>
  new Knowledge(moment, { ...defaultGatewayLimits, gatewayTtlMs: 1000, unknownWriteMs: 60_000 }, 0);
/** The ETag that may be used at a moment. */
const usableAt = (knowledge: Knowledge, now: number): string | undefined => {
  moment.now = now;
  return knowledge.usable(hash)?.etag;
};

test('metadata is usable until its lifetime is over, counted from when S3 was asked', () => {
  const knowledge = newKnowledge();
  knowledge.learn(150, hash, versionOf('a'), 100, -Infinity, 30, 200);
  assert.equal(usableAt(knowledge, 269), 'a');
  assert.equal(usableAt(knowledge, 270), undefined);
});

test('a longer lifetime is cut to the gateway’s own', () => {
  const knowledge = newKnowledge();
  knowledge.learn(150, hash, versionOf('a'), 100, -Infinity, 30, 60_000);
  assert.equal(usableAt(knowledge, 1099), 'a');
  assert.equal(usableAt(knowledge, 1100), undefined);
});

test('immutable metadata never runs out', () => {
  const knowledge = newKnowledge();
  knowledge.learn(150, hash, versionOf('a'), 100, -Infinity, 1e9, Infinity);
  assert.equal(usableAt(knowledge, 1e12), 'a');
});

test('a write makes what was known unusable at once', () => {
  const knowledge = newKnowledge();
  knowledge.learn(100, hash, versionOf('a'), 100, -Infinity, 0, Infinity);
  knowledge.writeStarted(100, hash);
  assert.equal(usableAt(knowledge, 100), undefined);
});

test('an answer that was on its way when the write ended is not kept, and its demand stays', () => {
  const knowledge = newKnowledge();
  knowledge.writeStarted(90, hash);
  const demanded = knowledge.demand(100, hash);
  knowledge.writeFinished(110, hash, 'done');
  knowledge.learn(120, hash, versionOf('old'), 100, demanded, 10, Infinity);
  assert.equal(usableAt(knowledge, 120), undefined);
  assert.equal(knowledge.demand(120, hash), 110);
});

test('an answer to a demand made after the write is kept, however old its age makes it look', () => {
  const knowledge = newKnowledge();
  knowledge.writeFinished(110, hash, 'done');
  const demanded = knowledge.demand(111, hash);
  knowledge.learn(140, hash, versionOf('new'), 111, demanded, 25, 60_000);
  assert.equal(usableAt(knowledge, 140), 'new');
});

test('an answer that comes late does not replace a newer one', () => {
  const knowledge = newKnowledge();
  knowledge.learn(200, hash, versionOf('new'), 190, -Infinity, 0, Infinity);
  knowledge.learn(210, hash, versionOf('old'), 100, -Infinity, 0, Infinity);
  assert.equal(usableAt(knowledge, 210), 'new');
});
