import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import {
  decodeFrameHeader,
  encodeBareFrame,
  frameHeaderBytes,
  FrameType,
  newFrameHeader,
  protocolVersion,
} from '@s3-accelerator/protocol/frame.ts';
import {
  decodeRefused,
  encodeHello,
  encodeRefused,
  helloBytes,
  refusedBytes,
} from '@s3-accelerator/protocol/handshake.ts';
import type { HandshakeStep } from './link-handshake.ts';
import type { ForwardPort, ForwardSink } from '../passthrough/forward.ts';
import { AskedForward } from './asked-forward.ts';
import { AnsweringHandshake, AskingHandshake } from './link-handshake.ts';
import { blocksRequest, Cluster, testSecret, until } from './testing/cluster.ts';

const otherSecret = new Uint8Array(Buffer.from('quite another secret'));
type Machine = AskingHandshake | AnsweringHandshake;

function offer(machine: Machine, frame: Uint8Array): HandshakeStep {
  const header = newFrameHeader();
  assert.equal(decodeFrameHeader(frame, 0, header), null);
  return machine.onFrame(header, frame, frameHeaderBytes, frame.length);
}

describe('the handshake', () => {
  test('opens a link for its purpose when both ends hold the secret', () => {
    const asking = new AskingHandshake(testSecret, 'exclusive');
    const answering = new AnsweringHandshake(testSecret);
    assert.equal(answering.begin(), null);
    const challenge = offer(answering, asking.begin());
    assert.equal(challenge.outcome.kind, 'going');
    const response = offer(asking, challenge.send!);
    assert.equal(response.outcome.kind, 'going');
    const ready = offer(answering, response.send!);
    assert.deepEqual(ready.outcome, { kind: 'open', purpose: 'exclusive' });
    assert.deepEqual(offer(asking, ready.send!).outcome, { kind: 'open', purpose: 'exclusive' });
  });

  test('never puts the secret on the wire', () => {
    const asking = new AskingHandshake(testSecret, 'forward');
    const answering = new AnsweringHandshake(testSecret);
    const hello = asking.begin();
    const challenge = offer(answering, hello).send!;
    const response = offer(asking, challenge).send!;
    const wire = Buffer.concat([hello, challenge, response]);
    assert.equal(wire.includes(Buffer.from(testSecret)), false);
  });

  test('stops at the asking end when the answering end holds another secret', () => {
    const asking = new AskingHandshake(testSecret, 'multiplexed');
    const challenge = offer(new AnsweringHandshake(otherSecret), asking.begin());
    const { send, outcome } = offer(asking, challenge.send!);
    assert.equal(outcome.kind === 'refused' && outcome.reason, 'secret');
    assert.deepEqual(decodeRefused(send!, frameHeaderBytes, send!.length), {
      reason: 'secret',
      version: protocolVersion,
    });
  });

  test('stops at the answering end when the asking end can’t prove the secret', () => {
    const answering = new AnsweringHandshake(testSecret);
    const asking = new AskingHandshake(testSecret, 'multiplexed');
    const challenge = offer(answering, asking.begin()).send!;
    const response = offer(asking, challenge).send!;
    response[frameHeaderBytes + 5]! ^= 1;
    const { outcome } = offer(answering, response);
    assert.equal(outcome.kind === 'refused' && outcome.reason, 'secret');
  });

  test('a recorded response opens no second link', () => {
    const asking = new AskingHandshake(testSecret, 'multiplexed');
    const hello = asking.begin();
    const response = offer(asking, offer(new AnsweringHandshake(testSecret), hello).send!).send!;
    const second = new AnsweringHandshake(testSecret);
    offer(second, hello);
    assert.equal(offer(second, response).outcome.kind, 'refused');
  });

  test('a response made for one purpose opens no link of another', () => {
    const asking = new AskingHandshake(testSecret, 'multiplexed');
    const answering = new AnsweringHandshake(testSecret);
    const hello = asking.begin();
    const changed = hello.slice();
    changed[frameHeaderBytes + 6] = 2;
    const challenge = offer(answering, changed).send!;
    assert.equal(offer(asking, challenge).outcome.kind, 'refused');
  });

  test('an end’s own proof sent back to it proves nothing', () => {
    // The attacker connects to a node, is challenged, and offers the node's own proof as the response.
    const answering = new AnsweringHandshake(testSecret);
    const hello = new Uint8Array(helloBytes);
    const nonce = new Uint8Array(32).fill(1);
    encodeHello(hello, 0, { version: protocolVersion, purpose: 'multiplexed', nonce });
    const challenge = offer(answering, hello).send!;
    const reflected = new Uint8Array(frameHeaderBytes + 32);
    reflected.set(challenge.subarray(0, frameHeaderBytes));
    reflected[0] = 32;
    reflected[4] = FrameType.response;
    reflected.set(challenge.subarray(challenge.length - 32), frameHeaderBytes);
    assert.equal(offer(answering, reflected).outcome.kind, 'refused');
  });

  test('frames out of turn are refused', () => {
    const frame = new Uint8Array(frameHeaderBytes);
    encodeBareFrame(frame, 0, FrameType.ready, 0);
    for (const machine of [
      new AskingHandshake(testSecret, 'forward'),
      new AnsweringHandshake(testSecret),
    ]) {
      const { outcome } = offer(machine, frame);
      assert.equal(outcome.kind === 'refused' && outcome.reason, 'malformed');
    }
    const answering = new AnsweringHandshake(testSecret);
    const hello = new AskingHandshake(testSecret, 'forward').begin();
    offer(answering, hello);
    assert.equal(offer(answering, hello).outcome.kind, 'refused');
  });
});

