import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerReader } from './answer-reader.ts';

/** What a reader told, as text, when the bytes came in pieces of so many. */
function read(bytes: string, pieceBytes: number, hasBody = true, ends = false): string[] {
  const told: string[] = [];
  let body = '';
  const reader = new AnswerReader({
    onHead: (status, length) => told.push(`${status} ${length}`),
    onBody: (piece, start, end) => {
      body += piece.toString('latin1', start, end);
    },
    onEnd: (isLast) => {
      told.push(`end ${body}${isLast ? ' last' : ''}`);
      body = '';
      reader.expect(hasBody);
    },
  });
  reader.expect(hasBody);
  const all = Buffer.from(bytes, 'latin1');
  for (let at = 0; at < all.length; at += pieceBytes) {
    const fault = reader.feed(all, at, Math.min(all.length, at + pieceBytes));
    if (fault !== '') return [...told, fault];
  }
  if (ends && !reader.sourceEnded()) told.push('ended early');
  return told;
}

const cases: readonly (readonly [string, string, readonly string[], boolean?, boolean?])[] = [
  [
    'answers one after the other',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n',
    ['200 5', 'end hello', '404 0', 'end '],
  ],
  [
    'an answer in chunks, with an extension and trailers',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\na: b\r\n\r\n',
    ['200 -1', 'end hello world'],
  ],
  [
    'an answer to a HEAD promises a length and has no body',
    'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n',
    ['200 500', 'end '],
    false,
  ],
  ['a 304 has none either', 'HTTP/1.1 304 Not Modified\r\netag: "x"\r\n\r\n', ['304 -1', 'end ']],
  [
    'what comes before the answer is left out',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx',
    ['200 1', 'end x'],
  ],
  [
    'a server that closes says so',
    'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx',
    ['200 1', 'end x last'],
  ],
  [
    'without a length the body ends with the connection',
    'HTTP/1.1 200 OK\r\n\r\nhello',
    ['200 -1', 'end hello last'],
    true,
    true,
  ],
  [
    'a body that is cut short has no end',
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello',
    ['200 9', 'ended early'],
    true,
    true,
  ],
  [
    'what is no HTTP is told',
    'SSH-2.0-OpenSSH\r\n\r\n',
    ['no HTTP/1.1 answer: "SSH-2.0-OpenSSH\\r\\n"'],
  ],
  [
    'a chunk with another length than it says is told',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n',
    ['200 -1', 'a chunk longer than it says'],
  ],
  [
    'a chunk without a size is told',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    ['200 -1', 'no size of a chunk: "zz"'],
  ],
];

for (const [title, bytes, told, hasBody = true, ends = false] of cases) {
  test(`${title}, however the bytes were cut`, () => {
    for (let piece = 1; piece <= bytes.length; piece++) {
      assert.deepEqual(read(bytes, piece, hasBody, ends), told, `pieces of ${piece}`);
    }
  });
}

test('a head without end is refused', () => {
  assert.match(
    read(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`, 4096)[0]!,
    /more than 65536/,
  );
});

test('bytes that nobody asked for are told', () => {
  const reader = new AnswerReader({
    onHead: () => undefined,
    onBody: () => undefined,
    onEnd: () => undefined,
  });
  assert.equal(reader.feed(Buffer.from('x'), 0, 1), 'bytes that belong to no answer');
});
