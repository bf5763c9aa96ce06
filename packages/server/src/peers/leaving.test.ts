/** Links of a node that stops, and of one that isn't a member any more: what is under way on them is finished. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { FrameType } from '@s3-accelerator/protocol/frame.ts';
import type { ForwardSink } from '../passthrough/forward.ts';
import { AskedForward } from './asked-forward.ts';
import { RawEnd } from './testing/raw-end.ts';
import { answerBytes, blocksRequest, Cluster, until } from './testing/cluster.ts';

describe('the links of a node that goes', () => {
  let cluster: Cluster;
  const forwarded: ForwardSink[] = [];

  beforeEach(() => {
    forwarded.length = 0;
    const forwarding = {
      write: () => true,
      end: () => undefined,
      abort: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
    };
    cluster = new Cluster({
      peer: { pingMs: 100, smallAnswerBytes: 100 },
      forwardPort: {
        forward: (_request, sink) => {
          forwarded.push(sink);
          return forwarding;
        },
      },
    });
  });
  afterEach(() => {
    cluster.stop();
  });

  /** A small read, a large one and a passed-through request, all under way at the node. */
  async function begin(): Promise<{ readonly over: () => readonly string[] }> {
    const over: string[] = [];
    const { core, peers, node } = cluster;
    const client = await cluster.client();
    core.onEach = (read, answer) => {
      if (answer.bodyLength > 0) peers.relayBody(read, client.connection);
    };
    peers.sendRead(1, 1, blocksRequest(0, 10));
    peers.sendRead(2, 1, blocksRequest(1000, 50_000));
    const sink: ForwardSink = {
      onHead: (status) => over.push(String(status)),
      onBody: () => undefined,
      onEnd: () => over.push('end'),
      onFailed: ({ code }) => over.push(code),
      onDrain: () => undefined,
    };
    const request = { method: 'GET', bucket: 'b', key: 'k', target: '/b/k', headers: [] };
    const way = peers.forwardWay(1);
    assert.ok(way !== null);
    new AskedForward({ ...request, bodyLength: null }, sink, [way]).end();
    await until('all are under way', () => node.reads.length === 2 && forwarded.length === 1);
    return { over: () => over };
  }

  function answerAll(): void {
    const { node, server } = cluster;
    for (const { asker, first, last } of node.reads) {
      answerBytes(server, asker, Buffer.alloc(last - first + 1, 7));
    }
    forwarded[0]!.onHead(200, []);
    forwarded[0]!.onEnd();
  }

  test('a node that drains answers what is under way, and takes nothing new', async () => {
    const { core, server, peers } = cluster;
    const { over } = await begin();
    const drained = server.drain(10_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(server.links, 3, 'links with something under way are kept');
    peers.sendRead(3, 1, blocksRequest(0, 10));
    await until('a new read finds no way in', () => core.outcome(3) === 'peer');
    answerAll();
    await drained;
    assert.equal(server.links, 0);
    await until('all answers', () => core.queued.length === 2 && over().length === 2);
    assert.deepEqual(
      [core.outcome(1), core.outcome(2), ...over()],
      ['bytes', 'bytes', '200', 'end'],
    );
  });

  test('idle links are ended at once', async () => {
    const { core, node, server, peers } = cluster;
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    peers.sendRead(1, 1, blocksRequest(0, 10));
    peers.sendRead(2, 1, blocksRequest(0, 1000));
    await until('both answers', () => core.answers.length === 2);
    const began = performance.now();
    await server.drain(10_000);
    assert.ok(performance.now() - began < 5000);
    assert.equal(server.links, 0);
  });

  test('a link that was about to open is told as well', async () => {
    const { server } = cluster;
    const late = RawEnd.ask(cluster.port, 'forward');
    await until('it is being let in', () => server.links === 1);
    const drained = server.drain(10_000);
    await until('it is told', () => late.frames.some(({ type }) => type === FrameType.leaving));
    late.socket.end();
    await drained;
  });

  test('draining has an end, whatever askers do', async () => {
    await begin();
    await cluster.server.drain(30);
    assert.equal(cluster.server.links, 3);
    cluster.server.close();
    assert.equal(cluster.server.links, 0);
  });

  test('a former member keeps its links until what is under way is over', async () => {
    const { core, server, peers } = cluster;
    const { over } = await begin();
    peers.setMembers([]);
    peers.sendRead(3, 1, blocksRequest(0, 10));
    await until('it gets nothing new', () => core.outcome(3) === 'peer');
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(server.links, 3);
    answerAll();
    await until('all answers', () => core.queued.length === 2 && over().length === 2);
    await until('no links', () => server.links === 0);
    assert.deepEqual(
      [core.outcome(1), core.outcome(2), ...over()],
      ['bytes', 'bytes', '200', 'end'],
    );
  });
});
