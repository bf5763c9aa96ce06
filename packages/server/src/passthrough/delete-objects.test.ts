import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDeleteObjects } from './delete-objects.ts';

const keysOf = (xml: string | Uint8Array): readonly string[] | null =>
  parseDeleteObjects(Buffer.from(xml))?.keys ?? null;
const object = (key: string): string => `<Object><Key>${key}</Key></Object>`;
const list = (inner: string): string => `<?xml version="1.0"?>\n<Delete>${inner}</Delete>`;

test('reads keys with the entities and references of XML, and no others', () => {
  assert.deepEqual(keysOf(list(object('a&amp;b&lt;&gt;&quot;&apos;'))), ['a&b<>"\'']);
  assert.deepEqual(keysOf(list(object('&#x41;&#66;&#x1;&#13;'))), ['AB\u0001\r']);
  assert.deepEqual(keysOf(list(object('&#x20ac;é'))), ['\xe2\x82\xac\xc3\xa9']);
  for (const bad of ['&nbsp;', '&', '&a', '&#0;', '&#xD800;', '&#x110000;', '&#;', '&foo;']) {
    assert.equal(keysOf(list(object(bad))), null, bad);
  }
});

test('keeps spaces, digits and CDATA of a key exactly', () => {
  assert.deepEqual(keysOf(list(object(' 007 '))), [' 007 ']);
  assert.deepEqual(keysOf(list(object('a<![CDATA[<&amp;>]]>b'))), ['a<&amp;>b']);
  assert.deepEqual(keysOf(list(object('a<!-- x -->b'))), ['ab']);
});

test('what it writes anew reads as the same keys, versions and conditions', () => {
  const inner =
    '<Quiet>true</Quiet><Object><Key>k&#13;&amp;</Key><VersionId>v1</VersionId><ETag>"e"</ETag></Object>';
  const first = parseDeleteObjects(Buffer.from(list(inner)))!;
  assert.deepEqual(parseDeleteObjects(first.body), { keys: ['k\r&'], body: first.body });
  const text = first.body.toString();
  assert.match(text, /<VersionId>v1<\/VersionId><ETag>&#34;e&#34;<\/ETag>/);
  assert.match(text, /<Quiet>true<\/Quiet>/);
});

test('any key survives being written anew', () => {
  const char = fc.oneof(
    fc.integer({ min: 1, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0x10000, max: 0x10ffff }),
  );
  fc.assert(
    fc.property(fc.array(char, { minLength: 1, maxLength: 40 }), (points) => {
      const references = points.map((point) => `&#${point};`).join('');
      const first = parseDeleteObjects(Buffer.from(list(object(references))))!;
      const expected = Buffer.from(String.fromCodePoint(...points)).toString('latin1');
      assert.deepEqual(first.keys, [expected]);
      assert.deepEqual(parseDeleteObjects(first.body)?.keys, [expected]);
    }),
  );
});

test('refuses what S3 would refuse, or what could be read in two ways', () => {
  for (const bad of [
    '',
    'text',
    '<Delete></Delete>',
    list('<Object></Object>'),
    list('<Object><Key></Key></Object>'),
    list('<Object><Key>a</Key><Key>b</Key></Object>'),
    list('<Object><Key>a</Key><Other>b</Other></Object>'),
    list('<Object><Key>a<b>c</b></Key></Object>'),
    list(`${object('a')}<Thing/>`),
    '<Other><Object><Key>a</Key></Object></Other>',
    `${list(object('a'))}${list(object('b'))}`,
    '<Delete><Object><Key>a</Key></Object>',
    '<!DOCTYPE d [<!ENTITY e "x">]><Delete><Object><Key>&e;</Key></Object></Delete>',
    // Found by the fuzzer: read as an element without a name, and a key that another reader ends at its NUL.
    list(`${object('a')}<?>b/>`),
    list(object('a\0b')),
    list(object('k'.repeat(1025))),
    list(object('a').repeat(1001)),
  ]) {
    assert.equal(keysOf(bad), null, bad.slice(0, 80));
  }
  assert.equal(keysOf(Buffer.from(list(object('\xff')), 'latin1')), null, 'not UTF-8');
  assert.equal(keysOf(Buffer.from(list(object('a')), 'utf16le')), null, 'not UTF-8');
  assert.equal(keysOf(list(object('a').repeat(1000)))?.length, 1000);
});

test('takes a thousand keys with every condition, and refuses markup without end unparsed', () => {
  const conditions =
    '<VersionId>v</VersionId><ETag>e</ETag><LastModifiedTime>t</LastModifiedTime><Size>1</Size>';
  const full = `<Object><Key>a</Key>${conditions}</Object>`;
  assert.equal(keysOf(list(full.repeat(1000)))?.length, 1000);
  for (const endless of ['<!---->', '<?a?>', '<![CDATA[]]>', '<Quiet>a</Quiet>']) {
    assert.equal(keysOf(list(`${endless.repeat(20_000)}${object('a')}`)), null, endless);
  }
});
