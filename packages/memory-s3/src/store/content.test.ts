import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contentFrom,
  ContentRange,
  JoinedContent,
  MemorySink,
  SyntheticContent,
} from './content.ts';
import type { Content } from './content.ts';

const mebi = 1024 * 1024;

function read(content: Content, start: number, end: number): Buffer {
  return Buffer.concat([...content.slices(start, end)]);
}

function counting(size: number): Buffer {
  const out = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) out.writeUInt32LE(at, at);
  return out;
}

test('an upload of any size and announcement is kept byte for byte', () => {
  for (const size of [0, 1, mebi, 4 * mebi, 4 * mebi + 1, 9 * mebi + 17]) {
    for (const announced of [0, size, 2 * size]) {
      const bytes = counting(size);
      const sink = new MemorySink(announced);
      for (let at = 0; at < size; at += 65_537) sink.append(bytes.subarray(at, at + 65_537));
      const content = sink.finish();
      assert.equal(content.size, size);
      assert.ok(read(content, 0, size).equals(bytes), `${size} bytes, ${announced} announced`);
    }
  }
});

test('joined contents and ranges of contents read as one', () => {
  const bytes = counting(10 * mebi);
  const cuts = [0, 3, 5 * mebi + 1, 10 * mebi];
  const joined = new JoinedContent(
    cuts.slice(1).map((end, index) => contentFrom(bytes.subarray(cuts[index], end))),
  );
  const range = new ContentRange(joined, 2, 9 * mebi);
  for (const [start, end] of [
    [0, 1],
    [0, 9 * mebi - 2],
    [1, 5 * mebi],
    [4 * mebi, 8 * mebi + 3],
  ] as const) {
    assert.ok(read(range, start, end).equals(bytes.subarray(start + 2, end + 2)));
  }
});

test('synthetic bytes are the same however they are cut, and differ from place to place', () => {
  const content = new SyntheticContent('name', 6 * mebi);
  const whole = read(content, 0, content.size);
  for (const [start, end] of [
    [0, 1],
    [511, 513],
    [mebi - 3, mebi + 3],
    [3 * mebi + 100, 5 * mebi + 7],
  ] as const) {
    assert.ok(read(content, start, end).equals(whole.subarray(start, end)));
  }
  const blocks = [0, 1, 2, 3, 4, 5].map((n) => whole.subarray(n * mebi + 16, n * mebi + 48));
  const distinct = new Set(blocks.map((block) => block.toString('hex')));
  assert.equal(distinct.size, blocks.length);
});
