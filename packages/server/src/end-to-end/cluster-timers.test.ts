// The TCP timers of links between processes, as `ss -ti` shows them: cut on links, left alone on clients' connections.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { NodeCluster, type ClusterProcess } from '../testing/node-cluster.ts';
import { version } from '../testing/versions.ts';

/** The least retransmission time that the kernel takes without being told otherwise. */
const kernelsRtoMs = 200;
/** With the default of 5 ms: the round trip on top of it, and up to a tick of a slow clock. */
const cutRtoMs = 100;

interface Connection {
  readonly local: number;
  readonly peer: number;
  readonly rtoMs: number;
}

/** Established connections on the loopback address. */
function connections(): Connection[] {
  const { stdout } = spawnSync('ss', ['-tinHO', 'state', 'established'], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const match = /127\.0\.0\.1:(\d+)\s+127\.0\.0\.1:(\d+).* rto:([\d.]+)/.exec(line);
    if (match === null) return [];
    return [{ local: Number(match[1]), peer: Number(match[2]), rtoMs: Number(match[3]) }];
  });
}

/** Those with this port at either end: both ends' own timers. */
const endsAt = (port: number): Connection[] =>
  connections().filter(({ local, peer }) => local === port || peer === port);

function isPossible(context: TestContext, processes: readonly ClusterProcess[]): boolean {
  if (spawnSync('ss', ['-V']).status !== 0) {
    context.skip('this needs `ss`');
    return false;
  }
  if (processes.every((one) => one.lines('links keep the timers of the kernel').length === 0)) {
    return true;
  }
  context.skip('this kernel knows no TCP_RTO_MIN_US (Linux 6.15)');
  return false;
}

for (const { tcp, areCut } of [
  { tcp: '', areCut: true },
  { tcp: 'rto_min_us = 0\ndelack_max_us = 0', areCut: false },
]) {
  test(`links have ${areCut ? 'short timers by default' : 'the kernel’s timers where 0 is configured'}, clients the kernel's`, async (context) => {
    const cluster = await NodeCluster.begin({ tcp });
    context.after(() => cluster.stop());
    const node = await cluster.startNode(0, { names: [0] });
    const { gateway, client } = await cluster.startGateway({ names: [0] });
    if (!isPossible(context, [node, gateway])) return;
    cluster.s3.put('bucket', 'small', version('small', 4096));
    cluster.s3.put('bucket', 'large', version('large', 1 << 20));
    const connection = await client.connect();
    for (let read = 0; read < 4; read++) {
      for (const key of ['small', 'large']) {
        connection.write(client.bytesOf({ method: 'GET', target: `/bucket/${key}` }));
        assert.equal((await connection.answer()).status, 200);
      }
    }
    const links = endsAt(Number((await cluster.addressOf(0)).split(':')[1]));
    // A multiplexed one and an exclusive one, seen from both of their ends.
    assert.ok(links.length >= 4, `${links.length} ends of links`);
    for (const { local, peer, rtoMs } of links) {
      assert.equal(rtoMs < cutRtoMs, areCut, `${local} → ${peer}: ${rtoMs} ms`);
    }
    const clients = endsAt(client.port);
    assert.ok(clients.length >= 2);
    for (const { rtoMs } of clients) assert.ok(rtoMs >= kernelsRtoMs, `${rtoMs} ms`);
    connection.close();
  });
}
