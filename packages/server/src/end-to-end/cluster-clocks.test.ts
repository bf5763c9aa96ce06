// Nodes whose clocks are an hour apart: the cluster doesn't go by the time of day, and requests to S3 are signed for the time that S3 has.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { agreedRing, NodeCluster } from '../testing/node-cluster.ts';
import { here, type Place } from '../testing/programs.ts';
import { version } from '../testing/versions.ts';

const wrongClock = join(import.meta.dirname, '../testing/wrong-clock.mjs');
const hourMs = 3_600_000;

/** A place where the clock is off. */
const offBy = (ms: number): Place => ({
  ...here,
  within: ['env', `NODE_OPTIONS=--import=${wrongClock}`, `S3A_TEST_CLOCK_OFF_MS=${ms}`],
});

test('nodes whose clocks are an hour apart are one cluster, and read and write through S3', async (context) => {
  const cluster = await NodeCluster.begin({
    policy: 'ttl_ms = 200\nadmit_on_first_read = true',
    placeOf: (of) => (of === 'gateway' ? here : offBy((of - 1) * hourMs)),
  });
  context.after(() => cluster.stop());
  const names = [0, 1, 2];
  const nodes = await Promise.all(names.map((id) => cluster.startNode(id, { names })));
  const { gateway, client } = await cluster.startGateway({ names });
  await agreedRing([...nodes, gateway], 3);
  for (let at = 0; at < 12; at++) {
    const key = `object-${at}`;
    const [first, second] = [version(`${key} first`, 50_000), version(`${key} second`, 60_000)];
    cluster.s3.put('bucket', key, first);
    for (let read = 0; read < 2; read++) {
      const { status, body } = await client.get('bucket', key);
      assert.equal(status, 200, body.toString());
      assert.ok(body.equals(first));
    }
    const written = await client.put('bucket', key, second);
    assert.equal(written.status, 200, written.body.toString());
    assert.ok((await client.get('bucket', key)).body.equals(second));
  }
  const told = nodes.map((node) => node.lines("set this machine's clock").length);
  assert.deepEqual(told, [1, 0, 1], 'once, by those whose clocks are wrong');
  assert.match(nodes[0]!.log(), /is (3599|360[01]) s ahead of this machine's/);
  assert.match(nodes[2]!.log(), /is (3599|360[01]) s behind this machine's/);
});
