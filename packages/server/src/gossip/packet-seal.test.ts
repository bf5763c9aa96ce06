import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Secret } from '../config/secret.ts';
import { linkKey } from '../start/link-key.ts';
import { gossipKey } from './gossip-key.ts';
import { PacketSeal } from './packet-seal.ts';

test('a seal is the first half of an HMAC, and breaks with any bit', () => {
  const key = gossipKey(new Secret('a long and random secret'));
  const seal = new PacketSeal(key);
  const bytes = Uint8Array.from({ length: 80 }, (_, index) => index);
  assert.equal(seal.seal(bytes, 60), 76);
  const hmac = createHmac('sha256', key).update(bytes.subarray(0, 60)).digest();
  assert.deepEqual([...bytes.subarray(60, 76)], [...hmac.subarray(0, 16)]);
  assert.ok(seal.isSealed(bytes, 60));
  for (let at = 0; at < 76; at++) {
    const harmed = bytes.slice();
    harmed[at]! ^= 1 << (at & 7);
    assert.equal(seal.isSealed(harmed, 60), false);
  }
  assert.equal(seal.isSealed(bytes.subarray(0, 70), 60), false);
});

test('the key of gossip comes from the secret, and is not the one of links', () => {
  const secret = new Secret('a long and random secret');
  assert.equal(gossipKey(secret).length, 32);
  assert.notDeepEqual(gossipKey(secret), linkKey(secret));
  assert.notDeepEqual(gossipKey(secret), gossipKey(new Secret('another')));
});
