import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childText, escapeXml, parseXml, tag } from './xml.ts';

test('text survives being written and read', () => {
  for (const text of ['plain', ' spaces kept ', '<&>"\'', 'a\rb', 'žluť 🚀', '&amp;', '&#65;']) {
    const root = parseXml(Buffer.from(`<Root>${tag('Key', text)}</Root>`), 'Root');
    assert.equal(childText(root, 'Key'), text);
  }
});

test('numeric references and namespaces are understood', () => {
  const xml = '<?xml version="1.0"?><x:Root xmlns:x="urn:x"><x:K>&#x41;&#66;</x:K></x:Root>';
  assert.equal(childText(parseXml(Buffer.from(xml), 'Root'), 'K'), 'AB');
});

test('broken or dangerous documents are refused', () => {
  for (const xml of [
    '',
    'text',
    '<Root><Open></Root>',
    '<Other/>',
    '<!DOCTYPE Root [<!ENTITY e "x">]><Root>&e;</Root>',
    '<Root>&unknown;</Root>',
    '<Root>\u0001</Root>',
  ]) {
    assert.throws(() => parseXml(Buffer.from(xml), 'Root'), { code: 'MalformedXML' }, xml);
  }
});

test('control characters are written as references', () => {
  assert.equal(escapeXml('a\u0001\r'), 'a&#x1;&#xD;');
});
