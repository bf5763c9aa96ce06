/**
 * What happens to the cluster as such in a run: nodes are added, leave, are lost for good, and can't hear each other.
 *
 * A node that is added, leaves or can't hear others costs nobody an answer. One that is lost may, until every gateway places without it. At least one of
 * the nodes that configurations name stays, for whoever starts has nobody else to ask.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { FaultRecord } from '../history/fault.ts';
import type { FaultSchedule } from './fault-schedule.ts';
import type { NodeHost } from './node-host.ts';
import type { World } from './world.ts';

/** Of a hundred partitions among nodes, how many last so long that members are taken for down. */
const longPercent = 30;
const longTimes = 10;
/** Whose answers it costs. */
const nobody = -2;

export class ClusterChanges {
  readonly #world: World;
  readonly #schedule: FaultSchedule;
  /** Nodes that are out and that some gateway asks all the same. */
  readonly #asked = new Map<NodeHost, FaultRecord>();

  constructor(world: World, schedule: FaultSchedule) {
    this.#world = world;
    this.#schedule = schedule;
    world.onRingAdopted = ({ process }, ring) => {
      if (process === 'gateway') this.#noteAsked(ring);
    };
  }

  start(): void {
    const { faults } = this.#world.options;
    const schedule = this.#schedule;
    schedule.repeat('added nodes', faults.addMs, (prng) => {
      this.#add(prng);
    });
    schedule.repeat('leaving nodes', faults.leaveMs, (prng) => {
      this.#leave(prng);
    });
    schedule.repeat('lost nodes', faults.lossMs, (prng) => {
      this.#lose(prng);
    });
    schedule.repeat('partitions among nodes', faults.nodePartitionMs, (prng) => {
      this.#part(prng);
    });
  }

  #add(prng: Prng): void {
    const host = prng.pick(this.#world.nodes);
    if (!host.isOut) return;
    this.#schedule.note('node added', `node ${host.nodeId}`, nobody);
    host.start();
  }

  #leave(prng: Prng): void {
    const host = this.#dispensable(prng);
    if (host === null) return;
    this.#schedule.note('node left the ring', `node ${host.nodeId}`, nobody);
    host.leave(this.#world.options.node.fallbackWindowMs);
  }

  #lose(prng: Prng): void {
    const host = this.#dispensable(prng);
    const lostShare = prng.fraction();
    if (host === null) return;
    const record = this.#schedule.note('node lost for good', `node ${host.nodeId}`);
    record.until = Infinity;
    this.#asked.set(host, record);
    host.crash(lostShare);
    host.isOut = true;
  }

  /** A node that may go: it runs, others do too, no gateway goes with it, and it isn't the last that is named everywhere. */
  #dispensable(prng: Prng): NodeHost | null {
    const world = this.#world;
    const host = prng.pick(world.nodes);
    const isUp = (one: NodeHost): boolean =>
      one.run?.cluster.isMember === true && !one.isStopping && !one.isLeaving;
    const others = world.nodes.filter((one) => one !== host && isUp(one));
    const stays = others.some(({ nodeId }) => nodeId < world.options.cluster.nodes);
    if (!isUp(host) || !stays || world.gatewayBeside(host.nodeId) !== null) return null;
    return host;
  }

  /** One node is parted from another, or from all others. */
  #part(prng: Prng): void {
    const { network, nodes } = this.#world;
    const one = prng.pick(nodes);
    const other = prng.pick(nodes);
    const isFromAll = prng.chance(0.5);
    const isOneWay = prng.chance(0.5);
    const isLong = prng.below(100) < longPercent;
    const ms = this.#schedule.drawLastingMs(prng) * (isLong ? longTimes : 1);
    const others = isFromAll ? nodes.filter((host) => host !== one) : [other];
    const what = `node ${one.nodeId} from ${others.map(({ nodeId }) => nodeId).join()}`;
    const situation = isOneWay ? 'nodes parted one way' : 'nodes parted';
    const record = this.#schedule.note(situation, what, nobody);
    for (const { place } of others) {
      network.block(one.place, place, ms);
      if (!isOneWay) network.block(place, one.place, ms);
    }
    this.#schedule.last(record, ms, () => undefined);
  }

  /**
   * A gateway has come to another ring. One in which a node is that is out costs answers: the node was there a moment ago, or those that
   * began a cluster anew took it for there.
   */
  #noteAsked(ring: Ring): void {
    const { nodes, gateways, queue } = this.#world;
    const rings = gateways.flatMap(({ loops }) => loops.map(({ cluster }) => cluster.ring.current));
    for (const host of nodes) {
      const record = this.#asked.get(host);
      const isIn = (one: Ring): boolean => one.member(host.nodeId) !== null;
      if (record === undefined) {
        if (host.isOut && isIn(ring)) this.#asked.set(host, this.#begin(host));
      } else if (!host.isOut || !rings.some(isIn)) {
        this.#asked.delete(host);
        record.until = queue.now;
      }
    }
  }

  #begin({ nodeId }: NodeHost): FaultRecord {
    const { history, queue } = this.#world;
    const what = `node ${nodeId} is out, and asked`;
    const { now } = queue;
    return history.faultBegan({ what, from: now, until: Infinity, gateway: -1, object: '' });
  }
}
