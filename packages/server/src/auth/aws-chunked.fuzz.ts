/**
 * Mutates aws-chunked bodies. The decoder never throws, tells the same however the body was split, gives exactly the bytes that its
 * chunks announce, and holds no more than a line.
 */
import assert from 'node:assert/strict';
import { fuzzSplits } from '../http/testing/fuzz-splits.ts';
import { AwsChunkedDecoder } from './aws-chunked.ts';

const signature = 'a'.repeat(64);
const corpus = [
  '5\r\nhello\r\n0\r\n\r\n',
  `5;chunk-signature=${signature}\r\nhello\r\n0;chunk-signature=${signature}\r\n\r\n`,
  '3\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
  `1\r\n\n\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\n\r\nx-amz-trailer-signature:${signature}\r\n\r\n`,
  '0\r\n\r\n',
].map((text) => Buffer.from(text, 'latin1'));
const words = ['\r\n', '\n', '0', ';chunk-signature=', 'ffffffffffff', '1', ':', '\0', ' ', 'é'];

/** All that was told, as text; an error ends it. */
function read(input: Buffer, nextSize: () => number): string {
  let told = '';
  let promised = 0;
  let given = 0;
  const decoder = new AwsChunkedDecoder({
    onChunk: (size, said) => {
      assert.equal(given, promised, 'a chunk is whole before the next one begins');
      assert.ok(said === '' || /^[0-9a-f]{64}$/.test(said));
      promised = size;
      given = 0;
      told += `chunk ${size} ${said};`;
      return null;
    },
    onBytes: (bytes) => {
      assert.ok(bytes.length > 0);
      given += bytes.length;
      assert.ok(given <= promised);
      told += Buffer.from(bytes).toString('latin1');
    },
    onChunkEnd: () => {
      assert.equal(given, promised);
      told += ';';
      return null;
    },
    onTrailer: (name, value) => {
      assert.match(name, /^[!#$%&'*+.^_`|~0-9a-z-]+$/);
      assert.match(value, /^[\x20-\x7e]*$/);
      told += `${name}=${value};`;
      return null;
    },
    endsHere: () => true,
  });
  for (let at = 0; at < input.length;) {
    const end = Math.min(input.length, at + nextSize());
    const piece = Uint8Array.from(input.subarray(at, end));
    const error = decoder.push(piece);
    piece.fill(0);
    // Bytes before a fault may have been told or not: where it was split decides that, and nothing else.
    if (error !== null) return `error ${error}`;
    at = end;
  }
  return decoder.done ? told : 'incomplete';
}

fuzzSplits({
  inputs: 'chunked bodies',
  ...{ corpus, words, read },
  isComplete: (told) => !told.startsWith('error') && told !== 'incomplete',
});
