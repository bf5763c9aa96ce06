import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RangeRequest } from '../s3/byte-range.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, chunkBytes, Rig } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';

const whole = 12 * chunkBytes;
const bounded = (first: number, last: number): RangeRequest => ({ kind: 'bounded', first, last });

function assertRight(rig: Rig, client: TestClient): void {
  assert.equal(judge(rig.s3, client, client.startedAt), '');
}

/** A rig whose object is wholly stored. */
function warm(size: number, options: ConstructorParameters<typeof Rig>[0] = {}): Rig {
  const rig = new Rig({
    policy: { immutable: true, admitOnFirstRead: true },
    ...options,
  });
  rig.s3.put(0, 'b', 'k', size);
  rig.get('k');
  rig.pass(100);
  return rig;
}

/** The most reads that were out at once while everything happened. */
function mostReads(rig: Rig): number {
  let most = 0;
  do most = Math.max(most, rig.gateway.levels().outstandingReads);
  while (rig.step());
  return most;
}

describe('read-ahead', () => {
  test('a long read asks several owners at once, and its bytes come in order', () => {
    const rig = warm(whole, { gatewayLimits: { readAheadBytes: 8 * blockBytes } });
    const client = rig.ask('k');
    assert.equal(mostReads(rig), 8);
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    rig.assertNothingLeft();
  });

  test('answers that come out of order wait for their turn', () => {
    for (let seed = 0; seed < 40; seed++) {
      const rig = warm(whole, { seed, gatewayLimits: { readAheadBytes: 6 * blockBytes } });
      const client = rig.get('k', { range: bounded(3, whole - 5) });
      assert.equal(client.end, 'finished');
      assertRight(rig, client);
      rig.assertNothingLeft();
    }
  });

  test('a range across two blocks asks for both at once', () => {
    const rig = warm(whole);
    const client = rig.ask('k', { range: bounded(blockBytes - 10, blockBytes + 10) });
    assert.equal(rig.gateway.levels().outstandingReads, 2);
    rig.settle();
    assertRight(rig, client);
    rig.assertNothingLeft();
  });

  test('what a client took and no more decides how much is ahead', () => {
    const readAheadBytes = 4 * blockBytes;
    const rig = warm(whole, { gatewayLimits: { readAheadBytes } });
    const client = rig.ask('k');
    for (let steps = 0; steps < 30; steps++) rig.step();
    client.isStalled = true;
    rig.settle();
    const { untakenBytes, outstandingReads } = rig.gateway.levels();
    assert.ok(untakenBytes <= readAheadBytes, `${untakenBytes} bytes are ahead`);
    assert.equal(outstandingReads, 0);
    rig.resume(client);
    rig.settle();
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    rig.assertNothingLeft();
    assert.equal(rig.gateway.levels().untakenBytes, 0);
  });

  test('all clients together keep to the bounds, and are served all the same', () => {
    const limits = { readAheadBytes: 16 * blockBytes, maxAheadReads: 3 };
    const rig = warm(whole, { gatewayLimits: limits });
    const clients = Array.from({ length: 5 }, () => rig.ask('k'));
    assert.ok(mostReads(rig) <= clients.length + 3);
    for (const client of clients) {
      assert.equal(client.end, 'finished');
      assertRight(rig, client);
    }
    const few = warm(whole, { gatewayLimits: { ...limits, maxAheadBytes: 0 } });
    const alone = few.ask('k');
    assert.equal(mostReads(few), 1);
    assert.equal(alone.end, 'finished');
    few.assertNothingLeft();
    rig.assertNothingLeft();
  });

  test('a client that leaves at any moment takes all its reads along', () => {
    for (let steps = 0; steps < 150; steps += 3) {
      const rig = warm(whole, { gatewayLimits: { readAheadBytes: 8 * blockBytes } });
      const client = rig.ask('k');
      for (let i = 0; i < steps && rig.step(); i++);
      if (client.isOpen) rig.leave(client);
      rig.assertNothingLeft();
      assert.equal(rig.gateway.levels().untakenBytes, 0);
    }
  });
});

describe('failover', () => {
  test('a node lost at any moment of a long read goes unnoticed by the client', () => {
    for (let steps = 0; steps < 200; steps += 2) {
      const rig = warm(whole, { nodes: 4, gatewayLimits: { readAheadBytes: 8 * blockBytes } });
      const client = rig.ask('k');
      for (let i = 0; i < steps && rig.step(); i++);
      rig.nodes[steps % 4]!.isDown = true;
      rig.settle();
      assert.equal(client.end, 'finished');
      assertRight(rig, client);
      rig.assertNothingLeft();
    }
  });

  test('two of four nodes may be lost', () => {
    const rig = warm(whole, { nodes: 4, gatewayLimits: { readAheadBytes: 8 * blockBytes } });
    rig.nodes[0]!.isDown = true;
    rig.nodes[2]!.isDown = true;
    const client = rig.get('k');
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    rig.assertNothingLeft();
  });

  test('reads go round a node that failed until it was reached again', () => {
    const rig = warm(1000);
    const home = rig.homeOf('k');
    home.isDown = true;
    assertRight(rig, rig.get('k'));
    const { retries } = rig.gateway.counters;
    assert.equal(retries, 1);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.gateway.counters.retries, retries, 'nobody asks the suspect');
    assert.equal(rig.gateway.levels().suspects, 1);
    home.isDown = false;
    const before = rig.s3.requests.length;
    rig.gateway.onNodeReached(rig.queue.now, rig.nodes.indexOf(home));
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, before, 'the home still has it');
    rig.assertNothingLeft();
  });

  test('a suspect is asked when nobody else is left', () => {
    const rig = warm(1000, { nodes: 1 });
    rig.nodes[0]!.isDown = true;
    assert.equal(rig.get('k').code, 'ServiceUnavailable');
    rig.nodes[0]!.isDown = false;
    assertRight(rig, rig.get('k'));
    assert.equal(rig.gateway.levels().suspects, 0, 'it answered');
    rig.assertNothingLeft();
  });
});
