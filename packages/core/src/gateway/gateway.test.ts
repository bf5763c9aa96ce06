import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newReadAnswer, type ReadAnswer } from '../read.ts';
import { Ring } from '../ring.ts';
import { noPreconditions, type Preconditions } from '../s3/preconditions.ts';
import type { RangeRequest } from '../s3/byte-range.ts';
import { objectHash } from '../testing/identity.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, chunkBytes, Rig, smallAnswerBytes } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';
import type { Transfer } from '../testing/transfer.ts';
import { clockSkewMs, epochMs } from './write-epochs.ts';

const bounded = (first: number, last: number): RangeRequest => ({ kind: 'bounded', first, last });
const from = (first: number): RangeRequest => ({ kind: 'from', first, last: 0 });
const suffix = (count: number): RangeRequest => ({ kind: 'suffix', first: count, last: 0 });
const conditions = (change: Partial<Preconditions>): Preconditions => ({
  ...noPreconditions,
  ...change,
});

function assertRight(rig: Rig, client: TestClient): void {
  assert.equal(judge(rig.s3, client, client.startedAt), '');
}

describe('what is answered from metadata', () => {
  test('HEAD brings the head of the whole object and asks S3 for no byte', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100_000);
    const client = rig.get('k', { head: true });
    assert.equal(client.end, 'finished');
    assert.equal(client.status, 200);
    assert.equal(client.length, 100_000);
    assert.deepEqual(
      rig.s3.requests.map(({ headOnly }) => headOnly),
      [true],
    );
    rig.assertNothingLeft();
  });

  test('HEAD with a range answers 206 with the part’s length', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100);
    const client = rig.get('k', { head: true, range: bounded(10, 19) });
    assert.equal(client.status, 206);
    assert.equal(client.first, 10);
    assert.equal(client.length, 10);
    rig.assertNothingLeft();
  });

  test('an empty object is a 200 without bytes, and a range of it a 416 with its size', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 0);
    const whole = rig.get('k');
    assert.equal(whole.end, 'finished');
    assert.equal(whole.status, 200);
    assert.equal(whole.length, 0);
    const ranged = rig.get('k', { range: bounded(0, 9) });
    assert.equal(ranged.code, 'InvalidRange');
    assert.equal(ranged.metadata?.size, 0);
    rig.assertNothingLeft();
  });

  test('a range behind the end is a 416, whether the object is known or not', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100);
    for (let i = 0; i < 2; i++) {
      const client = rig.get('k', { range: from(100) });
      assert.equal(client.code, 'InvalidRange');
      assert.equal(client.metadata?.size, 100);
    }
    rig.assertNothingLeft();
  });

  test('a stale If-Match is a 412 even where the range is not there', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100);
    const client = rig.get('k', {
      range: from(100),
      conditions: conditions({ ifMatch: '"other"' }),
    });
    assert.equal(client.code, 'PreconditionFailed');
    rig.assertNothingLeft();
  });

  test('If-None-Match with the ETag is a 304 that names it', () => {
    const rig = new Rig();
    const etag = rig.s3.put(0, 'b', 'k', 100);
    const client = rig.get('k', { conditions: conditions({ ifNoneMatch: etag }) });
    assert.equal(client.end, 'finished');
    assert.equal(client.status, 304);
    assert.equal(client.metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('conditions that hold let the bytes through', () => {
    const rig = new Rig();
    const etag = rig.s3.put(0, 'b', 'k', 100);
    const client = rig.get('k', { conditions: conditions({ ifMatch: etag }) });
    assert.equal(client.status, 200);
    assert.equal(client.received, 100);
    assertRight(rig, client);
    rig.assertNothingLeft();
  });
});

describe('ranges', () => {
  const size = 3 * chunkBytes + 5 * blockBytes + 77;
  const ranges: [string, RangeRequest][] = [
    ['the first byte', bounded(0, 0)],
    ['a small part within a block', bounded(100, 299)],
    ['a part across two blocks', bounded(blockBytes - 10, blockBytes + 10)],
    ['a part across two chunks', bounded(chunkBytes - 10, chunkBytes + blockBytes)],
    ['a part across the whole middle', bounded(5, size - 6)],
    ['a part that ends behind the object', bounded(size - 100, size + 100)],
    ['from the middle to the end', from(chunkBytes + 3)],
    ['the last bytes', suffix(1000)],
    ['the last bytes, more than the home keeps', suffix(2 * chunkBytes)],
    ['a suffix longer than the object', suffix(size + 5)],
    ['everything', { kind: 'none', first: 0, last: 0 }],
  ];
  for (const [name, range] of ranges) {
    test(`${name}: cold, admitted and stored, byte for byte`, () => {
      const rig = new Rig();
      rig.s3.put(0, 'b', 'k', size);
      for (let i = 0; i < 3; i++) {
        const client = rig.get('k', { range });
        assert.equal(client.end, 'finished');
        assertRight(rig, client);
        rig.pass(20);
      }
      const before = rig.s3.requests.length;
      assertRight(rig, rig.get('k', { range }));
      assert.equal(rig.s3.requests.length, before, 'the fourth read is a hit');
      rig.assertNothingLeft();
    });
  }

  test('a small cold range is one request to S3 for exactly its bytes', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 500_000);
    const client = rig.get('k', { range: bounded(70_000, 70_099) });
    assertRight(rig, client);
    assert.equal(rig.s3.requests.length, 1);
    assert.equal(rig.s3.requests[0]!.first, 70_000);
    assert.equal(rig.s3.requests[0]!.last, 70_099);
    rig.assertNothingLeft();
  });
});

