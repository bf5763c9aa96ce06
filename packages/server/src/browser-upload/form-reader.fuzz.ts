/**
 * Mutates forms. The reader never throws, gives the same result however the body was split, holds no more than its limit, and
 * never gives a file that contains its own delimiter.
 */
import assert from 'node:assert/strict';
import { fuzzSplits } from '../http/testing/fuzz-splits.ts';
import { FormReader } from './form-reader.ts';

const part = (disposition: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
const corpus = [
  `${part('name="key"', 'k')}${part('name="file"; filename="f"', 'bytes')}--b--\r\n`,
  `${part('name="file"', '\r\n--\r\n-b')}--b--`,
  `${part('name="policy"', 'e30=')}${part('name="file"', '')}${part('name="late"', 'x')}--b--\r\n`,
].map((text) => Buffer.from(text, 'latin1'));
const words = [
  '\r\n',
  '--b',
  '\r\n--b\r\n',
  '\r\n--b--',
  '\r\n\r\n',
  'name="',
  '"',
  ';',
  '\\',
  '\0',
];

/** All that was told, as text. */
function read(input: Buffer, nextSize: () => number): string {
  let told = '';
  let file = '';
  const reader = new FormReader('b', {
    onField: (name, value) => (told += `${name}=${value};`),
    onFile: (fileName, formBytes) => {
      told += `file ${fileName} at ${formBytes};`;
      return true;
    },
    onFileBytes: (bytes) => {
      assert.ok(bytes.length > 0);
      file += Buffer.from(bytes).toString('latin1');
      return true;
    },
    onFileEnd: () => (told += `end ${file}`),
  });
  for (let at = 0; at < input.length;) {
    const end = Math.min(input.length, at + nextSize());
    const piece = Uint8Array.from(input.subarray(at, end));
    if (!reader.push(piece)) return 'broken';
    piece.fill(0);
    at = end;
  }
  assert.ok(!file.includes('\r\n--b'));
  return reader.end() ? told : 'broken';
}

fuzzSplits({
  inputs: 'forms',
  ...{ corpus, words, read },
  isComplete: (told) => told !== 'broken',
});
