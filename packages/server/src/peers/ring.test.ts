/** The ring on its way over links: asked for as they open, after an answer with another mark, and when a node says so. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { encodeRingAnswer, encodeRingRequest } from '@s3-accelerator/protocol/ring-message.ts';
import { encodeBareFrame, frameHeaderBytes, FrameType } from '@s3-accelerator/protocol/frame.ts';
import { ProcessRing } from '../cluster/process-ring.ts';
import { blocksRequest, Cluster, until } from './testing/cluster.ts';
import { RawEnd, rawNode } from './testing/raw-end.ts';

const now = (): number => performance.now();
const newRing = (isFollowed: boolean): ProcessRing =>
  new ProcessRing({ windowMs: 60_000, isFollowed, now });
const ringOf = (version: number, ...nodeIds: number[]): Ring =>
  new Ring(
    version,
    nodeIds.map((nodeId) => ({ nodeId, weight: 1, address: `127.0.0.1:${9000 + nodeId}` })),
  );

describe('the ring over links', () => {
  let cluster: Cluster;
  let atNode: ProcessRing;
  let atGateway: ProcessRing;
  const seen: number[] = [];

  beforeEach(() => {
    cluster = new Cluster({ peer: { pingMs: 100 } });
    atNode = newRing(false);
    atGateway = newRing(true);
    seen.length = 0;
    atNode.onNewerSeen = (version) => void seen.push(version);
    atNode.advance(ringOf(5, 1, 2));
    atNode.advance(ringOf(6, 1, 2, 3));
    cluster.server.ring = atNode;
    cluster.peers.ring = atGateway;
  });
  afterEach(() => {
    cluster.stop();
  });

  const opened = (): Promise<void> => until('a link', () => cluster.peers.reachesAny());

  test('comes as a link opens, with its past', async () => {
    await opened();
    await until('the ring', () => atGateway.version === 6);
    assert.deepEqual(atGateway.current.members, atNode.current.members);
    assert.deepEqual(
      atGateway.newerThan(0).map(({ ring }) => ring.version),
      [6, 5],
    );
    assert.deepEqual(seen, []);
  });

  test('comes again when the node says that it has another', async () => {
    await opened();
    await until('the ring', () => atGateway.version === 6);
    atNode.advance(ringOf(7, 1));
    cluster.server.ringChanged();
    await until('the next ring', () => atGateway.version === 7);
  });

  test('comes again when an answer carries the mark of another', async () => {
    const { core, node, peers, server } = cluster;
    node.answer = (asker) => server.reads.answerFailure(asker, 'changed', null);
    await opened();
    await until('the ring', () => atGateway.version === 6);
    atNode.advance(ringOf(7, 1));
    const reads = setInterval(() => peers.sendRead(now(), 1, blocksRequest(0, 4)), 20);
    await until('the next ring', () => atGateway.version === 7).finally(() => clearInterval(reads));
    assert.ok(core.answers.length > 0);
  });

  test('isn’t asked for by who has gossip', async () => {
    const ownGossip = newRing(false);
    cluster.peers.ring = ownGossip;
    await opened();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(ownGossip.version, 0);
  });

  test('a node hears of a newer one from who asks', async () => {
    atGateway.advance(ringOf(9, 1));
    await opened();
    await until('the node knows', () => seen.length > 0);
    assert.deepEqual([seen[0], atGateway.version], [9, 9]);
  });

  test('a question on an exclusive link, or one that makes no sense, ends the link', async () => {
    const question = Buffer.alloc(24);
    encodeRingRequest(question, 0, 1, 0);
    const exclusive = RawEnd.ask(cluster.port, 'exclusive');
    await until('it is open', () => exclusive.open);
    exclusive.socket.write(question);
    await until('it is closed', () => exclusive.closed);

    const short = RawEnd.ask(cluster.port, 'multiplexed');
    await until('it is open', () => short.open);
    const bare = Buffer.alloc(frameHeaderBytes);
    encodeBareFrame(bare, 0, FrameType.ringRequest, 1);
    short.socket.write(bare);
    await until('it is closed', () => short.closed);
  });

  test('an answer that nobody asked for ends the link', async (context) => {
    const ends: RawEnd[] = [];
    const node = await rawNode((end) => ends.push(end));
    context.after(() => {
      node.close();
    });
    cluster.peers.ring = newRing(false);
    cluster.peers.setMembers([{ nodeId: 2, host: '127.0.0.1', port: node.port }]);
    await opened();
    const told = [{ ring: ringOf(50, 1), replacedForMs: 0 }];
    ends[0]!.socket.write(encodeRingAnswer(0, told));
    await until('one line', () => cluster.gatewayLog.count('(unasked)') === 1);
    await until('its end', () => ends[0]!.closed);
  });
});
