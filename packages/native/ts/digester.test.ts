import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';

import { Digester } from './digester.ts';
import { pattern } from './test-peers.ts';

test('digests of every length around the block size equal those of node:crypto', () => {
  const digester = new Digester();
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 127, 128, 1000, 65000]) {
    const bytes = pattern(length, length);
    bytes.copy(digester.scratch, 100);
    digester.sha256(100, 100 + length, 0);
    const expected = createHash('sha256').update(bytes).digest('hex');
    assert.equal(digester.scratch.toString('hex', 0, 32), expected);
  }
});

test('HMACs with keys of every length equal those of node:crypto', () => {
  const digester = new Digester();
  const bytes = pattern(500, 1);
  for (const [slot, length] of [0, 1, 32, 63, 64, 65, 200].entries()) {
    const key = pattern(length, length + 7);
    digester.setKey(slot, key);
    bytes.copy(digester.scratch, 32);
    digester.hmac(slot, 32, 532, 0);
    const expected = createHmac('sha256', key).update(bytes).digest('hex');
    assert.equal(digester.scratch.toString('hex', 0, 32), expected);
  }
});

test('a result may overwrite what was digested', () => {
  const digester = new Digester();
  digester.scratch.write('abc', 0);
  digester.sha256(0, 3, 0);
  assert.equal(
    digester.scratch.toString('hex', 0, 32),
    createHash('sha256').update('abc').digest('hex'),
  );
});

test('a signature is accepted, and refused when any byte of it or of the request changes', () => {
  const digester = new Digester();
  const key = pattern(32, 3);
  const canonical = Buffer.from('GET\n/bucket/key\n\nhost:s3.local\n\nhost\nUNSIGNED-PAYLOAD');
  const prefix = Buffer.from(
    'AWS4-HMAC-SHA256\n20260101T000000Z\n20260101/eu-west-1/s3/aws4_request\n',
  );
  const toSign = prefix.toString() + createHash('sha256').update(canonical).digest('hex');
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  digester.setKey(5, key);
  const { scratch } = digester;
  const at = { canonical: 0, prefix: 1000, signature: 2000 };
  canonical.copy(scratch, at.canonical);
  prefix.copy(scratch, at.prefix);
  scratch.write(signature, at.signature);
  const verify = (slot = 5): boolean =>
    digester.verifySigV4(
      slot,
      at.canonical,
      at.canonical + canonical.length,
      at.prefix,
      at.prefix + prefix.length,
      at.signature,
    );
  assert.equal(verify(), true);
  for (let i = 0; i < 64; i++) {
    scratch[at.signature + i]! ^= 1;
    assert.equal(verify(), false);
    scratch[at.signature + i]! ^= 1;
  }
  for (const place of [at.canonical, at.canonical + canonical.length - 1, at.prefix + 20]) {
    scratch[place]! ^= 1;
    assert.equal(verify(), false);
    scratch[place]! ^= 1;
  }
  digester.setKey(6, pattern(32, 4));
  assert.equal(verify(6), false);
  assert.equal(verify(), true);
});

test('a slot without a key, and ranges out of bounds, throw', () => {
  const digester = new Digester(1024);
  assert.throws(() => {
    digester.hmac(3, 0, 10, 100);
  }, /slot holds no key/);
  digester.setKey(3, Buffer.from('key'));
  assert.throws(() => {
    digester.hmac(2, 0, 10, 100);
  }, /slot holds no key/);
  assert.throws(() => {
    digester.sha256(0, 1025, 0);
  }, RangeError);
  assert.throws(() => {
    digester.sha256(10, 9, 0);
  }, RangeError);
  assert.throws(() => {
    digester.sha256(0, 10, 1000);
  }, RangeError);
  assert.throws(() => digester.verifySigV4(3, 0, 1, 1, 2, 970), RangeError);
  assert.throws(() => {
    digester.setKey(-1, Buffer.from('key'));
  }, RangeError);
});
