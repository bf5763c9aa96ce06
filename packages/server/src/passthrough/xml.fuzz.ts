/**
 * Mutates documents of S3's protocol. The reader never throws; what it reads and is written anew reads as the same, so that what was
 * authorised is what an origin acts on; and of markup that could smuggle something in nothing gets through.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mutator } from '../http/testing/mutator.ts';
import { parseXml, xmlText, type XmlElement } from './xml.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 3);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

const corpus = [
  '<?xml version="1.0" encoding="UTF-8"?>\n<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a/b</Key></Object><Quiet>true</Quiet></Delete>',
  '<Delete><Object><Key> a &amp; &#x42;<![CDATA[<c>]]>é </Key><VersionId>1</VersionId></Object></Delete>',
  '<Tagging><TagSet><Tag><Key>k</Key><Value></Value></Tag></TagSet></Tagging>',
  '<a><!-- a comment --><b/><c x="1">00</c></a>',
].map((text) => Buffer.from(text, 'utf8'));
const words = [
  '<!DOCTYPE a [<!ENTITY x "y">]>',
  '<![CDATA[',
  ']]>',
  '&x;',
  '&#0;',
  '&#xD800;',
  '<!--',
  '-->',
  '<Key>',
  '</Key>',
  '<?x',
  '?>',
  '__proto__',
  '\0',
];

/** The element as it would be sent on. */
function written({ name, children, text }: XmlElement): string {
  return `<${name}>${children.map(written).join('')}${xmlText(text)}</${name}>`;
}

test(`documents mutated from seed ${seed} never confuse the reader`, () => {
  const mutator = new Mutator(seed, corpus, words);
  const until = Date.now() + seconds * 1000;
  let read = 0;
  let runs = 0;
  for (; Date.now() < until; runs += 1) {
    const input = mutator.next();
    const story = `seed ${seed}, run ${runs}: ${JSON.stringify(input.toString('latin1'))}`;
    const root = parseXml(input);
    if (root === null) continue;
    read += 1;
    assert.ok(!input.includes('<!DOCTYPE'), story);
    // Binary strings are bytes already.
    const again = parseXml(Buffer.from(written(root), 'latin1'));
    assert.deepEqual(again, root, story);
  }
  assert.ok(read > runs / 100, `${read} of ${runs} mutants were documents`);
});
