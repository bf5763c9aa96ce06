/** Nodes and a gateway, each on a host of its own in a network that the test may cut (network.ts), with objects of many sizes at S3. */
import assert from 'node:assert/strict';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { Network } from './network.ts';
import {
  agreedRing,
  NodeCluster,
  type ClusterProcess,
  type NodeClusterOptions,
} from './node-cluster.ts';
import { until } from './rig.ts';
import type { S3Client } from './s3-client.ts';
import { SteadyLoad, type LoadOptions } from './steady-load.ts';
import { version } from './versions.ts';

const sizes = [100, 20_000, 200_000, (1 << 20) + 5];

export class NetworkCluster {
  readonly network: Network;
  readonly nodes: readonly ClusterProcess[];
  readonly gateway: ClusterProcess;
  /** The host of the gateway; those of nodes are their ids. */
  readonly gatewayHost: number;
  readonly s3: MemoryS3;
  readonly #cluster: NodeCluster;
  readonly #client: S3Client;
  readonly #objects: ReadonlyMap<string, Buffer>;

  private constructor(
    network: Network,
    cluster: NodeCluster,
    nodes: readonly ClusterProcess[],
    { gateway, client }: { readonly gateway: ClusterProcess; readonly client: S3Client },
    objects: ReadonlyMap<string, Buffer>,
  ) {
    this.network = network;
    this.nodes = nodes;
    this.gateway = gateway;
    this.gatewayHost = nodes.length;
    this.s3 = cluster.s3;
    this.#cluster = cluster;
    this.#client = client;
    this.#objects = objects;
  }

  static async start(nodeCount: number, options: NodeClusterOptions = {}): Promise<NetworkCluster> {
    const network = Network.start(nodeCount + 1);
    const cluster = await NodeCluster.begin({
      ...options,
      s3Host: '0.0.0.0',
      placeOf: (of) => network.placeOf(of === 'gateway' ? nodeCount : of),
    });
    const objects = new Map<string, Buffer>();
    for (let at = 0; at < 32; at++) {
      const key = `object-${at}`;
      const bytes = version(key, sizes[at % sizes.length]!);
      objects.set(key, bytes);
      cluster.s3.put('bucket', key, bytes);
    }
    const names = Array.from({ length: nodeCount }, (_, id) => id);
    const nodes = await Promise.all(names.map((id) => cluster.startNode(id, { names })));
    const ways = await cluster.startGateway({ names });
    await agreedRing([...nodes, ways.gateway], nodeCount);
    return new NetworkCluster(network, cluster, nodes, ways, objects);
  }

  get all(): readonly ClusterProcess[] {
    return [...this.nodes, this.gateway];
  }

  /** Drops what goes one way, or both. */
  cut(from: number, to: number, bothWays = false): void {
    this.network.cut(from, to);
    if (bothWays) this.network.cut(to, from);
  }

  mend(from: number, to: number, bothWays = false): void {
    this.network.mend(from, to);
    if (bothWays) this.network.mend(to, from);
  }

  /** Reads everything, over and over, while something happens. Each answer must come, and be right; `onRead` is told of it. */
  async readsThrough(
    happens: (load: SteadyLoad) => Promise<void>,
    onRead: LoadOptions['onRead'] = () => undefined,
    client = this.#client,
  ): Promise<void> {
    const objects = this.#objects;
    const load = new SteadyLoad({ client, bucket: 'bucket', objects, atATime: 4, onRead });
    try {
      await this.furtherReads(load, this.#objects.size);
      await happens(load);
    } finally {
      await load.stop();
    }
    assert.deepEqual(load.failures, []);
  }

  /** Waits until so many more answers have come. */
  async furtherReads(load: SteadyLoad, count: number): Promise<void> {
    const goal = load.reads + count;
    const isThere = (): boolean => load.reads >= goal || load.failures.length > 0;
    await until(`${count} further reads`, isThere, 60_000);
  }

  /** How many blocks a node was asked for. */
  blockReads(nodeId: number): Promise<number> {
    return this.nodes[nodeId]!.metric('s3accel_node_block_reads_total');
  }

  /** Waits until these nodes know so many as alive, or as down. */
  async known(nodeIds: readonly number[], status: 'alive' | 'down', count: number): Promise<void> {
    const metric = `s3accel_cluster_nodes_${status}`;
    const isKnown = async (): Promise<boolean> => {
      const counts = await Promise.all(nodeIds.map((id) => this.nodes[id]!.metric(metric)));
      return counts.every((each) => each === count);
    };
    await until(`${count} ${status} for nodes ${nodeIds.join(', ')}`, isKnown, 60_000);
  }

  async stop(): Promise<void> {
    await this.#cluster.stop();
    this.network.stop();
  }
}
