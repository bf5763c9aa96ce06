import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import { Knowledge } from './knowledge.ts';
import { defaultGatewayLimits } from './limits.ts';
import { clockSkewMs, epochMs, WriteEpochs } from './write-epochs.ts';

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
const limits = { ...defaultGatewayLimits, gatewayTtlMs: 1000, unknownWriteMs: 60_000 };
/** What two loops of one process know. */
const twoLoops = (): readonly [Knowledge, Knowledge] => {
  const words = new Uint32Array(new SharedArrayBuffer(4 * 1024));
  const loop = (seed: number): Knowledge =>
    new Knowledge(moment, limits, new WriteEpochs(words, 9), seed);
  return [loop(0), loop(1)];
};
const newKnowledge = (): Knowledge => twoLoops()[0];
/** From then on what S3 says counts again, after a write that ended at this moment. */
const after = (moment: number): number => {
  const epochs = new WriteEpochs(new Uint32Array(1), 0);
  epochs.raise(hash, moment);
  return epochs.since(hash);
};
/** The ETag that may be used at a moment. */
const usableAt = (knowledge: Knowledge, now: number): string | undefined => {
  moment.now = now;
  return knowledge.usable(hash)?.metadata.etag;
};

test('metadata is usable until its lifetime is over, counted from when S3 was asked', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('a'), 100, -Infinity, 30, 200);
  assert.equal(usableAt(knowledge, 269), 'a');
  assert.equal(usableAt(knowledge, 270), undefined);
});

test('a longer lifetime is cut to the gateway’s own', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('a'), 100, -Infinity, 30, 60_000);
  assert.equal(usableAt(knowledge, 1099), 'a');
  assert.equal(usableAt(knowledge, 1100), undefined);
});

test('immutable metadata never runs out', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('a'), 100, -Infinity, 1e9, Infinity);
  assert.equal(usableAt(knowledge, 1e12), 'a');
});

test('a write makes what was known unusable at once', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('a'), 100, -Infinity, 0, Infinity);
  knowledge.writeStarted(100, hash);
  assert.equal(usableAt(knowledge, 100), undefined);
});

test('an answer that was on its way when the write ended is not kept, and its demand stays', () => {
  const knowledge = newKnowledge();
  knowledge.writeStarted(90, hash);
  const demanded = knowledge.demand(1000, hash);
  assert.equal(demanded, after(90));
  knowledge.writeFinished(1010, hash, 'done');
  knowledge.learn(hash, versionOf('old'), 1000, demanded, 10, Infinity);
  assert.equal(usableAt(knowledge, 1120), undefined);
  assert.equal(knowledge.demand(1120, hash), after(1010));
});

test('an answer to a demand made after the write is kept, however old its age makes it look', () => {
  const knowledge = newKnowledge();
  knowledge.writeFinished(110, hash, 'done');
  const askedAt = after(110) + 1;
  const demanded = knowledge.demand(askedAt, hash);
  knowledge.learn(hash, versionOf('new'), askedAt, demanded, 25, 60_000);
  assert.equal(usableAt(knowledge, askedAt + 30), 'new');
});

test('right after a write every read is confirmed, and nothing is kept', () => {
  const knowledge = newKnowledge();
  knowledge.writeFinished(110, hash, 'done');
  assert.equal(knowledge.demand(110.5, hash), 110.5);
  knowledge.learn(hash, versionOf('new'), 110.5, 110.5, 0, Infinity);
  assert.equal(usableAt(knowledge, 111), undefined);
  assert.ok(after(110) <= 110 + clockSkewMs + epochMs);
});

test('after a write of unknown outcome every read is confirmed for a minute, and then whatever is older than that', () => {
  const knowledge = newKnowledge();
  knowledge.writeFinished(110, hash, 'unknown');
  for (const now of [200, 30_000, 60_110]) {
    assert.equal(knowledge.demand(now, hash), now);
    knowledge.learn(hash, versionOf('doubtful'), now, now, 0, Infinity);
    assert.equal(usableAt(knowledge, now), undefined);
  }
  assert.equal(usableAt(knowledge, 70_000), undefined);
  assert.equal(knowledge.demand(70_000, hash), after(60_110));
});

test('a write that goes well leaves the doubt of an earlier one alone', () => {
  const knowledge = newKnowledge();
  knowledge.writeFinished(110, hash, 'unknown');
  knowledge.writeStarted(1000, hash);
  knowledge.writeFinished(1100, hash, 'done');
  assert.equal(knowledge.demand(40_000, hash), 40_000);
});

test('a write through one loop makes what another loop knew unusable, and what that one learns is its own', () => {
  const [one, other] = twoLoops();
  for (const loop of [one, other]) loop.learn(hash, versionOf('a'), 100, -Infinity, 0, Infinity);
  one.writeStarted(100, hash);
  assert.equal(usableAt(other, 100), undefined);
  one.writeFinished(150, hash, 'done');
  other.learn(hash, versionOf('b'), 200, other.demand(200, hash), 0, Infinity);
  assert.deepEqual([usableAt(other, 200), usableAt(one, 200)], ['b', undefined]);
});

test('an answer that comes late does not replace a newer one', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('new'), 190, -Infinity, 0, Infinity);
  knowledge.learn(hash, versionOf('old'), 100, -Infinity, 0, Infinity);
  assert.equal(usableAt(knowledge, 210), 'new');
});

test('once policies may be others, nothing that was asked before counts, whenever it comes', () => {
  const knowledge = newKnowledge();
  knowledge.learn(hash, versionOf('a'), 100, -Infinity, 0, Infinity);
  knowledge.forgetMetadata(200);
  assert.equal(usableAt(knowledge, 200), undefined);
  const late = knowledge.learn(hash, versionOf('b'), 199, -Infinity, 0, Infinity);
  assert.equal(late.metadata.etag, 'b', 'whoever asked gets it');
  assert.equal(usableAt(knowledge, 201), undefined);
  // The home knows it from earlier: that is no reason to look back.
  knowledge.learn(hash, versionOf('c'), 200, -Infinity, 150, Infinity);
  assert.equal(usableAt(knowledge, 201), 'c');
});
