import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { errorXml } from './error-xml.ts';
import { s3Errors, type ErrorCode } from './errors.ts';

const codes = Object.keys(s3Errors) as ErrorCode[];

test('every code has an error status and a message in plain ASCII', () => {
  for (const code of codes) {
    assert.ok(s3Errors[code].status >= 400 && s3Errors[code].status < 600, code);
    assert.match(s3Errors[code].message, /^[\x20-\x7e]+$/, code);
  }
});

test('the document is well-formed XML whatever the resource holds', () => {
  const parser = new XMLParser({ parseTagValue: false });
  for (const code of codes) {
    const xml = errorXml(code, '/b/<&>"\'\u0000\u00e9', 'ID', [['Region', 'eu<1']]);
    assert.match(xml, /^[\n\x20-\x7e]+$/);
    const { Error: parsed } = parser.parse(xml) as { Error: Record<string, string> };
    assert.deepEqual(parsed, {
      Code: code,
      Message: s3Errors[code].message,
      Region: 'eu<1',
      Resource: '/b/<&>"\'%00%E9',
      RequestId: 'ID',
    });
  }
});
