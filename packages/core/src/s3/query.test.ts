import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseQuery, queryForOrigin, queryValue } from './query.ts';

test('parameters are those of a form decoder, in order', () => {
  const name = fc.string({
    unit: fc.constantFrom('a', 'B', '-', ' ', '=', '&', '+', '/', '%', '?'),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 5 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      const parsed = parseQuery(query);
      assert.deepEqual(
        parsed?.map((parameter) => [parameter.name, parameter.value]),
        [...new URLSearchParams(query)],
      );
    }),
  );
});

test('a parameter without a value is present and empty', () => {
  const parameters = parseQuery('acl&&x=1&prefix=');
  assert.deepEqual(parameters, [
    { name: 'acl', value: '', raw: 'acl' },
    { name: 'x', value: '1', raw: 'x=1' },
    { name: 'prefix', value: '', raw: 'prefix=' },
  ]);
  assert.equal(queryValue(parameters, 'acl'), '');
  assert.equal(queryValue(parameters, 'x'), '1');
  assert.equal(queryValue(parameters, 'X'), null);
});

test('no query, an empty one and an undecodable one', () => {
  assert.deepEqual(parseQuery(null), []);
  assert.deepEqual(parseQuery(''), []);
  assert.equal(parseQuery('a=%g0'), null);
  assert.equal(parseQuery('%=1'), null);
});

test('the origin gets the query byte for byte, without the signature', () => {
  const parameters = parseQuery(
    'prefix=a%2fb+c&X-Amz-Signature=00&X-Amz-Date=1&x-id=ListObjects&X-Amz-Security-Token=t&x-amz-checksum-mode=ENABLED',
  );
  assert.ok(parameters !== null);
  assert.equal(
    queryForOrigin(parameters),
    'prefix=a%2fb+c&x-id=ListObjects&x-amz-checksum-mode=ENABLED',
  );
});
