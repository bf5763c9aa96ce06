// The model against the code that it models: the membership machines in their simulated network, the bytes of ring messages,
// and placement.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as prettier from 'prettier';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { measureMembership } from '@s3-accelerator/core/membership/membership.bench.ts';
import { ownerOf } from '@s3-accelerator/core/placement.ts';
import { maxMembers as mostMembers, Ring } from '@s3-accelerator/core/ring.ts';
import { encodeRingAnswer } from '@s3-accelerator/protocol/ring-message.ts';
import { fleetCost, gossipCost, maxMembers, ringBytes, usualFleet } from './model.ts';
import { withModel } from './page.ts';

/** Of the simulated network's members: "10.0.0.1:9400". */
const addressBytes = 13;

function near(modelled: number, measured: number, share: number, what: string): void {
  const ratio = modelled / measured;
  assert.ok(ratio >= 1 - share && ratio <= 1 + share, `${what}: ${modelled} against ${measured}`);
}

for (const members of [16, 64]) {
  test(`gossip of ${members} members costs about what the model says`, () => {
    const measured = measureMembership(members, 60_000);
    const modelled = gossipCost(members, addressBytes);
    near(modelled.quietBytesPerSecond, measured.quietBytesPerSecond, 0.1, 'quiet bytes');
    near(modelled.downMs, measured.downMs, 0.25, 'time until down');
    near(modelled.joinMs, measured.joinMs, 0.35, 'time until joined');
    near(modelled.joinBytes, measured.joinBytes, 0.4, 'bytes of a join');
  });
}

test('a ring answer has as many bytes as the model says', () => {
  for (const nodes of [10, 1000]) {
    const address = 'a'.repeat(addressBytes);
    const members = Array.from({ length: nodes }, (_, nodeId) => ({ nodeId, weight: 1, address }));
    const rings = [3, 2, 1].map((version) => ({
      ring: new Ring(version, members),
      replacedForMs: version === 3 ? 0 : 1000,
    }));
    assert.equal(encodeRingAnswer(1, rings).length, ringBytes(nodes, 3, addressBytes));
  }
});

test('a node that is added takes the share of the keys that the model says, of every other node alike', () => {
  const nodes = 10;
  const ringOf = (count: number): Ring =>
    new Ring(
      count,
      Array.from({ length: count }, (_, nodeId) => ({ nodeId, weight: 1, address: '' })),
    );
  const [before, after] = [ringOf(nodes), ringOf(nodes + 1)];
  const prng = new Prng(1, 2);
  const keys = 50_000;
  const lost = new Array<number>(nodes).fill(0);
  let moved = 0;
  for (let i = 0; i < keys; i++) {
    const placement = { hi: prng.u32(), lo: prng.u32() };
    if (ownerOf(after, placement) !== nodes) continue;
    moved += 1;
    lost[ownerOf(before, placement)]! += 1;
  }
  const fleet = usualFleet(nodes);
  const cost = fleetCost(fleet);
  const all = fleet.cacheBytes * nodes;
  near(cost.movedBytes / all, moved / keys, 0.05, 'share that moves');
  for (const count of lost) near(cost.handedOverBytes / all, count / keys, 0.25, 'of one node');
});

test('the model knows the limits of the code', () => {
  assert.equal(maxMembers, mostMembers);
});

test('docs/scaling.md has the table that the model gives', async () => {
  const file = join(import.meta.dirname, '../../../../docs/scaling.md');
  const page = readFileSync(file, 'utf8');
  const config = await prettier.resolveConfig(file);
  assert.equal(page, await prettier.format(withModel(page), { ...config, parser: 'markdown' }));
});