describe('an object that changes', () => {
  test('before the head went out, the read starts over and serves the new version', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100_000);
    rig.get('k', { head: true });
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 90_000);
    const client = rig.get('k');
    assert.equal(client.end, 'finished');
    assert.equal(client.metadata?.etag, etag);
    assertRight(rig, client);
    assert.equal(rig.gateway.counters.restarts, 1);
    rig.assertNothingLeft();
  });

  test('after the head went out, the answer is cut short and holds one version only', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 10 * chunkBytes);
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    assert.ok(client.received > 0);
    rig.s3.put(rig.queue.now, 'b', 'k', 10 * chunkBytes);
    rig.resume(client);
    rig.settle();
    assert.equal(client.end, 'aborted');
    assert.equal(judge(rig.s3, client, client.startedAt), '');
    rig.assertNothingLeft();
  });

  test('the restart names the ETag that is gone, and others don’t run into it meanwhile', () => {
    const rig = new Rig();
    const gone = rig.s3.put(0, 'b', 'k', 100_000);
    rig.get('k', { head: true });
    rig.s3.put(rig.queue.now, 'b', 'k', 90_000);
    const client = rig.ask('k');
    while (rig.gateway.counters.restarts === 0) rig.step();
    const [transfer] = rig.transfers.values();
    assert.equal(transfer!.request.kind, 'lookup');
    assert.equal(transfer!.request.failedEtag, gone);
    const other = rig.ask('k');
    rig.settle();
    assert.equal(rig.gateway.counters.restarts, 1);
    assertRight(rig, client);
    assertRight(rig, other);
    rig.assertNothingLeft();
  });

  test('a client’s own If-Match is judged anew after the restart', () => {
    const rig = new Rig();
    const etag = rig.s3.put(0, 'b', 'k', 100_000);
    rig.get('k', { head: true });
    rig.s3.put(rig.queue.now, 'b', 'k', 90_000);
    const client = rig.get('k', { conditions: conditions({ ifMatch: etag }) });
    assert.equal(client.code, 'PreconditionFailed');
    rig.assertNothingLeft();
  });

  test('one that never holds still is passed through', () => {
    const rig = new Rig({ gatewayLimits: { maxRestarts: 3 } });
    rig.s3.put(0, 'b', 'k', 100_000);
    rig.s3.faultOf = (request) => {
      if (request.ifMatch === '') return null;
      return { kind: 'status', status: 412, code: 'PreconditionFailed' };
    };
    const client = rig.get('k', { conditions: conditions({ ifMatch: '*' }) });
    assert.equal(client.end, 'passThrough');
    assert.equal(rig.gateway.counters.restarts, 3);
    rig.assertNothingLeft();
  });

  test('one that was deleted is a 404, although its metadata was still good', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100_000);
    rig.get('k', { head: true });
    rig.s3.delete(rig.queue.now, 'b', 'k');
    const client = rig.get('k');
    assert.equal(client.originError?.status, 404);
    rig.assertNothingLeft();
  });
});