describe('links that are not to be', () => {
  const clusters: Cluster[] = [];
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const cluster of clusters.splice(0)) cluster.stop();
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  function newCluster(...options: ConstructorParameters<typeof Cluster>): Cluster {
    const cluster = new Cluster(...options);
    clusters.push(cluster);
    return cluster;
  }

  /** Something that listens where a node should be. */
  async function impostor(cluster: Cluster, onSocket: (socket: Socket) => void): Promise<void> {
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    cluster.peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port }]);
  }

  /** Passes everything on to the real node and back, but nothing while it is deaf. */
  async function relayTo(cluster: Cluster, isDeaf: boolean): Promise<{ isDeaf: boolean }> {
    const relay = { isDeaf };
    await impostor(cluster, (socket) => {
      const onward = connect(cluster.port, '127.0.0.1');
      sockets.push(onward);
      onward.on('error', () => undefined);
      socket.on('data', (chunk) => relay.isDeaf || onward.write(chunk));
      onward.on('data', (chunk) => relay.isDeaf || socket.write(chunk));
      socket.on('close', () => onward.destroy());
    });
    return relay;
  }

  /** Waits for a socket's end, a reset included. */
  function closed(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
      });
    });
  }

  async function stranger(cluster: Cluster): Promise<Socket> {
    const socket = connect(cluster.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  test('a wrong secret fails reads and is said once in both logs', async () => {
    const cluster = newCluster({ server: { secret: otherSecret }, peer: { minBackoffMs: 1 } });
    const { core, peers, node, gatewayLog, nodeLog } = cluster;
    for (let read = 1; read <= 5; read++) {
      peers.sendRead(read, 1, blocksRequest(0, read % 2 === 0 ? 100 : 100_000));
      await until('the failure', () => core.outcome(read) === 'peer');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(node.reads.length, 0);
    assert.equal(gatewayLog.count('different cluster secrets'), 1);
    await until('the node says so too', () => nodeLog.count('different cluster secrets') === 1);
    assert.equal(peers.readsUnderWay, 0);
  });

  test('another version is refused with both versions’ names', async () => {
    const cluster = newCluster();
    const socket = await stranger(cluster);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const hello = new Uint8Array(helloBytes);
    const nonce = new Uint8Array(32);
    encodeHello(hello, 0, { version: 99, purpose: 'multiplexed', nonce });
    socket.write(hello);
    await once(socket, 'end');
    const answer = Buffer.concat(chunks);
    assert.deepEqual(decodeRefused(answer, frameHeaderBytes, answer.length), {
      reason: 'version',
      version: protocolVersion,
    });
    assert.equal(cluster.nodeLog.count(`version 99, this process ${protocolVersion}`), 1);
  });

  test('a node of another version is named in the gateway’s log', async () => {
    const cluster = newCluster();
    await impostor(cluster, (socket) => {
      socket.once('data', () => {
        const refused = new Uint8Array(refusedBytes);
        encodeRefused(refused, 0, { reason: 'version', version: 7 });
        socket.end(refused);
      });
    });
    cluster.peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the failure', () => cluster.core.outcome(1) === 'peer');
    assert.equal(cluster.gatewayLog.count(`version 7, this process ${protocolVersion}`), 1);
  });

  test('garbage is turned away', async () => {
    const cluster = newCluster();
    for (const garbage of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01' + 'x'.repeat(600)]) {
      const socket = await stranger(cluster);
      socket.resume();
      socket.write(garbage, 'latin1');
      await closed(socket);
    }
    await until('no link is left', () => cluster.server.links === 0);
    assert.deepEqual(
      [cluster.nodeLog.count("no link's handshake"), cluster.nodeLog.lines.length],
      [1, 1],
    );
  });

  test('an end that connects and says nothing is dropped in time', async () => {
    const cluster = newCluster({ server: { handshakeMs: 100 } });
    const socket = await stranger(cluster);
    socket.resume();
    await until('it is let in', () => cluster.server.links === 1);
    await closed(socket);
    assert.equal(cluster.server.links, 0);
    assert.equal(cluster.nodeLog.count('no handshake within 100 ms'), 1);
  });

  test('one byte at a time doesn’t stretch the time', async () => {
    const cluster = newCluster({ server: { handshakeMs: 150 } });
    const socket = await stranger(cluster);
    socket.resume();
    const started = performance.now();
    const drip = setInterval(() => socket.write('S'), 20);
    await closed(socket);
    clearInterval(drip);
    assert.ok(performance.now() - started < 2000);
  });

  test('a node that accepts and never answers fails its reads in time', async () => {
    const cluster = newCluster({ peer: { handshakeMs: 100 } });
    await impostor(cluster, (socket) => socket.resume());
    cluster.peers.sendRead(1, 1, blocksRequest(0, 10));
    cluster.peers.sendRead(2, 1, blocksRequest(0, 100_000));
    await until('both failures', () => cluster.core.answers.length === 2);
    assert.deepEqual([cluster.core.outcome(1), cluster.core.outcome(2)], ['peer', 'peer']);
  });

  test('one that never answered is waited for once, and asked again when it answers', async () => {
    const cluster = newCluster({ peer: { handshakeMs: 2000, minBackoffMs: 1, pingMs: 100 } });
    const { core, peers, node, server } = cluster;
    const relay = await relayTo(cluster, true);
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the first failure', () => core.outcome(1) === 'peer');
    const began = performance.now();
    for (let read = 2; read <= 20; read++) {
      peers.sendRead(read, 1, blocksRequest(0, read % 2 === 0 ? 10 : 100_000));
      await until('a failure at once', () => core.outcome(read) === 'peer');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(performance.now() - began < 1900, 'nothing waited for a handshake');
    relay.isDeaf = false;
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    await until('it is reached', () => peers.reachesAny());
    peers.sendRead(30, 1, blocksRequest(0, 10));
    peers.sendRead(31, 1, blocksRequest(0, 100_000));
    await until('both answers', () => core.outcome(31) === 'changed');
    assert.equal(core.outcome(30), 'changed');
  });

  test('nothing waits long for a node that is slow to let links in, and its links serve once it does', async () => {
    const cluster = newCluster({ peer: { pingMs: 100 } });
    const { core, node, peers, port, server, gatewayLog } = cluster;
    const letIn: (() => void)[] = [];
    await impostor(cluster, (socket) => {
      const onward = connect(port, '127.0.0.1');
      sockets.push(onward);
      onward.on('error', () => undefined);
      onward.pipe(socket);
      letIn.push(() => socket.pipe(onward));
    });
    const failed: string[] = [];
    const sink: ForwardSink = {
      onHead: () => undefined,
      onBody: () => undefined,
      onEnd: () => undefined,
      onDrain: () => undefined,
      onFailed: ({ code }) => void failed.push(code),
    };
    const get = { method: 'GET', bucket: 'b', key: 'k', target: '/b/k', headers: [] };
    new AskedForward({ ...get, bodyLength: null }, sink, [peers.forwardWay(1)!]).end();
    peers.sendRead(1, 1, blocksRequest(0, 10));
    peers.sendRead(2, 1, blocksRequest(0, 100_000));
    await until('all have left', () => core.answers.length === 2 && failed.length === 1);
    assert.deepEqual([core.outcome(1), core.outcome(2)], ['peer', 'peer']);
    assert.deepEqual(failed, ['ServiceUnavailable']);
    assert.equal(letIn.length, 3, 'each on a link of its own');
    assert.equal(gatewayLog.lines.length, 0, 'its handshakes still have time');
    for (const open of letIn) open();
    await until('it is reached', () => core.reached.length > 0);
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    peers.sendRead(3, 1, blocksRequest(0, 10));
    peers.sendRead(4, 1, blocksRequest(0, 100_000));
    await until('both answers', () => core.outcome(3) === 'changed');
    await until('both answers', () => core.outcome(4) === 'changed');
    assert.equal(letIn.length, 3, 'on the links that were slow');
  });

  test('a node that isn’t there fails its reads, at once while the gate is shut', async () => {
    const cluster = newCluster({ peer: { minBackoffMs: 500 } });
    const { core, peers, port, server } = cluster;
    server.stopListening();
    await new Promise((resolve) => setTimeout(resolve, 20));
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the failure', () => core.outcome(1) === 'peer');
    assert.equal(server.listen('127.0.0.1', port), port);
    peers.sendRead(2, 1, blocksRequest(0, 10));
    await until('another', () => core.outcome(2) === 'peer', 100);
    await new Promise((resolve) => setTimeout(resolve, 550));
    cluster.node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    peers.sendRead(3, 1, blocksRequest(0, 10));
    await until('an answer', () => core.outcome(3) === 'changed');
  });

  test('more links than allowed are refused, and say so', async () => {
    const cluster = newCluster({ server: { maxLinks: 1 } });
    const { core, node, peers, server } = cluster;
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the answer', () => core.outcome(1) === 'changed');
    peers.sendRead(2, 1, blocksRequest(0, 100_000));
    await until('the failure', () => core.outcome(2) === 'peer');
    assert.equal(server.linksRefused, 1);
    assert.equal(cluster.gatewayLog.count('as many links as it may have'), 1);
    peers.sendRead(3, 1, blocksRequest(0, 10));
    await until('the first link serves on', () => core.outcome(3) === 'changed');
  });

  test('connections that never greet don’t keep those out that hold the secret', async () => {
    const cluster = newCluster({ server: { maxLinks: 3 } });
    const { core, node, peers, server, port } = cluster;
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    let ended = 0;
    const strangers = Array.from({ length: 8 }, () => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (ended += 1));
      return socket.resume();
    });
    await Promise.all(strangers.map((socket) => once(socket, 'connect')));
    await until('only as many are left as may be', () => ended === 5);
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the answer', () => core.outcome(1) === 'changed');
    peers.sendRead(2, 1, blocksRequest(0, 100_000));
    await until('one of the other kind', () => core.outcome(2) === 'changed');
    assert.equal(server.links, 3);
  });

  test('a peer that falls silent is pinged, then given up with all its links', async () => {
    const cluster = newCluster({ peer: { pingMs: 100 } });
    const { core, node, peers, server, gatewayLog } = cluster;
    const relay = await relayTo(cluster, false);
    node.answer = (asker, { first }) => {
      if (first === 0) server.reads.answerFailure(asker, 'changed', null);
    };
    peers.sendRead(1, 1, blocksRequest(0, 10));
    peers.sendRead(2, 1, blocksRequest(5, 10));
    peers.sendRead(3, 1, blocksRequest(5, 100_000));
    await until('the reads', () => node.reads.length === 3 && core.outcome(1) === 'changed');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.equal(core.answers.length, 1, 'a slow answer of a live node is waited for');
    relay.isDeaf = true;
    await until('both failures', () => core.answers.length === 3);
    assert.deepEqual([core.outcome(2), core.outcome(3)], ['peer', 'peer']);
    assert.equal(gatewayLog.count('stopped answering'), 1);
  });

  test('a request under way outlives a silence in which its node could have let a link in, and no longer one', async () => {
    const asked: ForwardSink[] = [];
    const forwardPort: ForwardPort = {
      forward: (_request, sink) => {
        asked.push(sink);
        return {
          write: () => true,
          end: () => undefined,
          abort: () => undefined,
          pause: () => undefined,
          resume: () => undefined,
        };
      },
    };
    const cluster = newCluster({ peer: { pingMs: 100, handshakeMs: 1500 }, forwardPort });
    const { core, peers } = cluster;
    const relay = await relayTo(cluster, false);
    const told: string[] = [];
    const sink: ForwardSink = {
      onHead: (status) => void told.push(String(status)),
      onBody: () => undefined,
      onEnd: () => void told.push('end'),
      onDrain: () => undefined,
      onFailed: ({ code }) => void told.push(code),
    };
    const request = { method: 'DELETE', bucket: 'b', key: 'k', target: '/b/k', headers: [] };
    const ask = async (): Promise<void> => {
      const before = asked.length;
      new AskedForward({ ...request, bodyLength: null }, sink, [peers.forwardWay(1)!]).end();
      await until('the request', () => asked.length === before + 1);
    };
    await ask();
    relay.isDeaf = true;
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the read leaves', () => core.outcome(1) === 'peer');
    relay.isDeaf = false;
    await until('it is reached again', () => peers.reachesAny());
    asked[0]!.onHead(204, []);
    asked[0]!.onEnd();
    await until('the answer', () => told.length > 1);
    assert.deepEqual(told.splice(0), ['204', 'end']);

    await ask();
    relay.isDeaf = true;
    const began = performance.now();
    await until('it is given up', () => told.length > 0);
    assert.deepEqual(told, ['ServiceUnavailable']);
    assert.ok(performance.now() - began >= 1500);
  });
});
