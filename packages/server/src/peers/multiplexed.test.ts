import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, writeFileSync, mkdtempSync, truncateSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import {
  answerBytes,
  blocksRequest,
  Cluster,
  lookupRequest,
  patternBytes,
  until,
} from './testing/cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'multiplexed-'));
after(() => rmSync(directory, { recursive: true }));

const metadata = {
  etag: '"e"',
  size: 10_000,
  lastModified: 5,
  headerLines: new Uint8Array(Buffer.from('Content-Type: text/plain\r\n')),
  knowsChecksums: true,
  version: { h0: 1, h1: 2, h2: 3, h3: 4 },
};

describe('a multiplexed link', () => {
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster();
  });
  afterEach(() => {
    cluster.stop();
  });

  test('brings answers in whatever order the node gives them', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    for (let read = 1; read <= 5; read++) peers.sendRead(read, 1, blocksRequest(read * 100, 10));
    await until('five reads at the node', () => node.reads.length === 5);
    for (const read of [3, 1, 5, 2, 4]) {
      const asked = node.reads.find(({ first }) => first === read * 100)!;
      answerBytes(server, asked.asker, Buffer.from(`answer ${read}. `));
    }
    await until('five bodies', () => core.queued.length === 5);
    assert.deepEqual(
      core.answers.map(({ read, answer }) => [read, answer.kind, answer.bodyFirst]),
      [3, 1, 5, 2, 4].map((read) => [read, 'bytes', read * 100]),
    );
    await until('the client has them', () => client.length === 50);
    assert.equal(client.bytes.toString(), 'answer 3. answer 1. answer 5. answer 2. answer 4. ');
    assert.deepEqual(core.queued, [3, 1, 5, 2, 4]);
    assert.equal(peers.readsUnderWay, 0);
    assert.equal(server.reads.underWay, 0);
    assert.equal(server.links, 1);
  });

  test('brings metadata with the bytes wanted, and without', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    node.answer = (asker, request) => {
      const fresh = { metadata, ageMs: 3, lifetimeMs: 1000, hot: null };
      if (request.bodyLimit > 0) {
        server.reads.answerMetadataFromMemory(asker, fresh, 50, Buffer.from('body'));
      } else {
        server.reads.answerMetadata(asker, { ...fresh, lifetimeMs: Infinity });
      }
    };
    core.onEach = (read, answer) => {
      if (answer.bodyLength > 0) peers.relayBody(read, client.connection);
    };
    peers.sendRead(1, 1, lookupRequest(0));
    peers.sendRead(2, 1, lookupRequest(100));
    await until('both answers', () => core.answers.length === 2 && core.queued.length === 1);
    const [bare, withBody] = core.answers.map(({ answer }) => answer);
    assert.deepEqual(bare!.metadata, metadata);
    assert.deepEqual([bare!.ageMs, bare!.lifetimeMs, bare!.bodyLength], [3, Infinity, 0]);
    assert.deepEqual([withBody!.bodyFirst, withBody!.bodyLength], [50, 4]);
    await until('the body', () => client.length === 4);
    assert.equal(client.bytes.toString(), 'body');
  });

  test('brings failures with the origin’s own words', async () => {
    const { core, node, peers, server } = cluster;
    const error = {
      status: 404,
      code: 'NoSuchKey',
      headerLines: new Uint8Array(3),
      body: new Uint8Array(64 * 1024).fill(7),
    };
    node.answer = (asker) => server.reads.answerFailure(asker, 'origin', error);
    peers.sendRead(1, 1, blocksRequest(0, 10));
    await until('the failure', () => core.answers.length === 1);
    assert.equal(core.outcome(1), 'origin');
    assert.deepEqual(core.answers[0]!.answer.error, error);
  });

  test('carries many answers with one system call', async () => {
    const { core, node, peers, server, nodeReactor, gatewayReactor } = cluster;
    const client = await cluster.client();
    const bytes = patternBytes(4096);
    const path = join(directory, 'slab');
    writeFileSync(path, bytes);
    const file = openSync(path, 'r');
    let token = 0;
    node.answer = (asker) => server.reads.answerBytesFromFile(asker, file, 0, 4096, ++token);
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1000, 1, blocksRequest(0, 4096));
    await until('the link is open', () => core.queued.length === 1);
    const before = { node: nodeReactor.stats(), gateway: gatewayReactor.stats() };
    for (let read = 1; read <= 64; read++) peers.sendRead(read, 1, blocksRequest(0, 4096));
    await until('all bodies', () => core.queued.length === 65);
    const nodeSends = nodeReactor.stats().sends - before.node.sends;
    assert.ok(nodeSends <= 12, `${nodeSends} sends for 64 answers`);
    const gatewayReceives = gatewayReactor.stats().receives - before.gateway.receives;
    assert.ok(gatewayReceives <= 16, `${gatewayReceives} receives for 64 answers`);
    await until('the client has all', () => client.length === 65 * 4096);
    assert.ok(client.bytes.subarray(64 * 4096).equals(bytes));
    await until('every send is told', () => node.sent.length === 65);
    assert.ok(node.sent.every(({ errno }) => errno === 0));
    closeSync(file);
  });

  test('announces bodies of the largest small size whole', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    const bytes = patternBytes(32 * 1024);
    node.answer = (asker) => answerBytes(server, asker, bytes);
    core.onEach = (read) => peers.relayBody(read, client.connection);
    for (let read = 1; read <= 20; read++) peers.sendRead(read, 1, blocksRequest(0, bytes.length));
    await until('all bodies', () => client.length === 20 * bytes.length);
    assert.ok(client.bytes.equals(Buffer.concat(Array.from({ length: 20 }, () => bytes))));
    assert.equal(server.links, 1);
  });

  test('keeps a body that nobody takes at once', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    node.answer = (asker) => answerBytes(server, asker, Buffer.from('held'));
    peers.sendRead(1, 1, blocksRequest(0, 4));
    await until('the answer', () => core.answers.length === 1);
    peers.sendRead(2, 1, blocksRequest(0, 4));
    await until('another answer over the same arena', () => core.answers.length === 2);
    peers.relayBody(1, client.connection);
    assert.equal(core.queued.length, 0, 'an effect never calls back');
    await until('the body is queued', () => core.queued.length === 1);
    await until('the client has it', () => client.length === 4);
    assert.equal(client.bytes.toString(), 'held');
    peers.cancelRead(2);
    assert.equal(peers.readsUnderWay, 0);
  });

  test('an answer in pieces is sent whole', async () => {
    const { core, node, peers, server } = cluster;
    const client = await cluster.client();
    core.onEach = (read) => peers.relayBody(read, client.connection);
    peers.sendRead(1, 1, blocksRequest(0, 6));
    peers.sendRead(2, 1, blocksRequest(0, 4));
    await until('the reads', () => node.reads.length === 2);
    const [first, second] = node.reads.map(({ asker }) => asker);
    server.reads.beginAnswer(first!, 6);
    server.reads.continueAnswer(first!, Buffer.from('abc'));
    answerBytes(server, second!, Buffer.from('2222'));
    server.reads.continueAnswer(first!, Buffer.from('def'));
    await until('both bodies', () => client.length === 10);
    assert.equal(client.bytes.toString(), '2222abcdef');
  });

  test('an answer in pieces that is aborted fails its read only', async () => {
    const { core, node, peers, server } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 6));
    peers.sendRead(2, 1, blocksRequest(0, 4));
    await until('the reads', () => node.reads.length === 2);
    server.reads.beginAnswer(node.reads[0]!.asker, 6);
    server.reads.continueAnswer(node.reads[0]!.asker, Buffer.from('abc'));
    server.reads.abortAnswer(node.reads[0]!.asker);
    server.reads.answerFailure(node.reads[1]!.asker, 'changed', null);
    await until('both answers', () => core.answers.length === 2);
    assert.equal(core.outcome(1), 'peer');
    assert.equal(core.outcome(2), 'changed');
    assert.equal(server.links, 1);
  });

  test('a file that can’t be read is a failure, and the next answer is whole', async () => {
    const { core, node, peers, server } = cluster;
    const path = join(directory, 'short');
    writeFileSync(path, patternBytes(4096));
    truncateSync(path, 1000);
    const file = openSync(path, 'r');
    node.answer = (asker, { first }) => {
      server.reads.answerBytesFromFile(asker, file, first, 500, first + 1);
    };
    peers.sendRead(1, 1, blocksRequest(800, 500));
    peers.sendRead(2, 1, blocksRequest(100, 500));
    await until('both answers', () => core.answers.length === 2);
    assert.equal(core.outcome(1), 'peer');
    assert.equal(core.outcome(2), 'bytes');
    await until('both sends are told', () => node.sent.length === 2);
    assert.equal(node.sent.find(({ token }) => token === 801)!.errno, constants.errno.EIO);
    closeSync(file);
  });

  test('a cancelled read is told to the node and nobody hears of its answer', async () => {
    const { core, node, peers, server } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 4));
    peers.sendRead(2, 1, blocksRequest(0, 4));
    await until('the reads', () => node.reads.length === 2);
    peers.cancelRead(1);
    await until('the cancellation', () => node.cancelled.length === 1);
    assert.deepEqual(node.cancelled, [node.reads[0]!.asker]);
    answerBytes(server, node.reads[0]!.asker, Buffer.from('late'));
    answerBytes(server, node.reads[1]!.asker, Buffer.from('okay'));
    await until('the other answer', () => core.answers.length === 1);
    assert.equal(core.answers[0]!.read, 2);
    peers.cancelRead(2);
    await until('nothing is under way', () => peers.readsUnderWay === 0);
    assert.equal(server.reads.underWay, 0);
  });

  test('a cancellation that crosses its answer leaves nothing behind', async () => {
    const { core, node, peers, server } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 4));
    await until('the read', () => node.reads.length === 1);
    answerBytes(server, node.reads[0]!.asker, Buffer.from('late'));
    peers.cancelRead(1);
    await until('nothing is under way', () => peers.readsUnderWay === 0);
    assert.equal(core.answers.length, 0);
    assert.deepEqual(node.cancelled, []);
  });

  test('a read cancelled during its announcement is over', async () => {
    const { core, node, peers, server } = cluster;
    core.onEach = (read) => peers.cancelRead(read);
    node.answer = (asker) => answerBytes(server, asker, Buffer.from('body'));
    peers.sendRead(1, 1, blocksRequest(0, 4));
    await until('the answer', () => core.answers.length === 1);
    assert.equal(peers.readsUnderWay, 0);
    assert.equal(core.queued.length + core.failed.length, 0);
  });

  test('a read cancelled before the link is open is never sent', async () => {
    const { core, node, peers } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 4));
    peers.cancelRead(1);
    peers.sendRead(2, 1, blocksRequest(7, 4));
    await until('a read at the node', () => node.reads.length === 1);
    assert.equal(node.reads[0]!.first, 7);
    assert.equal(core.answers.length, 0);
  });

  test('when the link is lost its reads fail, once each, and the next read finds a new one', async () => {
    const { core, node, peers, server } = cluster;
    for (let read = 1; read <= 3; read++) peers.sendRead(read, 1, blocksRequest(0, 4));
    await until('the reads', () => node.reads.length === 3);
    peers.cancelRead(2);
    server.close();
    await until('the failures', () => core.answers.length === 2);
    assert.deepEqual(
      core.answers.map(({ read }) => [read, core.outcome(read)]),
      [
        [1, 'peer'],
        [3, 'peer'],
      ],
    );
    assert.equal(peers.readsUnderWay, 0);
    assert.equal(server.reads.underWay, 0);
    assert.deepEqual(node.cancelled.length, 3);
    const again = server.listen('127.0.0.1', 0);
    peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port: again }]);
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    peers.sendRead(4, 1, blocksRequest(0, 4));
    await until('the next answer', () => core.answers.length === 3);
    assert.equal(core.outcome(4), 'changed');
  });

  test('a send to a link that is gone is still told, after the call', async () => {
    const { node, peers, server } = cluster;
    peers.sendRead(1, 1, blocksRequest(0, 4));
    await until('the read', () => node.reads.length === 1);
    peers.close();
    await until('it is cancelled', () => node.cancelled.length === 1);
    server.reads.answerBytesFromFile(node.reads[0]!.asker, 0, 0, 4, 77);
    assert.equal(node.sent.length, 0, 'an answer method never calls back');
    await until('the send is told', () => node.sent.length === 1);
    assert.deepEqual(node.sent, [{ token: 77, errno: constants.errno.ECANCELED }]);
  });
});

