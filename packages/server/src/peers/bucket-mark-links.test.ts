// What a node says of its buckets, on its way over links: as they open, and when it changes.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Cluster, until } from './testing/cluster.ts';

describe('a node’s settings of buckets over links', () => {
  let cluster: Cluster;

  beforeEach(() => {
    cluster = new Cluster({ peer: { pingMs: 100, multiplexedLinks: 1 } });
  });
  afterEach(() => {
    cluster.stop();
  });

  const opened = (): Promise<void> => until('a link', () => cluster.peers.reachesAny());
  const changes = (): number => cluster.core.bucketChanges;

  test('are told as a link opens, and make nothing void while they are the same', async () => {
    cluster.server.tellBucketMark(7);
    await opened();
    cluster.server.tellBucketMark(7);
    cluster.server.tellBucketMark(8);
    await until('the other mark', () => changes() > 0);
    assert.equal(changes(), 1, 'not as the link opened, nor when it was told the same');
  });

  test('are told by a link that opens after they changed', async () => {
    cluster.server.tellBucketMark(7);
    await opened();
    cluster.server.close();
    await until('no link', () => cluster.server.links === 0 && !cluster.peers.reachesAny());
    cluster.server.tellBucketMark(8);
    cluster.server.listen('127.0.0.1', cluster.port);
    await until('the other mark', () => cluster.peers.reachesAny() && changes() > 0);
    assert.equal(changes(), 1);
  });
});
