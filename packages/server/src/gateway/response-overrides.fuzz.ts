/**
 * Mutates queries with `response-*` overrides. Whatever is taken into the head of an answer is one line for each header, of printable
 * ASCII alone, says what the query says, and leaves every other line of the object as it is.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '@s3-accelerator/core/s3/query.ts';
import { Mutator } from '../http/testing/mutator.ts';
import { isOverride, overridesOf, writeOverridden } from './response-overrides.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 3);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

const corpus = [
  'response-content-type=text%2Fplain',
  'response-content-disposition=attachment%3B%20filename%3D%22a%20b.txt%22&response-expires=0',
  'response-cache-control=no-store&response-content-language=de&response-content-encoding=gzip',
  'x-id=GetObject&response-content-type=a',
].map((text) => Buffer.from(text, 'latin1'));
const words = [
  'response-content-type=',
  'response-cache-control=',
  'response-x=',
  '%0D%0A',
  '%0a',
  '%00',
  '%E9',
  '%C3%A9',
  '%7F',
  '%20',
  '+',
  '&',
  '=',
  '\r\n',
];

const own = [
  'ETag: "x"',
  'content-type: text/csv',
  'x-amz-meta-a: Content-Type: b',
  'Cache-Control: a',
  'cache-control: b',
  'Content-Types: c',
  'Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT',
];
const ownLines = Buffer.from(own.map((line) => `${line}\r\n`).join(''), 'latin1');

/** Percent-encoding undone by other means. */
function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).toLowerCase();
}

test(`overrides mutated from seed ${seed} are headers and nothing else`, () => {
  const mutator = new Mutator(seed, corpus, words);
  const until = Date.now() + seconds * 1000;
  let taken = 0;
  let runs = 0;
  for (; Date.now() < until; runs += 1) {
    const input = mutator.next().toString('latin1');
    const story = `seed ${seed}, run ${runs}: ${JSON.stringify(input)}`;
    const parameters = parseQuery(input);
    if (parameters === null) continue;
    const names = parameters.map(({ name }) => name);
    // A repeated parameter is no plain read.
    if (new Set(names).size < names.length) continue;
    const overrides = overridesOf(parameters);
    assert.equal(overrides.length, parameters.filter(isOverride).length, story);
    let head = '';
    const writer = {
      header: (name: string, value: string): void => void (head += `${name}: ${value}\r\n`),
      lines: (bytes: Uint8Array): void => void (head += Buffer.from(bytes).toString('latin1')),
    };
    writeOverridden(writer, ownLines, overrides);
    const lines = head.split('\r\n');
    assert.equal(lines.pop(), '', story);
    const replaced = new Map<string, string>();
    for (const pair of input.split('&')) {
      const [name = '', ...rest] = pair.split('=');
      const override = overrides.find(
        ({ header }) => `response-${header.toLowerCase()}` === decoded(name),
      );
      if (override !== undefined)
        replaced.set(override.header.toLowerCase(), decoded(rest.join('=')));
    }
    assert.equal(replaced.size, overrides.length, story);
    const kept = own.filter((line) => !replaced.has(nameOf(line)));
    const written = overrides.map(
      ({ header }) => `${header}: ${replaced.get(header.toLowerCase())}`,
    );
    assert.deepEqual(lines, [...kept, ...written], story);
    for (const line of lines) assert.match(line, /^[!-9;-~]+: [!-~](?:[ -~]*[!-~])?$/, story);
    if (overrides.length > 0) taken += 1;
  }
  assert.ok(taken > runs / 100, `${taken} of ${runs} mutants had overrides`);
});
