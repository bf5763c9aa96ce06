import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ChunkedBody } from './chunked-body.ts';

interface Decoded {
  readonly text: string;
  /** What lies behind the body; null when the body isn't complete. */
  readonly rest: string | null;
}

/** Decodes pieces pushed one after the other; null when the coding is broken. */
function decode(pieces: readonly string[]): Decoded | null {
  const body = new ChunkedBody();
  let text = '';
  let rest = '';
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    if (body.done) {
      rest += piece;
      continue;
    }
    const at = body.push(bytes, 0, bytes.length, (start, end) => {
      text += bytes.toString('latin1', start, end);
    });
    if (at < 0) return null;
    rest += piece.slice(at);
  }
  return { text, rest: body.done ? rest : null };
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index]));
}

const chunk = fc.string({
  unit: fc.constantFrom('a', '\r', '\n', '0', ';', '\u00ff'),
  minLength: 1,
  maxLength: 20,
});
const size = fc.constantFrom('', '0', '000');
const extension = fc.constantFrom('', ';a', ';a=b;c="d \u00ff"');
const trailers = fc.constantFrom('', 'a:b\r\n', 'X-Y: \r\nz: \u00ff\r\n');

test('what was encoded decodes, however it is split, and the rest is left alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(chunk, size, extension), { maxLength: 6 }),
      trailers,
      fc.constantFrom('', 'GET / HTTP/1.1'),
      fc.array(fc.nat(), { maxLength: 12 }),
      (chunks, trailer, rest, cuts) => {
        const encoded = chunks.map(
          ([text, zeros, ext]) => `${zeros}${text.length.toString(16)}${ext}\r\n${text}\r\n`,
        );
        const wire = `${encoded.join('')}0\r\n${trailer}\r\n${rest}`;
        assert.deepEqual(decode(pieces(wire, cuts)), {
          text: chunks.map(([text]) => text).join(''),
          rest,
        });
      },
    ),
    { numRuns: 1000 },
  );
});

test('every proper prefix is incomplete and never broken', () => {
  const wire = '5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nt: v\r\n\r\n';
  for (let length = 0; length < wire.length; length += 1) {
    assert.equal(decode([wire.slice(0, length)])?.rest, null, wire.slice(0, length));
  }
});

test('what two readers could read differently is broken', () => {
  for (const wire of [
    '5\nhello\r\n0\r\n\r\n',
    '5\r\nhello\n0\r\n\r\n',
    '5\r\nhello\r\n0\n\r\n',
    '5\r\nhello\r\n0\r\n\n',
    '5\r\nhello0\r\n\r\n',
    '5\r\nhelloX\r\n0\r\n\r\n',
    '\r\n',
    ';a\r\n',
    ' 5\r\nhello\r\n',
    '5 \r\nhello\r\n',
    '5\t\r\nhello\r\n',
    '+5\r\nhello\r\n',
    '-5\r\nhello\r\n',
    '0x5\r\nhello\r\n',
    '5g\r\n',
    '0000000000005\r\nhello\r\n',
    'ffffffffffffffff\r\n',
    '5\rhello',
    '5;a\nb\r\n',
    '5;a\0\r\n',
    '0\r\n t: v\r\n',
    '0\r\nt : v\r\n',
    '0\r\nt\r\n',
    '0\r\nt: v\n\r\n',
    '0\r\nt: \0\r\n',
    '0\r\n: v\r\n',
    '0\r\n\rx',
  ]) {
    assert.equal(decode([wire]), null, JSON.stringify(wire));
  }
});

test('extensions and trailers are bounded', () => {
  assert.equal(decode([`5;${'x'.repeat(20_000)}\r\n`]), null);
  assert.equal(decode([`0\r\nt: ${'x'.repeat(10_000)}\r\n`]), null);
  assert.equal(decode([`0\r\n${'t: v\r\n'.repeat(2_000)}`]), null);
});

test('after a reset it decodes the next body', () => {
  const body = new ChunkedBody();
  const bytes = Buffer.from('1\r\na\r\n0\r\n\r\n');
  for (let round = 0; round < 2; round += 1) {
    let text = '';
    assert.equal(
      body.push(bytes, 0, bytes.length, (start, end) => {
        text += bytes.toString('latin1', start, end);
      }),
      bytes.length,
    );
    assert.equal(text, 'a');
    assert.equal(body.done, true);
    body.reset();
    assert.equal(body.done, false);
  }
});