describe('what S3 refuses', () => {
  test('a 404 is relayed and never remembered', () => {
    const rig = new Rig();
    assert.equal(rig.get('k').originError?.code, 'NoSuchKey');
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 50);
    assert.equal(rig.get('k').metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('an unreachable origin is a 503', () => {
    const rig = new Rig();
    rig.s3.faultOf = () => ({ kind: 'unreachable' });
    assert.equal(rig.get('k').code, 'ServiceUnavailable');
    rig.assertNothingLeft();
  });

  test('an object without a strong ETag is passed through', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100, true);
    assert.equal(rig.get('k').end, 'passThrough');
    assert.equal(rig.get('k', { head: true }).end, 'passThrough');
    rig.assertNothingLeft();
  });

  test('an origin that ignores ranges gets the request passed through', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 300_000);
    rig.s3.faultOf = () => ({ kind: 'ignoresRange' });
    assert.equal(rig.get('k', { range: bounded(100_000, 100_009) }).end, 'passThrough');
    rig.assertNothingLeft();
  });

  test('an object of unknown length is passed through, and its fetch is cut off', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 300_000);
    rig.s3.faultOf = () => ({ kind: 'unknownLength' });
    assert.equal(rig.get('k').end, 'passThrough');
    assert.equal(rig.get('k', { range: bounded(0, 9) }).end, 'passThrough');
    rig.assertNothingLeft();
  });

  test('a fill of known metadata whose answer does not say its length is cut off', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 300_000);
    rig.get('k', { head: true });
    rig.s3.faultOf = (request) => (request.headOnly ? null : { kind: 'unknownLength' });
    assert.equal(rig.get('k').end, 'passThrough');
    rig.assertNothingLeft();
  });

  test('a range that nobody asked for is not believed', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 300_000);
    rig.s3.faultOf = () => ({ kind: 'wrongRange' });
    assert.equal(rig.get('k', { range: from(1000) }).end, 'passThrough');
    rig.assertNothingLeft();
  });
});

describe('read your writes', () => {
  test('a read after a write through the gateway sees it, known metadata or not', () => {
    const rig = new Rig();
    rig.write('k', 1000);
    rig.get('k');
    for (let i = 0; i < 5; i++) {
      const etag = rig.write('k', 1000 + i);
      assert.equal(rig.get('k').metadata?.etag, etag);
      assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    }
    rig.assertNothingLeft();
  });

  test('a home that heard nothing of the write revalidates because the gateway demands it', () => {
    const rig = new Rig({ policy: { immutable: true } });
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 2000);
    rig.gateway.onWriteFinished(rig.queue.now, objectHash('b', 'k'), 'done');
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('after a write, metadata is cached again as soon as its epoch is over', () => {
    const rig = new Rig();
    rig.write('k', 1000);
    rig.pass(epochMs + clockSkewMs);
    rig.get('k');
    const lookups = rig.count('lookups');
    rig.get('k');
    assert.equal(rig.count('lookups'), lookups);
    rig.assertNothingLeft();
  });

  test('an unknown outcome confirms every read for a minute', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.startWrite('k');
    rig.finishWrite('k', 'unknown');
    rig.pass(1000);
    // The write takes effect late, after the gateway gave up on it.
    rig.get('k');
    rig.pass(20_000);
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 500);
    assert.equal(rig.get('k').metadata?.etag, etag);
    const requests = rig.s3.requests.length;
    rig.get('k');
    assert.equal(rig.s3.requests.length, requests + 1);
    rig.pass(60_000);
    rig.get('k');
    const later = rig.count('lookups');
    rig.get('k');
    assert.equal(rig.count('lookups'), later);
    rig.assertNothingLeft();
  });

  test('a lookup that was out when the write ended is not cached', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 1000);
    const early = rig.ask('k');
    rig.step();
    rig.step();
    const etag = rig.write('k', 2000);
    rig.settle();
    assertRight(rig, early);
    assert.equal(rig.get('k').metadata?.etag, etag);
    rig.assertNothingLeft();
  });
});

