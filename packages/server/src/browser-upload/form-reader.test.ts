import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundaryOf, FormReader, maxFormBytes } from './form-reader.ts';

const boundary = 'b0undary';

interface Form {
  isForm: boolean;
  fields: Record<string, string>;
  fileName: string | null;
  file: string;
  formBytes: number;
}

/** Reads a body in pieces of a size. */
function read(body: string, pieceBytes = body.length || 1): Form {
  const form: Form = { isForm: true, fields: {}, fileName: null, file: '', formBytes: 0 };
  const reader = new FormReader(boundary, {
    onField: (name, value) => (form.fields[name] = value),
    onFile: (fileName, formBytes) => {
      form.fileName = fileName;
      form.formBytes = formBytes;
      return true;
    },
    onFileBytes: (bytes) => {
      form.file += Buffer.from(bytes).toString('latin1');
      return true;
    },
    onFileEnd: () => undefined,
  });
  const bytes = Buffer.from(body, 'latin1');
  for (let at = 0; at < bytes.length && form.isForm; at += pieceBytes) {
    // A copy that is overwritten afterwards, as the memory of received bytes is.
    const piece = Uint8Array.from(bytes.subarray(at, at + pieceBytes));
    form.isForm = reader.push(piece);
    piece.fill(0x2a);
  }
  form.isForm &&= reader.end();
  return form;
}

function part(disposition: string, value: string, further = ''): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${further}\r\n${value}\r\n`;
}
const close = `--${boundary}--\r\n`;
const file = 'line\r\n--b0undar\r\n\r\n--\r\n\0\xff';
const whole =
  part('name="Key"', 'a b') +
  part('name=acl', '', 'Content-Type: text/plain\r\n') +
  part('name="file"; filename="C:\\\\dir\\\\my \\"1\\".txt"', file) +
  close;

test('fields, the file and its name are read, however the body is split', () => {
  const expected = read(whole);
  assert.deepEqual(expected, {
    isForm: true,
    fields: { key: 'a b', acl: '' },
    fileName: 'C:\\dir\\my "1".txt',
    file,
    formBytes: whole.indexOf(file),
  });
  for (let size = 1; size < 60; size += 1) assert.deepEqual(read(whole, size), expected);
});

test('an empty file is a file, and what follows the file is ignored', () => {
  assert.equal(read(part('name="file"', '') + close).file, '');
  const more = read(part('name="file"', 'f') + part('name="key"', 'late') + close);
  assert.deepEqual([more.isForm, more.file, more.fields], [true, 'f', {}]);
  assert.equal(read(part('name="file"', 'f') + `--${boundary}--`).file, 'f');
});

test('what is no closed form with one file is refused', () => {
  const bodies = {
    empty: '',
    'no file': part('name="key"', 'k') + close,
    'not closed': part('name="file"', 'f'),
    'cut in the delimiter': part('name="file"', 'f') + `--${boundary}`,
    'no delimiter': `x${whole}`,
    'another boundary': whole.replaceAll(boundary, 'other'),
    'a field twice': part('name="key"', 'k') + part('name="KEY"', 'l') + whole,
    'no name': part('filename="x"', 'k') + whole,
    'two names': part('name="key"; name="acl"', 'k') + whole,
    'no disposition': `--${boundary}\r\n\r\nk\r\n${whole}`,
    'a delimiter that goes on': part('name="file"', `f\r\n--${boundary}x`) + close,
  };
  for (const [what, body] of Object.entries(bodies)) assert.equal(read(body).isForm, false, what);
});

test('before the file there is a limit, on the head of a part and on all of them', () => {
  const value = (length: number): string => part('name="key"', 'x'.repeat(length)) + whole.slice(0);
  assert.equal(read(part('name="a"', 'x'.repeat(maxFormBytes - 1000)) + whole).isForm, true);
  assert.equal(read(value(maxFormBytes)).isForm, false);
  assert.equal(read(value(maxFormBytes), 100).isForm, false);
  const long = part(`name="${'n'.repeat(5000)}"`, 'k');
  assert.equal(read(long + whole).isForm, false);
  assert.equal(read(long.slice(0, 4500), 7).isForm, false);
});

test('a boundary is read out of a form’s type alone', () => {
  assert.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc');
  assert.equal(boundaryOf('Multipart/Form-Data; charset=utf-8; BOUNDARY="a b;c"'), 'a b;c');
  for (const type of ['multipart/form-data', 'multipart/mixed; boundary=a', 'text/plain', '']) {
    assert.equal(boundaryOf(type), null, type);
  }
  assert.equal(boundaryOf(`multipart/form-data; boundary=${'a'.repeat(71)}`), null);
});
