import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { WriteMarks } from './write-marks.ts';

const hashOf = (n: number): Hash128 => ({ h0: n, h1: n, h2: n, h3: n });
const a = hashOf(1);
const b = hashOf(2);

test('an object nobody wrote demands nothing', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, -Infinity);
  assert.equal(marks.demand(6, b), -Infinity);
});

test('a write demands metadata newer than its end', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, -Infinity);
  marks.note(8, a, -Infinity);
  assert.equal(marks.demand(9, a), 8);
});

test('two writes in one tick have an order', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, -Infinity);
  const first = marks.demand(5, a);
  marks.note(5, a, -Infinity);
  assert.ok(marks.demand(5, a) > first);
});

test('a write in the very tick of a demand is later than it', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, 100);
  const demand = marks.demand(7, a);
  assert.equal(demand, 7);
  marks.note(7, a, -Infinity);
  assert.ok(marks.demand(1000, a) > demand);
});

test('an unknown outcome demands the present until its time is over, and from then on that time', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, 65);
  assert.equal(marks.demand(30, a), 30);
  marks.settle(30, a, 1);
  assert.equal(marks.demand(64, a), 64);
  assert.equal(marks.demand(65, a), 65);
  assert.equal(marks.demand(90, a), 65);
});

test('a mark goes once newer metadata was cached and older metadata can live nowhere', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, -Infinity);
  marks.settle(6, a, 10);
  assert.equal(marks.demand(14, a), 5);
  assert.equal(marks.demand(15, a), -Infinity);
  assert.equal(marks.count, 0);
});

test('a mark of an unknown outcome stays for a lifetime after its doubt is over', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, 65);
  marks.settle(66, a, 10);
  assert.equal(marks.demand(74, a), 65);
  assert.equal(marks.demand(75, a), -Infinity);
});

test('a write after that starts over', () => {
  const marks = new WriteMarks(10, 0);
  marks.note(5, a, -Infinity);
  marks.settle(6, a, 10);
  marks.note(9, a, -Infinity);
  assert.equal(marks.demand(100, a), 9);
});

test('too many marks become one coarse mark that holds for every object', () => {
  const marks = new WriteMarks(4, 0);
  for (let i = 0; i < 20; i++) marks.note(i, hashOf(100 + i), -Infinity);
  assert.ok(marks.count <= 4);
  assert.ok(marks.overflows > 0);
  for (let i = 0; i < 20; i++) assert.ok(marks.demand(50, hashOf(100 + i)) >= i);
  assert.ok(marks.demand(50, a) > -Infinity);
  assert.ok(marks.demand(50, a) < 19, 'the latest marks still hold for their objects alone');
});

test('an unknown outcome survives in the coarse mark', () => {
  const marks = new WriteMarks(4, 0);
  marks.note(0, a, 60);
  for (let i = 1; i < 20; i++) marks.note(i, hashOf(100 + i), -Infinity);
  assert.equal(marks.demand(40, a), 40);
  assert.equal(marks.demand(40, b), 40);
  assert.equal(marks.demand(70, a), 60);
});
