/**
 * Mutates a corpus of heads. Whatever comes out, the parser never throws, never looks outside of its bytes, and gives
 * the same verdict however the bytes were split. FUZZ_SECONDS sets how long (3), FUZZ_SEED where it begins.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestHead } from './request-head.ts';
import { RequestParser, newHeadProgress } from './request-parser.ts';
import { Mutator } from './testing/mutator.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 3);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

const corpus = [
  'GET /b/k HTTP/1.1\r\nHost: h\r\n\r\n',
  'GET http://h/b/k?acl HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\n\r\n',
  'PUT /b/k%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n0123456789',
  'POST /b?delete HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close, x\r\n\r\n',
  'HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n',
  `GET /${'k'.repeat(300)} HTTP/1.1\r\nHost: h\r\n${'x-amz-meta-a:  b  c \r\n'.repeat(20)}\r\n`,
  `GET / HTTP/1.1\r\nHost: h\r\nx: ${'v'.repeat(8170)}\r\n\r\n`,
  `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(130)}\r\n`,
].map((text) => Buffer.from(text, 'latin1'));
const words = [
  '\r\n',
  '\n',
  '\0',
  ' ',
  '\t',
  ':',
  'chunked',
  'Content-Length: 1\r\n',
  'Host: h',
  ' HTTP/1.1',
];

interface Verdict {
  readonly result: string;
  readonly seen: unknown;
}

function verdict(parser: RequestParser, result: string, origin: number): Verdict {
  const head = parser.head;
  if (result === 'incomplete') return { result, seen: null };
  if (result === 'bad') return { result, seen: head.error };
  return {
    result,
    seen: [
      head.end - origin,
      head.methodText(),
      head.target(),
      head.rawHeaders(),
      head.framing,
      head.contentLength,
      head.keepAlive,
      head.expectContinue,
    ],
  };
}

test(`heads mutated from seed ${seed} never confuse the parser`, () => {
  const mutator = new Mutator(seed, corpus, words);
  const parser = new RequestParser(new RequestHead());
  const until = Date.now() + seconds * 1000;
  let complete = 0;
  let runs = 0;
  for (; Date.now() < until; runs += 1) {
    const input = mutator.next();
    const whole = verdict(
      parser,
      parser.parse(input, input, 0, input.length, newHeadProgress()),
      0,
    );
    if (whole.result === 'complete') complete += 1;

    // The same bytes elsewhere, with hostile neighbours, in pieces.
    const offset = 1 + mutator.below(7);
    const framed = Buffer.alloc(offset + input.length + 4, '\r\n');
    framed.set(input, offset);
    const progress = newHeadProgress();
    let split: Verdict = { result: 'incomplete', seen: null };
    for (let end = 0; end < input.length && split.result === 'incomplete';) {
      end = Math.min(input.length, end + 1 + mutator.below(mutator.below(2) === 0 ? 3 : 400));
      const result = parser.parse(framed, framed, offset, offset + end, progress);
      split = verdict(parser, result, offset);
    }
    assert.deepEqual(
      split,
      whole,
      `seed ${seed}, run ${runs}: ${JSON.stringify(input.toString('latin1'))}`,
    );
  }
  assert.ok(complete > runs / 100, `${complete} of ${runs} mutants were complete heads`);
});
