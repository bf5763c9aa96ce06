/**
 * The whole of a run: gateways, nodes, S3, the network between them and the clients before them, from one set of options.
 *
 * Places in the network: gateways first, then nodes.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { defaultGatewayLimits, type GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import { HEADER_BYTES } from '@s3-accelerator/core/journal/table-header.ts';
import { Layout } from '@s3-accelerator/core/layout.ts';
import { defaultNodeLimits, type NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import { type Member, Ring } from '@s3-accelerator/core/ring.ts';
import { Checkers } from '../checkers/checkers.ts';
import type { Rules } from '../checkers/rules.ts';
import { History } from '../history/history.ts';
import type { ProcessLife } from '../history/ring-record.ts';
import { streamOf, type RunOptions } from '../options.ts';
import { Oracle } from '../oracle/oracle.ts';
import { Situations } from '../situations.ts';
import type { Trace } from '../trace.ts';
import { isSettled, ringRecordOf, viewOf } from './cluster-view.ts';
import { Datagrams } from './datagrams.ts';
import { ModelDisk } from './disk.ts';
import { countGateway, countNode } from './counted.ts';
import { EventQueue } from './event-queue.ts';
import { GatewayHost } from './gateway-host.ts';
import type { GatewayRun } from './gateway-run.ts';
import type { GossipPlace } from './gossip.ts';
import { Identities } from './identity.ts';
import { timingOf } from './membership-timing.ts';
import { Network } from './network.ts';
import { NodeFiles } from './node-files.ts';
import { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';
import { Origin } from './origin.ts';
import { OriginWrites } from './origin-writes.ts';
import { ProcessClock } from './process-clock.ts';
import type { Surroundings } from './surroundings.ts';
import { credentials } from './workload.ts';

/** The wall clock at the beginning of every run: 2001-09-09. */
const epochSeconds = 1_000_000_000;
/** How long an end waits for the other one before it gives a link up. */
const linkTimeoutMs = 1000;
/** More than timers of processes are late. */
const timersMs = 50;
/** By then nodes that start together have found each other, whatever their pace. */
const foundedMs = 60_000;

export class World implements Surroundings {
  readonly seed: number;
  readonly options: RunOptions;
  readonly queue = new EventQueue();
  readonly trace: Trace;
  readonly oracle = new Oracle(epochSeconds);
  readonly history = new History(credentials);
  readonly situations = new Situations();
  readonly identities = new Identities();
  readonly checkers: Checkers;
  readonly network: Network;
  readonly datagrams: Datagrams;
  readonly origin: Origin;
  readonly writes: OriginWrites;
  readonly originPrng: Prng;
  readonly layout: Layout;
  /** Told when a process places by another ring. */
  onRingAdopted: (by: ProcessLife, ring: Ring) => void = () => undefined;
  readonly nodes: NodeHost[] = [];
  readonly gateways: GatewayHost[] = [];
  /** Errors of disks, of a hundred operations. */
  diskWritePercent: number;
  diskReadPercent: number;
  readonly #timerPrng: Prng;
  readonly #gossipPrng: Prng;
  readonly #configured: readonly Member[];
  readonly #hosts = new Map<string, NodeHost>();
  #newestRing: Ring = new Ring(0, []);
  readonly #diskFaultPrng: Prng;