describe('staleness', () => {
  test('metadata is used for its lifetime and no longer', () => {
    const rig = new Rig({ policy: { ttlMs: 500 } });
    const old = rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 1000);
    rig.get('k', { head: true });
    assert.equal(rig.get('k', { head: true }).metadata?.etag, old);
    rig.pass(500);
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('a lifetime of 0 asks S3 for every read', () => {
    const rig = new Rig({ policy: { ttlMs: 0 } });
    for (let i = 0; i < 4; i++) {
      const etag = rig.s3.put(rig.queue.now, 'b', 'k', 1000);
      const client = rig.get('k');
      assert.equal(client.metadata?.etag, etag);
      assertRight(rig, client);
    }
    rig.assertNothingLeft();
  });

  test('immutable objects are never confirmed again', () => {
    const rig = new Rig({ policy: { immutable: true, admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.pass(10_000_000);
    const requests = rig.s3.requests.length;
    assert.equal(rig.get('k').received, 1000);
    assert.equal(rig.s3.requests.length, requests);
    rig.assertNothingLeft();
  });
});

describe('nodes that fail', () => {
  test('the next candidate answers when the first one is down', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 200_000);
    rig.homeOf('k').isDown = true;
    const client = rig.get('k');
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    assert.ok(rig.gateway.counters.retries > 0);
    rig.assertNothingLeft();
  });

  test('a ring of one node that is down is a 503', () => {
    const rig = new Rig({ nodes: 1 });
    rig.s3.put(0, 'b', 'k', 200_000);
    rig.nodes[0]!.isDown = true;
    assert.equal(rig.get('k').code, 'ServiceUnavailable');
    rig.assertNothingLeft();
  });

  test('after the head, the rest comes from the next candidate', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    rig.homeOf('k').isDown = true;
    rig.resume(client);
    rig.settle();
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    rig.assertNothingLeft();
  });

  test('a body that breaks off is completed by a second fetch, or the answer is cut short', () => {
    for (const faults of [1, 100]) {
      const rig = new Rig({ nodes: 1 });
      rig.s3.put(0, 'b', 'k', 5 * blockBytes);
      let left = faults;
      rig.s3.faultOf = () => {
        left -= 1;
        return left >= 0 ? { kind: 'short', bytes: blockBytes + 100 } : null;
      };
      const client = rig.get('k');
      assertRight(rig, client);
      assert.equal(client.end, faults === 1 ? 'finished' : 'aborted');
      rig.assertNothingLeft();
    }
  });

  test('a node that never answers is given up after its time', () => {
    const rig = new Rig({ gatewayLimits: { readTimeoutMs: 1000 } });
    rig.s3.put(0, 'b', 'k', 1000);
    const home = rig.homeOf('k');
    home.take = () => undefined;
    const client = rig.ask('k');
    rig.pass(500);
    assert.ok(client.isOpen);
    rig.pass(1000);
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    assert.equal(rig.gateway.counters.timeouts, 1);
    rig.assertNothingLeft();
  });
});

describe('answers that make no sense', () => {
  type Change = (answer: ReadAnswer, transfer: Transfer) => boolean;

  /** Lets the first answer be changed for which `change` says that it did. */
  function garble(rig: Rig, change: Change): void {
    const deliver = rig.deliverAnswer.bind(rig);
    let isDone = false;
    rig.deliverAnswer = (transfer, answer) => {
      if (!isDone) isDone = change(answer, transfer);
      deliver(transfer, answer);
    };
  }
  const cases: [string, Change][] = [
    [
      'bytes of another length',
      (answer) => {
        if (answer.kind !== 'bytes') return false;
        answer.bodyLength -= 1;
        return true;
      },
    ],
    [
      'metadata for a piece',
      (answer, transfer) => {
        if (transfer.request.kind === 'lookup') return false;
        answer.kind = 'metadata';
        return true;
      },
    ],
    [
      'bytes for a lookup',
      (answer, transfer) => {
        if (transfer.request.kind !== 'lookup') return false;
        answer.kind = 'bytes';
        return true;
      },
    ],
    [
      'metadata with bytes of another place',
      (answer, transfer) => {
        if (transfer.request.kind !== 'lookup') return false;
        answer.bodyFirst += 1;
        return true;
      },
    ],
  ];
  for (const [name, change] of cases) {
    test(`${name}: not relayed, and asked for anew`, () => {
      const rig = new Rig();
      rig.s3.put(0, 'b', 'k', 3 * blockBytes);
      garble(rig, change);
      const client = rig.get('k');
      assert.equal(client.end, 'finished');
      assertRight(rig, client);
      assert.equal(rig.gateway.counters.badAnswers, 1);
      rig.assertNothingLeft();
    });
  }

  test('more first bytes than the range has are not relayed, and the range is asked for anew', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    const send = rig.sendRead.bind(rig);
    rig.sendRead = (read, nodeId, request) => {
      if (request.kind === 'lookup') request.last += 10;
      send(read, nodeId, request);
    };
    const client = rig.get('k', { range: bounded(0, 99) });
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    assert.equal(rig.gateway.counters.badAnswers, 1);
    rig.assertNothingLeft();
  });

  test('a body that comes along with an answer to HEAD is dropped', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 1000);
    const send = rig.sendRead.bind(rig);
    rig.sendRead = (read, nodeId, request) => {
      request.bodyLimit = smallAnswerBytes;
      send(read, nodeId, request);
    };
    const client = rig.get('k', { head: true });
    assert.equal(client.end, 'finished');
    assert.equal(client.received, 0);
    rig.assertNothingLeft();
  });

  test('one that comes too late finds nobody', () => {
    const rig = new Rig({ gatewayLimits: { readTimeoutMs: 100 } });
    rig.s3.put(0, 'b', 'k', 1000);
    const client = rig.ask('k');
    const [read] = rig.transfers.keys();
    rig.settle();
    assertRight(rig, client);
    rig.gateway.onAnswer(rig.queue.now, read!, { ...newReadAnswer(), kind: 'bytes' });
    rig.gateway.onBodyQueued(rig.queue.now, client.exchange, read!);
    rig.gateway.onBodyFailed(rig.queue.now, client.exchange, read!, 0);
    rig.gateway.onTaken(rig.queue.now, client.exchange);
    rig.gateway.onClientGone(rig.queue.now, client.exchange);
    rig.assertNothingLeft();
  });
});

