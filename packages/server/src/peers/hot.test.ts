// Hot hints beside answers, and what nodes tell each other, over real sockets.
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { newNodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { HotHint } from '@s3-accelerator/core/read.ts';
import { blocksRequest, Cluster, lookupRequest, patternBytes, until } from './testing/cluster.ts';

const mebibyte = 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'hot-'));
const bytes = patternBytes(mebibyte);
writeFileSync(join(directory, 'slab'), bytes);
const file = openSync(join(directory, 'slab'), 'r');
after(() => {
  closeSync(file);
  rmSync(directory, { recursive: true });
});

const hint: HotHint = { remainingMs: 1234, nodes: [3, 1, 2] };

describe('over a link', () => {
  let cluster: Cluster;
  const hints: HotHint[] = [];
  beforeEach(() => {
    cluster = new Cluster();
    hints.length = 0;
    let token = 0;
    cluster.node.answer = (asker, { kind, first, last }) => {
      token += 1;
      const { server } = cluster;
      if (kind === 'blocks') {
        server.reads.answerBytesFromFile(asker, file, first, last - first + 1, token, hint);
        return;
      }
      const version = { h0: 1, h1: 2, h2: 3, h3: 4 };
      const object = { etag: '"e"', size: 9, lastModified: 5, knowsChecksums: true, version };
      const metadata = { ...object, headerLines: new Uint8Array(0) };
      server.reads.answerMetadata(asker, { metadata, ageMs: 1, lifetimeMs: 2, hot: hint });
    };
  });
  afterEach(() => {
    cluster.stop();
  });

  test('a hint comes with small answers, with large ones and with metadata', async () => {
    const { core, peers, gatewayReactor } = cluster;
    const client = await cluster.client();
    core.onEach = (read, answer) => {
      hints.push(structuredClone(answer.hot));
      if (answer.bodyLength > 0) peers.relayBody(read, client.connection);
    };
    peers.sendRead(1, 1, lookupRequest(0));
    peers.sendRead(2, 1, blocksRequest(7, 4096));
    await until('the small body', () => core.queued.length === 1);
    for (let read = 3; read <= 5; read++) {
      peers.sendRead(read, 1, blocksRequest(0, mebibyte));
      await until('a large body', () => core.queued.length === read - 1);
    }
    await until('all bytes', () => client.length === 4096 + 3 * mebibyte);
    assert.deepEqual(hints, [hint, hint, hint, hint, hint]);
    assert.ok(client.bytes.subarray(0, 4096).equals(bytes.subarray(7, 4103)));
    assert.ok(client.bytes.subarray(4096 + 2 * mebibyte).equals(bytes));
    assert.equal(gatewayReactor.stats().copiedBytes, 0, 'large bodies stay in the kernel');
  });

  test('messages arrive in the order in which they were sent, those from before it was open too', async () => {
    const { node, peers } = cluster;
    const message = newNodeMessage();
    message.from = 8;
    message.leaseMs = 10;
    for (let turn = 1; turn <= 3; turn++) peers.sendMessage(1, Object.assign(message, { turn }));
    await until('the link is open', () => node.messages.length === 3);
    message.kind = 'report';
    message.reads = 77;
    for (let turn = 4; turn <= 5; turn++) peers.sendMessage(1, Object.assign(message, { turn }));
    await until('the others', () => node.messages.length === 5);
    assert.deepEqual(
      node.messages.map(({ kind, from, turn }) => [kind, from, turn]),
      [1, 2, 3, 4, 5].map((turn) => [turn < 4 ? 'lease' : 'report', 8, turn]),
    );
    assert.equal(node.messages[4]!.reads, 77);
  });

  test('a message to a node that isn’t there is lost, and nothing else is', async () => {
    const { node, peers } = cluster;
    const message = newNodeMessage();
    message.turn = 1;
    message.leaseMs = 1;
    peers.sendMessage(2, message);
    peers.sendMessage(1, message);
    await until('the one that can arrive', () => node.messages.length === 1);
  });
});
