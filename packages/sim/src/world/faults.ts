/**
 * What goes wrong in a run besides single requests, until it is told to stop. Then all that is broken is mended, so that everything
 * can come to rest. What happens to the cluster as such is in cluster-changes.ts.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { FaultOptions } from '../options.ts';
import { ClusterChanges } from './cluster-changes.ts';
import { FaultSchedule } from './fault-schedule.ts';
import type { GatewayHost } from './gateway-host.ts';
import type { NodeHost } from './node-host.ts';
import type { World } from './world.ts';

/** How long a node may take to end when it is asked to. */
const stopMs = 3000;

export class Faults {
  readonly #world: World;
  readonly #options: FaultOptions;
  readonly #schedule: FaultSchedule;
  readonly #changes: ClusterChanges;
  #stoppedAt = 0;

  constructor(world: World) {
    this.#world = world;
    this.#options = world.options.faults;
    this.#schedule = new FaultSchedule(world, this.#options.lastingMs);
    this.#changes = new ClusterChanges(world, this.#schedule);
  }

  /** When the last fault was over, 0 before. */
  get stoppedAt(): number {
    return this.#stoppedAt;
  }

  get hasStopped(): boolean {
    return this.#schedule.hasStopped;
  }

  start(): void {
    const faults = this.#options;
    const schedule = this.#schedule;
    this.#changes.start();
    schedule.repeat('links', faults.linkResetMs, (prng) => {
      this.#resetLink(prng);
    });
    schedule.repeat('partitions', faults.partitionMs, (prng) => {
      this.#partition(prng);
    });
    schedule.repeat('crashes', faults.crashMs, (prng) => {
      this.#crash(prng);
    });
    schedule.repeat('restarts', faults.restartMs, (prng) => {
      this.#restart(prng);
    });
    schedule.repeat('slowness', faults.slowNodeMs, (prng) => {
      this.#slowDown(prng);
    });
    schedule.repeat('gateways', faults.gatewayRestartMs, (prng) => {
      this.#restartGateway(prng);
    });
    schedule.repeat('cuts', faults.cutMs, (prng) => {
      this.#cutSlab(prng);
    });
  }

  /** No more faults, and everything works again. */
  stop(): void {
    const world = this.#world;
    this.#stoppedAt = world.queue.now;
    world.origin.faultPercent = 0;
    world.writes.faultPercent = 0;
    world.diskWritePercent = 0;
    world.diskReadPercent = 0;
    world.datagrams.lostPercent = 0;
    world.datagrams.twicePercent = 0;
    world.network.heal();
    this.#schedule.stop();
  }

  #resetLink(prng: Prng): void {
    const { network } = this.#world;
    const links = [...network.links];
    const link = links[prng.below(Math.max(1, links.length))];
    if (link === undefined) return;
    this.#schedule.note(
      'link reset',
      `a link of gateway ${link.gateway.place}`,
      link.gateway.place,
    );
    network.reset(link);
  }

  #partition(prng: Prng): void {
    const { network, gateways, nodes } = this.#world;
    const gateway = prng.pick(gateways).place;
    const node = prng.pick(nodes);
    const ms = this.#schedule.drawLastingMs(prng);
    const isOneWay = prng.chance(0.5);
    const isOutward = prng.chance(0.5);
    const what = `between gateway ${gateway} and node ${node.nodeId}`;
    const record = this.#schedule.note(isOneWay ? 'one-way partition' : 'partition', what, gateway);
    if (!isOneWay || isOutward) network.block(gateway, node.place, ms);
    if (!isOneWay || !isOutward) network.block(node.place, gateway, ms);
    this.#schedule.last(record, ms, () => undefined);
  }

  #crash(prng: Prng): void {
    const host = this.#upNode(prng);
    const ms = this.#schedule.drawLastingMs(prng);
    const losesPower = prng.chance(0.7);
    if (host === null) return;
    const record = this.#schedule.note('node crashed', `node ${host.nodeId}`);
    this.#world.gatewayBeside(host.nodeId)?.killIfUp();
    if (losesPower) host.crash(this.#options.lostSectorPercent / 100);
    else host.kill();
    if (prng.below(100) < this.#options.rotPercent) this.#rot(prng, host);
    this.#schedule.last(record, ms, () => {
      this.#startAgain(host);
    });
  }

  #restart(prng: Prng): void {
    const host = this.#upNode(prng);
    const ms = this.#schedule.drawLastingMs(prng);
    if (host === null || host.isStopping) return;
    const record = this.#schedule.note('node restarted', `node ${host.nodeId}`);
    this.#world.gatewayBeside(host.nodeId)?.killIfUp();
    host.stop();
    // What doesn't come to its end in time is killed, as service managers do.
    this.#schedule.last(record, ms + stopMs, () => {
      if (host.isStopping) host.kill();
      this.#startAgain(host);
    });
  }

  #slowDown(prng: Prng): void {
    const { network, nodes } = this.#world;
    const host = prng.pick(nodes);
    const ms = this.#schedule.drawLastingMs(prng);
    const slowness = 300 * prng.fraction();
    const isDisk = prng.chance(0.5);
    const record = this.#schedule.note('slow node', `node ${host.nodeId}`);
    if (isDisk) host.files.disk.slownessMs = slowness;
    else network.slow(host.place, slowness);
    this.#schedule.last(record, ms, () => {
      host.files.disk.slownessMs = 0;
      network.slow(host.place, 0);
    });
  }

  #restartGateway(prng: Prng): void {
    const host: GatewayHost = prng.pick(this.#world.gateways);
    const ms = this.#schedule.drawLastingMs(prng);
    // One that shares its process with a node goes when that one does.
    if (host.run === null || this.#world.nodeBeside(host.gatewayId) !== null) return;
    const record = this.#schedule.note(
      'gateway restarted',
      `gateway ${host.gatewayId}`,
      host.gatewayId,
    );
    host.killIfUp();
    this.#schedule.last(record, ms, () => {
      host.start();
    });
  }

  #cutSlab(prng: Prng): void {
    const { files, nodeId } = prng.pick(this.#world.nodes);
    const pages = Math.floor(files.slabBytes / 4096);
    const kept = prng.below(Math.max(1, pages - 1));
    this.#schedule.note('slab cut', `node ${nodeId}`);
    files.setSlabBytes(4096 * (1 + kept));
  }

  /** Bytes rot where nobody trusts the disk: only what an unclean end left is looked at again before it is served. */
  #rot(prng: Prng, { files, nodeId }: NodeHost): void {
    const offsets = files.untrustedOffsets();
    if (offsets.length === 0) return;
    this.#schedule.note('bit rot', `node ${nodeId}`);
    files.rot(prng.pick(offsets));
  }

  /** A node's process is up again, with the gateway in it, unless another fault's end brought it up before. */
  #startAgain(host: NodeHost): void {
    host.startIfDown();
    this.#world.gatewayBeside(host.nodeId)?.startIfDown();
  }

  #upNode(prng: Prng): NodeHost | null {
    const host = prng.pick(this.#world.nodes);
    return host.run === null ? null : host;
  }
}
