/**
 * Mutates chunked bodies. The decoder never throws, never emits what lies outside of its bytes, gives the same result
 * however they were split, and what it accepts a naive decoder accepts alike.
 */
import assert from 'node:assert/strict';
import { ChunkedBody } from './chunked-body.ts';
import { fuzzSplits } from './testing/fuzz-splits.ts';

const corpus = [
  '5\r\nhello\r\n0\r\n\r\n',
  '1;a=b\r\nx\r\nA\r\n0123456789\r\n0\r\nx-t: v\r\n\r\nGET / HTTP/1.1\r\n',
  '0\r\n\r\n',
  `${'3\r\nabc\r\n'.repeat(50)}0\r\n\r\n`,
  `400\r\n${'z'.repeat(1024)}\r\n0\r\na:b\r\nc:d\r\n\r\n`,
].map((text) => Buffer.from(text, 'latin1'));
const words = ['\r\n', '\n', '\0', ';', ' ', '0', '0\r\n\r\n', 'ffffffff', 'a:b\r\n'];

/** 'broken', or the decoded text and how many bytes the body took (-1 when it isn't complete). */
function decode(input: Buffer, nextSize: () => number): string {
  const body = new ChunkedBody();
  let text = '';
  let at = 0;
  while (at < input.length && !body.done) {
    const end = Math.min(input.length, at + nextSize());
    const next = body.push(input, at, end, (start, stop) => {
      assert.ok(start >= at && stop <= end && start <= stop);
      text += input.toString('latin1', start, stop);
    });
    if (next < 0) return 'broken';
    assert.ok(next === end || body.done);
    at = next;
  }
  return `${body.done ? at : -1}:${text}`;
}

/** Decodes a complete body with regular expressions, or null. */
function decodeNaively(text: string): string | null {
  let decoded = '';
  let rest = text;
  for (;;) {
    const line = /^([0-9a-fA-F]{1,12})(;[^\u0000-\u0008\u000a-\u001f\u007f]*)?\r\n/.exec(rest);
    if (line === null) return null;
    const size = Number.parseInt(line[1]!, 16);
    rest = rest.slice(line[0].length);
    if (size === 0) break;
    if (rest.length < size + 2 || rest.slice(size, size + 2) !== '\r\n') return null;
    decoded += rest.slice(0, size);
    rest = rest.slice(size + 2);
  }
  return /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*\r\n)*\r\n/.test(rest) ? decoded : null;
}

fuzzSplits({
  inputs: 'chunked bodies',
  ...{ corpus, words, read: decode },
  isComplete: (told, input, story) => {
    if (told === 'broken' || told.startsWith('-1:')) return false;
    const decoded = told.slice(told.indexOf(':') + 1);
    assert.equal(decoded, decodeNaively(input.toString('latin1')), story);
    return true;
  },
});
