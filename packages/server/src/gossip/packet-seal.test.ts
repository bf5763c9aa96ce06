import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Secret } from '../config/secret.ts';
import { linkKey } from '../start/link-key.ts';
import { CheckBudget } from './check-budget.ts';
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

test('strangers share a budget, known senders have one each, and all together have one', () => {
  const budget = new CheckBudget(0);
  const allowed = (now: number, address: string, times: number): number => {
    let count = 0;
    for (let i = 0; i < times; i++) if (budget.allows(now, address)) count += 1;
    return count;
  };
  budget.remember(0, 'member');
  assert.equal(allowed(0, 'stranger 1', 2000) + allowed(0, 'stranger 2', 2000), 1000);
  assert.equal(allowed(0, 'member', 2000), 200);
  assert.equal(allowed(1000, 'stranger 3', 2000), 500);
  assert.equal(allowed(1000, 'member', 2000), 100);
  for (let i = 0; i < 200; i++) budget.remember(60_000, `member ${i}`);
  let all = 0;
  for (let i = 0; i < 200; i++) all += allowed(60_000, `member ${i}`, 1000);
  assert.equal(all, 20_000);
});

test('only so many senders are remembered, the latest', () => {
  const budget = new CheckBudget(0);
  for (let i = 0; i <= 4096; i++) budget.remember(0, `member ${i}`);
  for (let i = 0; i < 1000; i++) assert.ok(budget.allows(0, 'a stranger'));
  assert.equal(budget.allows(0, 'member 0'), false);
  assert.equal(budget.allows(0, 'member 1'), true);
});
