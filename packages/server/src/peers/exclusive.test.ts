import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { blocksRequest, Cluster, lookupRequest, patternBytes, until } from './testing/cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'exclusive-'));
const mebibyte = 1024 * 1024;
const bytes = patternBytes(mebibyte);
const path = join(directory, 'slab');
writeFileSync(path, bytes);
const file = openSync(path, 'r');
after(() => {
  closeSync(file);
  rmSync(directory, { recursive: true });
});

describe('exclusive links', () => {
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster({ peer: { exclusiveLinks: 2, pingMs: 100, holdMs: 60 } });
    let token = 0;
    cluster.node.answer = (asker, { first, last }) => {
      cluster.server.reads.answerBytesFromFile(asker, file, first, last - first + 1, ++token);
    };
  });
  afterEach(() => {
    cluster.stop();
  });

  /** Beside the multiplexed link, by which the node's life is watched. */
  const exclusiveLinks = (of = cluster): number => of.server.links - 1;

  test('move a large body by sendfile and splice, no byte of it through this process', async () => {
    const { core, node, peers, gatewayReactor, nodeReactor } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the body', () => client.length === mebibyte);
    assert.ok(client.bytes.equals(bytes));
    await until('it is told', () => core.queued.length === 1 && node.sent.length === 1);
    assert.equal(nodeReactor.stats().sendFiles > 0, true);
    assert.equal(gatewayReactor.stats().splices > 0, true);
    assert.equal(gatewayReactor.stats().copiedBytes, 0);
  });

  test('are used again, and no more of them are opened than are needed', async () => {
    const { core, peers } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    for (let read = 1; read <= 10; read++) {
      peers.sendRead(read, 1, blocksRequest(read, 100_000));
      await until('the body', () => core.queued.length === read);
    }
    assert.equal(exclusiveLinks(), 1);
    await until('all bytes', () => client.length === 1_000_000);
    const expected = Array.from({ length: 10 }, (_, at) => bytes.subarray(at + 1, at + 100_001));
    assert.ok(client.bytes.equals(Buffer.concat(expected)));
  });

  test('are at most as many as allowed: further reads wait their turn', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    const { answer } = node;
    node.answer = () => undefined;
    for (let read = 1; read <= 6; read++) peers.sendRead(read, 1, blocksRequest(read, 40_000));
    await until('two reads', () => node.reads.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(node.reads.length, 2);
    assert.equal(exclusiveLinks(), 2);
    node.answer = answer;
    peers.cancelRead(5);
    for (const { asker, first } of node.reads.slice(0, 2)) {
      server.reads.answerBytesFromFile(asker, file, first, 40_000, 100 + first);
    }
    await until('five bodies', () => client.length === 5 * 40_000);
    assert.deepEqual(
      node.reads.map(({ first }) => first),
      [1, 2, 3, 4, 6],
    );
  });

  test('a full line answers busy', async () => {
    const full = new Cluster({ peer: { exclusiveLinks: 1, maxWaiting: 2 } });
    for (let read = 1; read <= 3; read++) full.peers.sendRead(read, 1, blocksRequest(0, 50_000));
    await until('the refusal', () => full.core.answers.length === 1);
    assert.equal(full.core.outcome(3), 'busy');
    full.stop();
  });

  test('a body that nobody takes waits in the kernel, and goes out when it is taken', async () => {
    const { core, peers, gatewayReactor } = cluster;
    const client = await cluster.client();
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => core.answers.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const received = gatewayReactor.stats().receives;
    peers.relayBody(1, client.connection);
    assert.equal(core.queued.length, 0, 'an effect never calls back');
    await until('the body', () => client.length === mebibyte && core.queued.length === 1);
    assert.ok(client.bytes.equals(bytes));
    assert.ok(gatewayReactor.stats().receives - received < 10);
    peers.sendRead(2, 1, blocksRequest(5, 40_000));
    await until('the link serves on', () => core.answers.length === 2);
    assert.equal(exclusiveLinks(), 1);
  });

  test('a body that is held for long frees its link', async () => {
    const { core, peers } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => {
      if (read > 2) peers.relayBody(read, client.connection);
    };
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    peers.sendRead(2, 1, blocksRequest(7, 500_000));
    await until('both answers', () => core.answers.length === 2);
    peers.sendRead(3, 1, blocksRequest(0, 40_000));
    await until('the third read got a link', () => client.length === 40_000);
    assert.equal(exclusiveLinks(), 2);
    peers.relayBody(1, client.connection);
    await until('the held body', () => client.length === 40_000 + mebibyte);
    peers.relayBody(2, client.connection);
    await until('the other', () => core.queued.length === 3);
    await until('all bytes', () => client.length === 540_000 + mebibyte);
    const expected = [bytes.subarray(0, 40_000), bytes, bytes.subarray(7, 500_007)];
    assert.ok(client.bytes.equals(Buffer.concat(expected)));
    assert.equal(peers.readsUnderWay, 0);
  });

  test('a body that is read into memory goes to whoever takes it meanwhile', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    node.answer = (asker) => {
      server.reads.beginAnswer(asker, mebibyte);
      server.reads.continueAnswer(asker, bytes.subarray(0, 100_000));
    };
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    peers.sendRead(2, 1, blocksRequest(0, mebibyte));
    await until('both answers', () => core.answers.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 250));
    peers.relayBody(1, client.connection);
    await until('what there is', () => client.length === 100_000);
    server.reads.continueAnswer(node.reads[0]!.asker, bytes.subarray(100_000));
    await until('the whole body', () => core.queued.length === 1);
    await until('all bytes', () => client.length === mebibyte);
    assert.ok(client.bytes.equals(bytes));
    peers.relayBody(2, client.connection);
    server.reads.abortAnswer(node.reads[1]!.asker);
    await until('the other breaks off', () => core.failed.length === 1);
    assert.deepEqual(core.failed, [{ read: 2, queuedBytes: 100_000 }]);
    assert.equal(peers.readsUnderWay, 0);
  });

  test('a client that doesn’t read holds neither the link nor other clients', async () => {
    const { core, peers } = cluster;
    const stalled = await cluster.client();
    stalled.socket.pause();
    const lively = await cluster.client();
    core.onEach = (read) => {
      peers.relayBody(read, read < 100 ? stalled.connection : lively.connection);
    };
    // Both links are given to the client that doesn't read, a few times over: more than its socket takes.
    for (let read = 1; read <= 12; read++) {
      peers.sendRead(read, 1, blocksRequest(0, mebibyte));
      await until('the body is queued', () => core.queued.length === read);
    }
    for (let read = 100; read < 110; read++) peers.sendRead(read, 1, blocksRequest(0, 100_000));
    await until('the lively client has its bytes', () => lively.length === 1_000_000);
    stalled.socket.resume();
    await until('the stalled one too, later', () => stalled.length === 12 * mebibyte);
    assert.ok(stalled.bytes.subarray(11 * mebibyte).equals(bytes));
    assert.equal(exclusiveLinks(), 2);
  });

  test('a client that dies gets no more, and the link serves on', async () => {
    const { core, peers } = cluster;
    const dying = await cluster.client();
    dying.socket.pause();
    core.onEach = (read) => {
      if (read < 100) peers.relayBody(read, dying.connection);
    };
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => core.answers.length === 1);
    dying.socket.resetAndDestroy();
    await until('its end', () => core.queued.length + core.failed.length === 1);
    peers.sendRead(2, 1, blocksRequest(0, mebibyte));
    await until('the next end', () => core.queued.length + core.failed.length === 2);
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    for (let read = 100; read < 104; read++) peers.sendRead(read, 1, blocksRequest(3, 90_000));
    await until('others get their bytes', () => client.length === 4 * 90_000);
    await until('nothing is under way', () => peers.readsUnderWay === 0);
  });

  test('a node that goes away in the middle breaks the body off', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    node.answer = (asker) => {
      server.reads.beginAnswer(asker, mebibyte);
      server.reads.continueAnswer(asker, bytes.subarray(0, 300_000));
    };
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('what there is', () => client.length === 300_000);
    server.reads.abortAnswer(node.reads[0]!.asker);
    await until('the end', () => core.failed.length === 1);
    assert.deepEqual(core.failed, [{ read: 1, queuedBytes: 300_000 }]);
    assert.ok(client.bytes.equals(bytes.subarray(0, 300_000)));
    assert.equal(peers.readsUnderWay, 0);
    assert.equal(server.reads.underWay, 0);
  });

  test('a node that goes away before its answer fails the read', async () => {
    const { core, node, peers, server } = cluster;
    node.answer = () => undefined;
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the read', () => node.reads.length === 1);
    server.close();
    await until('the failure', () => core.outcome(1) === 'peer');
    assert.deepEqual(node.cancelled, [node.reads[0]!.asker]);
  });

  test('a body held while its node goes away breaks off when it is taken', async () => {
    const { core, peers, server } = cluster;
    const client = await cluster.client();
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => core.answers.length === 1);
    server.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    peers.relayBody(1, client.connection);
    await until('its end', () => core.failed.length + core.queued.length === 1);
    assert.equal(peers.readsUnderWay, 0);
  });

  test('an answer in pieces comes whole', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    const piece = bytes.subarray(0, 64 * 1024);
    node.answer = (asker) => {
      server.reads.beginAnswer(asker, mebibyte);
      for (let sent = 0; sent < 16; sent += 1) server.reads.continueAnswer(asker, piece);
    };
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the whole body', () => client.length === mebibyte);
    await until('it is told', () => core.queued.length === 1);
    const expected = Array.from({ length: 16 }, () => piece);
    assert.ok(client.bytes.equals(Buffer.concat(expected)));
    assert.equal(server.reads.underWay, 0);
  });

  test('a failure comes whole, whatever its size, and the link serves on', async () => {
    const { core, node, peers, server } = cluster;
    const error = {
      status: 403,
      code: 'AccessDenied',
      headerLines: new Uint8Array(100),
      body: new Uint8Array(bytes.subarray(0, 64 * 1024)),
    };
    node.answer = (asker) => server.reads.answerFailure(asker, 'origin', error);
    for (let read = 1; read <= 3; read++) {
      peers.sendRead(read, 1, blocksRequest(0, mebibyte));
      await until('the failure', () => core.outcome(read) === 'origin');
      assert.deepEqual(core.answers.at(-1)!.answer.error, error);
    }
    assert.equal(exclusiveLinks(), 1);
  });

  test('a large lookup brings metadata and its body', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    const metadata = {
      etag: '"e"',
      size: mebibyte,
      lastModified: 5,
      headerLines: new Uint8Array(300).fill(65),
      knowsChecksums: true,
      version: { h0: 1, h1: 2, h2: 3, h3: 4 },
    };
    const confirmed = { metadata, ageMs: 1, lifetimeMs: Infinity, hot: null };
    node.answer = (asker) => {
      server.reads.answerMetadataFromFile(asker, confirmed, 0, file, 0, mebibyte, 9);
    };
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, lookupRequest(mebibyte));
    await until('the body', () => client.length === mebibyte);
    assert.deepEqual(core.answers[0]!.answer.metadata, metadata);
    assert.ok(client.bytes.equals(bytes));
    await until('the send is told', () => node.sent.length === 1);
    assert.deepEqual(node.sent, [{ token: 9, errno: 0 }]);
  });

  /** Nothing is left of cancelled reads, and the next read is whole. */
  const servesOn = async (): Promise<void> => {
    const { core, node, peers, server } = cluster;
    await until('nothing is under way', () => peers.readsUnderWay === 0);
    await until('nor at the node', () => server.reads.underWay === 0);
    assert.equal(core.queued.length + core.failed.length, 0);
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    node.answer = (asker, { first }) => {
      server.reads.answerBytesFromFile(asker, file, first, 100_000, 99);
    };
    peers.sendRead(99, 1, blocksRequest(1, 100_000));
    await until('the next read is whole', () => client.length === 100_000);
    assert.ok(client.bytes.equals(bytes.subarray(1, 100_001)));
  };

  test('a read cancelled before its answer frees the link', async () => {
    const { core, node, peers } = cluster;
    node.answer = () => undefined;
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the read', () => node.reads.length === 1);
    peers.cancelRead(1);
    await until('the node knows', () => node.cancelled.length === 1);
    await servesOn();
    assert.equal(core.outcome(1), undefined);
    assert.equal(exclusiveLinks(), 1);
  });

  test('a read cancelled while its answer is on the way drops a short one', async () => {
    const { core, node, peers } = cluster;
    const { answer } = node;
    node.answer = (asker, request) => {
      answer(asker, request);
      peers.cancelRead(1);
    };
    peers.sendRead(1, 1, blocksRequest(0, 200_000));
    await until('the read', () => node.reads.length === 1);
    await servesOn();
    assert.equal(core.outcome(1), undefined);
    assert.equal(exclusiveLinks(), 1);
  });

  test('a read cancelled during its announcement closes the link of a long answer', async () => {
    const { core, peers } = cluster;
    core.onEach = (read) => peers.cancelRead(read);
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the link is gone', () => core.outcome(1) === 'bytes' && exclusiveLinks() === 0);
    await servesOn();
  });

  test('a read cancelled while its short body is held drops it', async () => {
    const { core, peers } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 150_000));
    await until('the answer', () => core.outcome(1) === 'bytes');
    peers.cancelRead(1);
    await servesOn();
    assert.equal(exclusiveLinks(), 1);
  });

  test('a read cancelled while its body goes to a client that doesn’t read', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    client.socket.pause();
    node.answer = (asker) => {
      server.reads.beginAnswer(asker, mebibyte);
      server.reads.continueAnswer(asker, bytes.subarray(0, 300_000));
    };
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => core.outcome(1) === 'bytes');
    peers.cancelRead(1);
    server.reads.continueAnswer(node.reads[0]!.asker, bytes.subarray(300_000));
    await servesOn();
    assert.equal(exclusiveLinks(), 1);
  });

  test('a read cancelled while its long-held body is read into memory', async () => {
    const { core, node, peers, server } = cluster;
    node.answer = (asker) => {
      server.reads.beginAnswer(asker, mebibyte);
      server.reads.continueAnswer(asker, bytes.subarray(0, 100_000));
    };
    peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => core.outcome(1) === 'bytes');
    await new Promise((resolve) => setTimeout(resolve, 200));
    peers.cancelRead(1);
    server.reads.continueAnswer(node.reads[0]!.asker, bytes.subarray(100_000));
    await servesOn();
    assert.equal(exclusiveLinks(), 1);
  });

  test('an idle link is closed', async () => {
    const idle = new Cluster({ peer: { idleMs: 100 } });
    idle.node.answer = (asker) => idle.server.reads.answerFailure(asker, 'changed', null);
    idle.peers.sendRead(1, 1, blocksRequest(0, mebibyte));
    await until('the answer', () => idle.core.answers.length === 1);
    assert.equal(exclusiveLinks(idle), 1);
    await until('the link is gone', () => exclusiveLinks(idle) === 0);
    idle.peers.sendRead(2, 1, blocksRequest(0, mebibyte));
    await until('a new one serves', () => idle.core.outcome(2) === 'changed');
    idle.stop();
  });

  test('a disk whose pages may not be lent sends copies', async () => {
    const copying = new Cluster({ server: { lendPages: false } });
    const client = await copying.client();
    const { core, node, peers, server, nodeReactor } = copying;
    node.answer = (asker) => server.reads.answerBytesFromFile(asker, file, 0, 150_000, 1);
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, 150_000));
    await until('the body', () => client.length === 150_000);
    assert.equal(nodeReactor.stats().sendFiles, 0);
    assert.ok(client.bytes.equals(bytes.subarray(0, 150_000)));
    copying.stop();
  });
});
