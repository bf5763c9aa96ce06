/**
 * A gateway's reads of nodes: the links they go over, their answers, and body bytes on their way to clients.
 *
 * Checks the effects' rules: a read is sent once, and its body is relayed once. A body that isn't relayed yet is held here.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { ExchangeId, GatewayEffects, ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import type { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import { newReadAnswer, type ReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import { newLane, type Link, type LinkEnd } from './network.ts';
import type { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';
import { ReadTransfer, type AnswerTaker } from './read-transfer.ts';
import type { Surroundings } from './surroundings.ts';

type ReadEffects = Pick<GatewayEffects, 'sendRead' | 'cancelRead' | 'relayBody'>;

/** How soon a lost node is looked for. */
const reconnectMs = 50;

export interface ReadTransfersOptions {
  readonly world: Surroundings;
  readonly nodes: readonly NodeHost[];
  readonly end: LinkEnd;
  readonly gateway: () => Gateway;
  /** The process's own clock. */
  readonly now: () => number;
  /** Body bytes for a client. */
  readonly onBody: (exchange: ExchangeId, bytes: Uint8Array) => void;
  readonly onCancelledByTick: (transfer: ReadTransfer) => void;
  readonly afterEvent: () => void;
}

export class ReadTransfers implements ReadEffects, AnswerTaker {
  readonly #options: ReadTransfersOptions;
  readonly #transfers = new Map<ReadId, ReadTransfer>();
  readonly #links: (Link | null)[];
  #isTicking = false;
  #isOver = false;

  constructor(options: ReadTransfersOptions) {
    this.#options = options;
    this.#links = options.nodes.map(() => null);
  }

  /** Reads that are out. */
  get size(): number {
    return this.#transfers.size;
  }

  /** The process is over. */
  stop(): void {
    this.#isOver = true;
    for (const transfer of this.#transfers.values()) transfer.isOver = true;
    this.#transfers.clear();
  }

  /** The link to a node, made if need be; `run` is null where nobody listens. */
  linkTo(nodeId: number): { readonly link: Link; readonly run: NodeRun | null } {
    const { run, place } = this.#options.nodes[nodeId]!;
    const known = this.#links[nodeId];
    if (known?.gatewayHasIt === true) {
      return { link: known, run: known.node === run ? run : null };
    }
    const { world, end } = this.#options;
    const { network } = world;
    const link = run === null ? network.refuse(end, place) : network.connect(end, run);
    this.#links[nodeId] = link;
    this.#shakeHands(nodeId, link);
    return { link, run };
  }

  /** The machine looks at its deadlines: what it cancels meanwhile has run out, or belongs to somebody whose read has. */
  tick(now: number): void {
    this.#isTicking = true;
    this.#options.gateway().onTick(now);
    this.#isTicking = false;
  }

  linkLost(link: Link): void {
    this.#reconnectLater(link);
    for (const transfer of [...this.#transfers.values()]) {
      if (transfer.link !== link || transfer.isOver) continue;
      if (transfer.isAnnounced) this.onBreak(transfer);
      else this.onAnswer(transfer, newReadAnswer());
    }
  }

  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void {
    const { gateway, now, afterEvent } = this.#options;
    transfer.isAnnounced = true;
    transfer.bodyLength = answer.bodyLength;
    if (answer.bodyLength === 0) this.#end(transfer);
    gateway().onAnswer(now(), transfer.read, answer);
    this.#relay(transfer);
    afterEvent();
  }

  onBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    transfer.arrived.push(bytes);
    this.#relay(transfer);
    this.#options.afterEvent();
  }

  onBreak(transfer: ReadTransfer): void {
    transfer.hasBrokenOff = true;
    this.#relay(transfer);
    this.#options.afterEvent();
  }

  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    assert(!this.#transfers.has(read), 'a read is sent once');
    const { world } = this.#options;
    const { link, run } = this.linkTo(nodeId);
    const transfer = new ReadTransfer(read, request, link, run, this, world.queue.now);
    this.#transfers.set(read, transfer);
    world.network.toNode(link, transfer.toNode, () => run?.take(transfer));
  }

  cancelRead(read: ReadId): void {
    const transfer = this.#transfers.get(read);
    assert(transfer !== undefined, 'only a read that is out is cancelled');
    this.#end(transfer);
    if (this.#isTicking) this.#options.onCancelledByTick(transfer);
    const { link, node, toNode } = transfer;
    this.#options.world.network.toNode(link, toNode, () => node?.cancel(transfer));
  }

  relayBody(exchange: ExchangeId, read: ReadId): void {
    const transfer = this.#transfers.get(read);
    assert(transfer?.isAnnounced === true && !transfer.isOver, 'relays what was announced');
    assert(transfer.relayedTo < 0, 'a body is relayed once');
    transfer.relayedTo = exchange;
    // A body that was held: what has arrived of it goes on once this effect's event has returned.
    this.#options.world.queue.in(0, () => {
      this.#relay(transfer);
      this.#options.afterEvent();
    });
  }

  /** The other end answers: its process lives. */
  #shakeHands(nodeId: number, link: Link): void {
    const { world, gateway, now, afterEvent } = this.#options;
    const { network } = world;
    const lane = newLane();
    network.toNode(link, lane, () => {
      network.toGateway(link, lane, () => {
        gateway().onNodeReached(now(), nodeId);
        afterEvent();
      });
    });
  }

  /** A node that was lost is looked for until it is there again. */
  #reconnectLater(link: Link): void {
    const nodeId = this.#links.indexOf(link);
    if (nodeId < 0) return;
    this.#links[nodeId] = null;
    this.#options.world.queue.in(reconnectMs, () => {
      if (!this.#isOver) this.linkTo(nodeId);
    });
  }

  /** Moves what has arrived to the client, and tells the core when that was all. */
  #relay(transfer: ReadTransfer): void {
    const { relayedTo, arrived, read } = transfer;
    if (relayedTo < 0 || transfer.isOver) return;
    const { gateway, now, onBody } = this.#options;
    for (let bytes = arrived.shift(); bytes !== undefined; bytes = arrived.shift()) {
      onBody(relayedTo, bytes);
      transfer.queuedBytes += bytes.length;
    }
    const { queuedBytes } = transfer;
    if (queuedBytes === transfer.bodyLength) {
      this.#end(transfer);
      gateway().onBodyQueued(now(), relayedTo, read);
    } else if (transfer.hasBrokenOff) {
      this.#end(transfer);
      gateway().onBodyFailed(now(), relayedTo, read, queuedBytes);
    }
  }

  #end(transfer: ReadTransfer): void {
    transfer.isOver = true;
    this.#transfers.delete(transfer.read);
  }
}