  constructor(options: RunOptions, trace: Trace) {
    const { seed, cluster, delays, faults } = options;
    const { queue, oracle, history } = this;
    this.seed = seed;
    this.options = options;
    this.trace = trace;
    this.checkers = new Checkers(history, oracle, rulesOf(options), cluster.sizes.blockBytes);
    this.layout = new Layout(cluster.sizes);
    this.network = new Network(queue, streamOf(seed, 'network'), {
      networkMs: delays.networkMs,
      latePercent: delays.lateMessagePercent,
      linkTimeoutMs,
      places: cluster.gateways + cluster.nodes + cluster.spareNodes,
    });
    const { networkMs } = delays;
    const plain = { networkMs, lostPercent: 0, twicePercent: 0 };
    this.datagrams = new Datagrams(queue, streamOf(seed, 'datagrams'), this.network, plain);
    this.originPrng = streamOf(seed, 'origin/bytes');
    const prng = streamOf(seed, 'origin');
    const { originMs } = delays;
    const { situations } = this;
    this.origin = new Origin(
      { queue, prng, oracle, history, situations, originMs },
      faults.originPercent,
    );
    const writePrng = streamOf(seed, 'origin/writes');
    this.writes = new OriginWrites(queue, oracle, writePrng, faults.lostWritePercent);
    this.diskWritePercent = faults.diskWritePercent;
    this.diskReadPercent = faults.diskReadPercent;
    this.#timerPrng = streamOf(seed, 'timers');
    this.#diskFaultPrng = streamOf(seed, 'disks/faults');
    this.#gossipPrng = streamOf(seed, 'gossip/timers');
    const members = membersOf(cluster.nodes + cluster.spareNodes);
    this.#configured = members.slice(0, cluster.nodes);
    const clockPrng = streamOf(seed, 'clocks');
    const spareClockPrng = streamOf(seed, 'clocks/spare');
    for (const member of this.#configured) this.#addNode(member, clockPrng);
    for (let i = 0; i < cluster.gateways; i++) this.gateways.push(this.#gateway(i, clockPrng));
    for (const member of members.slice(cluster.nodes)) this.#addNode(member, spareClockPrng);
    this.#found();
    this.datagrams.lostPercent = faults.datagramLostPercent;
    this.datagrams.twicePercent = faults.datagramTwicePercent;
  }

  /** The newest ring that any process has placed by. */
  get ring(): Ring {
    return this.#newestRing;
  }

  timerLatenessMs(): number {
    return this.#timerPrng.fraction() * 20;
  }

  gossipLatenessMs(): number {
    return this.#gossipPrng.fraction() * 20;
  }

  placeOf(address: string): GossipPlace {
    return this.#hosts.get(address)!;
  }

  ringAdopted(by: ProcessLife, ring: Ring): void {
    if (ring.version > this.#newestRing.version) this.#newestRing = ring;
    const record = ringRecordOf(by, this.queue.now, ring);
    this.history.ringAdopted(record);
    this.checkers.ringAdopted(record);
    this.onRingAdopted(by, ring);
  }

  /** Whether all that run know of each other and place by one ring: then nothing changes any more by itself. */
  get isSettled(): boolean {
    return isSettled(this);
  }

  /** Nodes say nothing more to each other: at the end, when all is settled. */
  endGossip(): void {
    for (const { gossip } of this.nodes) gossip?.end();
  }

  /** The node that shares a gateway's process, null for none. */
  nodeBeside(gatewayId: number): NodeHost | null {
    return this.options.cluster.sharesProcesses ? (this.nodes[gatewayId] ?? null) : null;
  }

  /** The gateway that shares a node's process, null for none. */
  gatewayBeside(nodeId: number): GatewayHost | null {
    return this.options.cluster.sharesProcesses ? (this.gateways[nodeId] ?? null) : null;
  }

  /** Holds what all processes hold against their limits. */
  look(): void {
    for (const run of this.#runs()) this.checkers.stateSeen(run.state());
  }

  /** Nothing is under way: nothing may be left of anything, and all that is stored must be right. */
  lookAtRest(): void {
    for (const run of this.#runs()) this.checkers.restSeen(run.state());
    this.checkers.clusterSeen(viewOf(this));
    for (const { run } of this.nodes) {
      run?.checkDurable();
      run?.checkStored();
    }
  }

  /** Counts what the lives that still go on have counted. */
  countSituations(): void {
    for (const { run } of this.nodes) {
      if (run !== null) countNode(this.situations, run);
    }
    for (const { loops } of this.gateways) {
      for (const run of loops) countGateway(this.situations, run.gateway.counters);
    }
  }

  /** The nodes find each other, and the gateways them, before anything else happens. */
  #found(): void {
    for (const { nodeId } of this.#configured) this.nodes[nodeId]!.start();
    for (const host of this.gateways) {
      host.onRunEnded = (counters) => {
        countGateway(this.situations, counters);
      };
      host.start();
    }
    while (!this.isSettled) {
      assert(this.queue.now < foundedMs, 'nodes that start together find each other');
      this.queue.step();
    }
  }

  /** All that runs. */
  #runs(): (NodeRun | GatewayRun)[] {
    const nodes = this.nodes.map(({ run }) => run).filter((run) => run !== null);
    return [...nodes, ...this.gateways.flatMap(({ loops }) => loops)];
  }

  #addNode(self: Member, clockPrng: Prng): void {
    const host = this.#node(self, clockPrng);
    host.onRunEnded = (run) => {
      countNode(this.situations, run);
    };
    this.nodes.push(host);
    this.#hosts.set(self.address, host);
  }

  #node(self: Member, clockPrng: Prng): NodeHost {
    const { nodeId } = self;
    const { seed, cluster, node, buckets, delays } = this.options;
    const disk = new ModelDisk(this.queue, streamOf(seed, `disks/${nodeId}`), delays.diskMs);
    const maxSlabBytes = HEADER_BYTES + 2 * cluster.storeBytes;
    const sizePrng = streamOf(seed, `disks/sizes/${nodeId}`);
    const { fillBudgetBlocks, ...bounds } = node;
    const limits: NodeLimits = {
      ...defaultNodeLimits,
      ...bounds,
      fillBudgetBytes: fillBudgetBlocks * cluster.sizes.blockBytes,
      smallAnswerBytes: this.options.gateway.smallAnswerBytes,
    };
    return new NodeHost({
      world: this,
      clock: this.#clock(clockPrng),
      files: new NodeFiles(disk, streamOf(seed, `disks/files/${nodeId}`), maxSlabBytes),
      layout: this.layout,
      self,
      configured: this.#configured,
      timing: timingOf(cluster),
      nodes: this.nodes,
      limits,
      policyOf: (name) => buckets.find((bucket) => bucket.name === name)!,
      nextStoreBytes: () => this.#nextStoreBytes(sizePrng),
      doorkeeperWindowMs: cluster.doorkeeperWindowMs,
      nodeId,
      place: cluster.gateways + nodeId,
      processId: cluster.gateways + nodeId,
      writeErrno: () => this.#errno(this.diskWritePercent, 'disk write failed'),
      readErrno: () => this.#errno(this.diskReadPercent, 'disk read failed'),
    });
  }

  #gateway(gatewayId: number, clockPrng: Prng): GatewayHost {
    const { seed, delays } = this.options;
    const { blockBytes } = this.options.cluster.sizes;
    const { readAheadBlocks, maxAheadBlocks, writeSlots, ...bounds } = this.options.gateway;
    const limits: GatewayLimits = {
      ...defaultGatewayLimits,
      ...bounds,
      readAheadBytes: readAheadBlocks * blockBytes,
      maxAheadBytes: maxAheadBlocks * blockBytes,
    };
    const prng = streamOf(seed, `clients/delays/${gatewayId}`);
    const beside = this.nodeBeside(gatewayId);
    return new GatewayHost({
      world: this,
      clock: this.#clock(clockPrng),
      layout: this.layout,
      named: this.#configured.map(({ nodeId }) => nodeId),
      windowMs: this.options.node.fallbackWindowMs,
      limits,
      loops: this.options.cluster.loops,
      writeSlots,
      nodes: this.nodes,
      beside,
      gatewayId,
      place: gatewayId,
      processId: beside === null ? gatewayId : beside.place,
      maxDrift: this.options.cluster.clockDrift,
      clientDelayMs: () => delays.clientMs * 2 * prng.fraction(),
    });
  }

  /** Now and then somebody changes the capacity between two lives. */
  #nextStoreBytes(prng: Prng): number {
    const { storeBytes, resizePercent } = this.options.cluster;
    if (prng.below(100) >= resizePercent) return storeBytes;
    this.situations.arose('capacity changed');
    return storeBytes * (prng.chance(0.5) ? 2 : 0.5);
  }

