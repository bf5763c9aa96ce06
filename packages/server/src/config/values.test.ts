// Sizes, addresses, secrets and suggestions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { collide, formatAddress, parseAddress } from './address.ts';
import { camel } from './row.ts';
import { Secret } from './secret.ts';
import { formatSize, parseSize, roundSize } from './sizes.ts';
import { editDistance, nearest } from './suggest.ts';

test('a size that was formatted parses to itself', () => {
  const powers = fc.tuple(fc.integer({ min: 0, max: 4095 }), fc.constantFrom(1, 2 ** 10, 2 ** 30));
  fc.assert(
    fc.property(powers, ([count, unit]) => {
      const text = formatSize(count * unit).replace('bytes', 'B');
      assert.equal(parseSize(text), count * unit);
    }),
  );
});

test('sizes take the usual units and nothing else', () => {
  assert.equal(parseSize('1kib'), 1024);
  assert.equal(parseSize('1KB'), 1000);
  assert.equal(parseSize('0.5 MiB'), 524_288);
  assert.equal(parseSize('7'), 7);
  for (const bad of ['', '-1', '1 XB', '1e3', 'GiB', '1,5GiB', true, null, []]) {
    assert.equal(parseSize(bad), undefined, String(bad));
  }
});

test('sizes that nobody chose are rounded down', () => {
  assert.equal(roundSize(1536), '1.5 KiB');
  assert.equal(roundSize(1.99 * 2 ** 30), '1.9 GiB');
  assert.equal(roundSize(12), '12 bytes');
});

test('addresses are numeric with a port', () => {
  assert.deepEqual(parseAddress('10.0.1.10:9400'), { host: '10.0.1.10', port: 9400 });
  assert.deepEqual(parseAddress('[fd00::1]:0'), { host: 'fd00::1', port: 0 });
  for (const bad of [
    'host:1',
    '10.0.1.10',
    '::1:80',
    '[10.0.0.1]:1',
    '1.2.3.4:65536',
    ':80',
    '1.2.3:4',
  ]) {
    assert.equal(parseAddress(bad), undefined, bad);
  }
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (host, port) => {
      assert.deepEqual(parseAddress(formatAddress({ host, port })), { host, port });
    }),
  );
});

test('listeners collide on one port of one host, or of any', () => {
  const at = (text: string) => parseAddress(text)!;
  assert.ok(collide(at('127.0.0.1:1'), at('127.0.0.1:1')));
  assert.ok(collide(at('127.0.0.1:1'), at('0.0.0.0:1')));
  assert.ok(collide(at('[::]:1'), at('127.0.0.1:1')));
  assert.ok(!collide(at('127.0.0.1:1'), at('127.0.0.1:2')));
  assert.ok(!collide(at('127.0.0.1:1'), at('127.0.0.2:1')));
  assert.ok(!collide(at('127.0.0.1:0'), at('127.0.0.1:0')));
});

test('a secret prints as hidden and is revealed on request only', () => {
  const secret = new Secret('swordfish');
  assert.equal(
    `${secret.toString()} ${JSON.stringify({ secret })}`,
    '(hidden) {"secret":"(hidden)"}',
  );
  assert.equal(inspect({ secret }), '{ secret: (hidden) }');
  assert.doesNotMatch(inspect(secret, { customInspect: false, showHidden: true }), /swordfish/);
  assert.equal(secret.reveal(), 'swordfish');
  assert.ok(secret.equals(new Secret('swordfish')));
  assert.ok(!secret.equals(new Secret('Swordfish')));
});

test('the edit distance counts single changes and swaps of neighbours', () => {
  assert.equal(editDistance('listen', 'listen'), 0);
  assert.equal(editDistance('lisen', 'listen'), 1);
  assert.equal(editDistance('amdin', 'admin'), 1);
  assert.equal(editDistance('', 'abc'), 3);
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (one, other) => {
      const distance = editDistance(one, other);
      assert.equal(distance, editDistance(other, one));
      assert.ok(distance <= Math.max(one.length, other.length));
      assert.equal(distance === 0, one === other);
    }),
  );
});

test('the nearest word is suggested only when it is near', () => {
  assert.equal(nearest('ttl', ['ttl_ms', 'immutable']), undefined);
  assert.equal(nearest('tttl_ms', ['ttl_ms', 'immutable']), 'ttl_ms');
  assert.equal(nearest('colour', ['level']), undefined);
});

test('keys become names of the code', () => {
  assert.equal(camel('admit_on_first_read'), 'admitOnFirstRead');
  assert.equal(camel('id'), 'id');
});
