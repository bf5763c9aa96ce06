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
import { RingQuestions, type RingAsker } from './ring-questions.ts';
import type { Surroundings } from './surroundings.ts';

type ReadEffects = Pick<GatewayEffects, 'sendRead' | 'cancelRead' | 'relayBody'>;

/** How soon a lost node is looked for. */
const reconnectMs = 50;

export interface ReadTransfersOptions {
  readonly world: Surroundings;
  readonly nodes: readonly NodeHost[];
  readonly end: LinkEnd;
  /** What the gateway knows of rings, null where the node in its process sees to that. */
  readonly rings: RingAsker | null;
  readonly ringVersion: () => number;
  readonly gateway: () => Gateway;
  /** The process's own clock. */
  readonly now: () => number;
  /** Body bytes for a client. */
  readonly onBody: (exchange: ExchangeId, bytes: Uint8Array) => void;
  /** A node brought nothing. */
  readonly onNodeFailed: (nodeId: number) => void;
  /** A read leaves that is to stand in for the owner of what it asks for. */
  readonly onStandIn: (nodeId: number, request: ReadRequest) => void;
  readonly onCancelledByTick: (transfer: ReadTransfer) => void;
  readonly afterEvent: () => void;
}

export class ReadTransfers implements ReadEffects, AnswerTaker {
  readonly #options: ReadTransfersOptions;
  readonly #transfers = new Map<ReadId, ReadTransfer>();
  readonly #links: (Link | null)[] = [];
  readonly #questions: RingQuestions | null;
  /** The nodes that are looked for when their links are lost. */
  #members: ReadonlySet<number> = new Set();
  #isTicking = false;
  #isOver = false;

  constructor(options: ReadTransfersOptions) {
    const { world, rings } = options;
    this.#options = options;
    this.#questions = rings && new RingQuestions(world.queue, world.network, rings);
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

  /** Keeps links to these nodes from now on. */
  setMembers(nodeIds: readonly number[]): void {
    this.#members = new Set(nodeIds);
  }

  /** Whether a member has answered on a link that is still whole; opens links where there are none. */
  reachesAny(): boolean {
    let reaches = false;
    for (const nodeId of this.#members) {
      if (this.linkTo(nodeId).link.isOpen) reaches = true;
    }
    return reaches;
  }

  /** The link to a node, made if need be; `run` is null where nobody listens. */
  linkTo(nodeId: number): { readonly link: Link; readonly run: NodeRun | null } {
    const { run, listener, place } = this.#options.nodes[nodeId]!;
    const known = this.#links[nodeId];
    if (known?.gatewayHasIt === true && !known.isLeaving) {
      return { link: known, run: known.node === run ? run : null };
    }
    const { world, end } = this.#options;
    const { network } = world;
    const link = listener === null ? network.refuse(end, place) : network.connect(end, listener);
    this.#links[nodeId] = link;
    if (listener !== null) this.#questions?.opened(link, listener);
    this.#shakeHands(nodeId, link);
    return { link, run: listener };
  }

  /** The link of a request that nobody is known for: it is lost at once. */
  noWay(): { readonly link: Link; readonly run: null } {
    const { world, end, nodes } = this.#options;
    return { link: world.network.refuse(end, nodes[0]!.place), run: null };
  }

  /** The node at the other end has shown its ring. */
  ringShown(link: Link, version: number): void {
    this.#questions?.shown(link, version);
  }

  uses(link: Link): boolean {
    for (const transfer of this.#transfers.values()) if (transfer.link === link) return true;
    return false;
  }

  /** The machine looks at its deadlines: what it cancels meanwhile has run out, or belongs to somebody whose read has. */
  tick(now: number): void {
    this.#isTicking = true;
    this.#options.gateway().onTick(now);
    this.#isTicking = false;
  }

  linkLost(link: Link): void {
    this.#questions?.lost(link);
    this.#reconnectLater(link);
    for (const transfer of [...this.#transfers.values()]) {
      if (transfer.link !== link || transfer.isOver) continue;
      if (transfer.isAnnounced) this.onBreak(transfer);
      else this.onAnswer(transfer, newReadAnswer());
    }
  }

  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void {
    const { gateway, now, onNodeFailed, afterEvent } = this.#options;
    if (isRefusal(answer)) onNodeFailed(transfer.nodeId);
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
    this.#options.onNodeFailed(transfer.nodeId);
    this.#relay(transfer);
    this.#options.afterEvent();
  }

  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    assert(!this.#transfers.has(read), 'a read is sent once');
    const { world, ringVersion, onStandIn } = this.#options;
    if (request.standsIn) onStandIn(nodeId, request);
    const { link, run } = this.linkTo(nodeId);
    const { now } = world.queue;
    const transfer = new ReadTransfer(read, nodeId, request, link, run, this, now, ringVersion());
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
        link.isOpen = true;
        gateway().onNodeReached(now(), nodeId);
        afterEvent();
      });
    });
  }

  /** A member that was lost is looked for until it is there again. */
  #reconnectLater(link: Link): void {
    const nodeId = this.#links.indexOf(link);
    if (nodeId < 0) return;
    this.#links[nodeId] = null;
    const { queue } = this.#options.world;
    queue.lookAt(queue.now + reconnectMs, () => {
      if (!this.#isOver && this.#members.has(nodeId)) this.linkTo(nodeId);
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

/** Whether the node brought nothing for a reason of its own: another one is asked. */
function isRefusal({ kind, failure }: ReadAnswer): boolean {
  return kind === 'failure' && (failure === 'peer' || failure === 'absent' || failure === 'busy');
}