test('several multiplexed links share the reads of a node', async () => {
  const cluster = new Cluster({ peer: { multiplexedLinks: 2 } });
  const { core, node, peers, server } = cluster;
  node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
  for (let read = 1; read <= 10; read++) peers.sendRead(read, 1, blocksRequest(0, 4));
  await until('all answers', () => core.answers.length === 10);
  assert.equal(server.links, 2);
  cluster.stop();
});

describe('limits of multiplexed links', () => {
  test('too many reads in the gateway are busy at once, and a cancelled one is silent', async () => {
    const cluster = new Cluster({ peer: { maxReads: 2 } });
    const { core, peers } = cluster;
    for (let read = 1; read <= 4; read++) peers.sendRead(read, 1, blocksRequest(0, 4));
    peers.cancelRead(4);
    assert.equal(core.answers.length, 0, 'an effect never calls back');
    await until('the refusal', () => core.answers.length === 1);
    assert.equal(core.outcome(3), 'busy');
    assert.equal(peers.readsRefused, 2);
    cluster.stop();
  });

  test('too many reads at the node are answered busy', async () => {
    const cluster = new Cluster({ server: { maxReads: 2 } });
    const { core, peers, server } = cluster;
    for (let read = 1; read <= 3; read++) peers.sendRead(read, 1, blocksRequest(0, 4));
    await until('the refusal', () => core.answers.length === 1);
    assert.equal(core.outcome(3), 'busy');
    assert.equal(server.reads.refused, 1);
    cluster.stop();
  });

  test('a node that is no member fails its reads', async () => {
    const cluster = new Cluster();
    const { core, peers } = cluster;
    peers.sendRead(1, 2, blocksRequest(0, 4));
    await until('the failure', () => core.answers.length === 1);
    assert.equal(core.outcome(1), 'peer');
    cluster.stop();
  });
});
