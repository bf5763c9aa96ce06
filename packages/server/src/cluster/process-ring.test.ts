import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { ringMark } from '@s3-accelerator/protocol/ring-message.ts';
import { ProcessRing } from './process-ring.ts';

let time = 0;
const ringOf = (version: number): Ring =>
  new Ring(version, [{ nodeId: version, weight: 1, address: '127.0.0.1:1' }]);
const newRing = (): ProcessRing =>
  new ProcessRing({ windowMs: 1000, isFollowed: true, now: () => time });

test('before there is any ring it is empty, and nobody is asked', () => {
  const ring = newRing();
  assert.deepEqual([ring.version, ring.mark, ring.current.members.length], [0, 0, 0]);
  assert.deepEqual(ring.newerThan(0), []);
});

test('newer rings are told in order, older ones and known ones not', () => {
  const ring = newRing();
  const told: string[] = [];
  ring.onChange(({ version }) => told.push(`first ${version}`));
  ring.onChange(({ version }) => told.push(`second ${version}`));
  ring.advance(ringOf(3));
  ring.advance(ringOf(2));
  ring.advance(ringOf(3));
  ring.adopt([
    { ring: ringOf(5), replacedForMs: 0 },
    { ring: ringOf(4), replacedForMs: 10 },
  ]);
  assert.deepEqual(told, ['first 3', 'second 3', 'first 5', 'second 5']);
  assert.equal(ring.mark, ringMark(5));
});

test('who holds an older one gets all of the window, and a newer one is noticed', () => {
  const ring = newRing();
  const seen: number[] = [];
  ring.onNewerSeen = (version) => seen.push(version);
  ring.advance(ringOf(1));
  time += 900;
  ring.advance(ringOf(2));
  time += 900;
  ring.advance(ringOf(3));
  const versionsFor = (held: number): number[] =>
    ring.newerThan(held).map(({ ring: { version } }) => version);
  assert.deepEqual(versionsFor(0), [3, 2, 1]);
  time += 200;
  assert.deepEqual(versionsFor(2), [3, 2]);
  assert.deepEqual(versionsFor(3), []);
  assert.deepEqual(seen, []);
  assert.deepEqual(versionsFor(4), []);
  assert.deepEqual(seen, [4]);
});
