import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOfForm, PostSuccess, withFileName } from './post-form.ts';

const form = (fields: Record<string, string>): ReadonlyMap<string, string> =>
  new Map(Object.entries(fields));

test('the name of the file goes where a field asks for it, without its folders', () => {
  const fields = form({
    key: 'u/${filename}/${filename}',
    'x-amz-meta-n': '${filename}',
    policy: '${filename}',
  });
  const filled = withFileName(fields, 'C:\\up\\$& one.txt');
  assert.equal(filled.get('key'), 'u/$& one.txt/$& one.txt');
  assert.equal(filled.get('x-amz-meta-n'), '$& one.txt');
  assert.equal(filled.get('policy'), '${filename}');
  assert.equal(withFileName(fields, '').get('key'), 'u//');
});

test('fields become the headers of a PUT', () => {
  const tags =
    '<Tagging><TagSet><Tag><Key>a b</Key><Value>1&amp;2</Value></Tag></TagSet></Tagging>';
  const fields = form({
    key: 'k',
    acl: 'private',
    tagging: tags,
    'content-type': 'text/plain',
    'x-amz-meta-a': ' b ',
    'x-amz-credential': 'c',
    unknown: 'u',
  });
  assert.deepEqual(headersOfForm(fields), [
    ...['x-amz-acl', 'private', 'x-amz-tagging', 'a%20b=1%262'],
    ...['content-type', 'text/plain', 'x-amz-meta-a', 'b'],
  ]);
});

test('a field that would be another operation, or another header, is refused', () => {
  for (const [name, value] of [
    ['x-amz-copy-source', '/other/secret'],
    ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
    ['x-amz-decoded-content-length', '1'],
    ['x-amz-meta-a', 'b\r\nx-amz-copy-source: /other/secret'],
    ['x-amz-meta-a\r\nx-evil', 'b'],
    ['x-amz-meta-a b', 'b'],
    ['content-type', 'a\0b'],
    ['tagging', '<Tagging/>'],
    ['tagging', 'a=b'],
  ] as const) {
    assert.equal(headersOfForm(form({ [name]: value })), null, `${name}: ${value}`);
  }
});

test('a success is 204 unless the form wants 200 or 201, or a redirection', () => {
  const answer = (fields: Record<string, string>): ReturnType<PostSuccess['answer']> =>
    new PostSuccess(form(fields), 'data', 'a&b/c', 'cache.example').answer(['ETag', '"e"']);
  const location = 'http://cache.example/data/a%26b/c';
  assert.deepEqual(answer({}), {
    status: 204,
    headers: ['ETag', '"e"', 'Location', location],
    body: Buffer.alloc(0),
  });
  assert.equal(answer({ success_action_status: '200' }).status, 200);
  assert.equal(answer({ success_action_status: '302' }).status, 204);
  const created = answer({ success_action_status: '201' });
  assert.equal(created.status, 201);
  assert.match(
    created.body.toString(),
    /<PostResponse><Location>http:\/\/cache.example\/data\/a%26b\/c<\/Location><Bucket>data<\/Bucket><Key>a&#38;b\/c<\/Key><ETag>&#34;e&#34;<\/ETag><\/PostResponse>/,
  );
  const redirected = answer({ success_action_redirect: 'https://web.example/done?x=1#top' });
  assert.equal(redirected.status, 303);
  assert.equal(
    redirected.headers.at(-1),
    'https://web.example/done?x=1&bucket=data&key=a%26b%2Fc&etag=%22e%22',
  );
  for (const elsewhere of ['javascript:alert(1)', '/done', 'http://a b/', 'http://a\r\nx: y']) {
    assert.equal(answer({ redirect: elsewhere }).status, 204, elsewhere);
  }
});