  #clock(prng: Prng): ProcessClock {
    const { clockOffsetMs, clockDrift } = this.options.cluster;
    const offset = clockOffsetMs * prng.fraction();
    return new ProcessClock(this.queue, offset, clockDrift * (2 * prng.fraction() - 1));
  }

  #errno(percent: number, situation: 'disk write failed' | 'disk read failed'): number {
    if (percent === 0 || this.#diskFaultPrng.below(100) >= percent) return 0;
    this.situations.arose(situation);
    return 5;
  }
}

function rulesOf({ cluster, gateway, node }: RunOptions): Rules {
  return {
    maxDrift: cluster.clockDrift,
    faultGraceMs: 2 * gateway.readTimeoutMs + 4 * linkTimeoutMs,
    doorkeeperWindowMs: cluster.doorkeeperWindowMs,
    answerWithinMs: 200_000,
    suspicionMs: gateway.suspectMs + gateway.maxAttempts * gateway.readTimeoutMs + timersMs,
    peerRestMs: node.peerRestMs + node.peerFetchTimeoutMs + timersMs,
    hotReplicas: node.hotReplicas,
  };
}

function membersOf(count: number): Member[] {
  return Array.from({ length: count }, (_, nodeId) => {
    return { nodeId, weight: 1, address: `node-${nodeId}` };
  });
}