describe('the ring', () => {
  test('an empty one serves nobody', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.gateway.onRing(rig.queue.now, new Ring(2, []));
    assert.equal(rig.get('k').code, 'ServiceUnavailable');
    assert.equal(rig.get('other').code, 'ServiceUnavailable');
    rig.assertNothingLeft();
  });

  test('a newer one is followed, with the same bytes', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 6 * chunkBytes);
    const before = rig.get('k');
    const ring = new Ring(2, rig.ring.members.slice(0, 1));
    rig.gateway.onRing(rig.queue.now, ring);
    for (const { node } of rig.nodes) node.onRing(rig.queue.now, ring);
    const after = rig.get('k');
    assertRight(rig, before);
    assertRight(rig, after);
    assert.equal(after.end, 'finished');
    rig.assertNothingLeft();
  });
});

describe('limits', () => {
  test('one read too many is told to slow down', () => {
    const rig = new Rig({ gatewayLimits: { maxReads: 2 } });
    rig.s3.put(0, 'b', 'k', 1000);
    const clients = [rig.ask('k'), rig.ask('k'), rig.ask('k')];
    assert.equal(clients[2]!.code, 'SlowDown');
    rig.settle();
    assert.equal(clients[0]!.end, 'finished');
    assert.equal(rig.gateway.counters.slowDowns, 1);
    rig.assertNothingLeft();
  });

  test('a node whose readers are all taken is told on to the client', () => {
    const rig = new Rig({ nodes: 1, nodeLimits: { maxReaders: 1 } });
    rig.s3.put(0, 'b', 'k', 1000);
    const clients = [rig.ask('k'), rig.ask('k')];
    rig.settle();
    assert.equal(clients[0]!.end, 'finished');
    assert.equal(clients[1]!.code, 'SlowDown');
    assert.equal(rig.count('readersExhausted'), 1);
    rig.assertNothingLeft();
  });

  test('a client that does not read holds one piece and no more', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 20 * blockBytes);
    rig.get('k', { head: true });
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    assert.equal(client.received, blockBytes);
    assert.equal(rig.gateway.levels().outstandingReads, 0);
    rig.pass(60_000);
    assert.ok(client.isOpen, 'a stalled client is the server’s to time out');
    rig.resume(client);
    rig.settle();
    assert.equal(client.end, 'finished');
    assertRight(rig, client);
    rig.assertNothingLeft();
  });

  test('a client that leaves at any moment leaves nothing behind', () => {
    for (let steps = 0; steps < 120; steps++) {
      const rig = new Rig({ policy: { admitOnFirstRead: steps % 2 === 0 } });
      rig.s3.put(0, 'b', 'k', 6 * blockBytes);
      if (steps % 3 === 0) rig.get('k', { head: true });
      const client = rig.ask('k');
      for (let i = 0; i < steps && rig.step(); i++);
      if (client.isOpen) rig.leave(client);
      rig.assertNothingLeft();
    }
  });

  test('the gateway refuses to be called from within an effect', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 1000);
    rig.sendRead = () => {
      rig.gateway.onTick(0);
    };
    assert.throws(() => rig.ask('k'), /never call the gateway back/);
  });
});

test('a lookup’s body limit fits a shared link', () => {
  const rig = new Rig();
  rig.s3.put(0, 'b', 'k', 100_000);
  const client = rig.ask('k');
  const [transfer] = rig.transfers.values();
  assert.equal(transfer!.request.bodyLimit, smallAnswerBytes);
  rig.settle();
  assertRight(rig, client);
});
