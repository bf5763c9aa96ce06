/**
 * A gateway's reads of nodes: the links they go over, their answers, and body bytes on their way to clients.
 *
 * Checks the effects' rules: a read is sent once, an announced body is relayed or cancelled at once, and nothing times out
 * before its time.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { ExchangeId, GatewayEffects, ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import type { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import { newReadAnswer, type ReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import type { Link, LinkEnd } from './network.ts';
import type { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';
import { ReadTransfer, type AnswerTaker } from './read-transfer.ts';
import type { Surroundings } from './surroundings.ts';

type ReadEffects = Pick<GatewayEffects, 'sendRead' | 'cancelRead' | 'relayBody'>;

export interface ReadTransfersOptions {
  readonly world: Surroundings;
  readonly nodes: readonly NodeHost[];
  readonly end: LinkEnd;
  readonly gateway: () => Gateway;
  /** The process's own clock. */
  readonly now: () => number;
  /** Body bytes for a client. */
  readonly onBody: (exchange: ExchangeId, bytes: Uint8Array) => void;
  readonly onTimeout: (transfer: ReadTransfer) => void;
  readonly afterEvent: () => void;
}

export class ReadTransfers implements ReadEffects, AnswerTaker {
  /** The machine looks at its deadlines: what it cancels now has taken too long. */
  isTicking = false;
  readonly #options: ReadTransfersOptions;
  readonly #transfers = new Map<ReadId, ReadTransfer>();
  readonly #links: (Link | null)[];

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
    return { link, run };
  }

  linkLost(link: Link): void {
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
    const isTaken = transfer.relayedTo >= 0 || transfer.isOver;
    assert(isTaken, 'a body that is announced is relayed or cancelled at once');
    this.#relay(transfer);
    afterEvent();
  }

  onBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    transfer.arrived.push(bytes);
    this.#relay(transfer);
    this.#options.afterEvent();
  }

  onBreak(transfer: ReadTransfer): void {
    const { counters } = this.#options.gateway();
    const { retries } = counters;
    transfer.hasBrokenOff = true;
    this.#relay(transfer);
    this.#options.afterEvent();
    if (counters.retries > retries) this.#options.world.situations.arose('failover mid-answer');
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
    if (this.isTicking) this.#options.onTimeout(transfer);
    const { link, node, toNode } = transfer;
    this.#options.world.network.toNode(link, toNode, () => node?.cancel(transfer));
  }

  relayBody(exchange: ExchangeId, read: ReadId): void {
    const transfer = this.#transfers.get(read);
    assert(transfer?.isAnnounced === true && !transfer.isOver, 'relays what was announced');
    assert(transfer.relayedTo < 0, 'a body is relayed once');
    transfer.relayedTo = exchange;
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
