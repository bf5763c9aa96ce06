/**
 * Runs the gateway's core: reads of objects between a client's connection and the nodes.
 *
 * A read goes to this process's own node in memory (local-reads.ts) or to another's over links (peers/). Effects act at once where
 * nothing that they call comes back into the core. What does, the local node's answers and the ends of exchanges (a server goes
 * straight on to the next request), waits for `drain`, after the event.
 *
 * The head of an answer is rendered into the reactor's output arena and kept back until its body is known, so that both leave
 * with one command: a hit is one `sendFile`.
 *
 * Tokens on client connections: a slot's number plus one (its bytes went out), or `takenToken` (the client's kernel took all).
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type {
  ExchangeId as CoreExchange,
  GatewayEffects,
  ReadId,
} from '@s3-accelerator/core/gateway/effects.ts';
import { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import type { CachedMetadata } from '@s3-accelerator/core/gateway/metadata-cache.ts';
import type { ClientRequest } from '@s3-accelerator/core/gateway/client-request.ts';
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import type { GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import type { WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type {
  ObjectMetadata,
  OriginError,
  ReadAnswer,
  ReadRequest,
} from '@s3-accelerator/core/read.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { MAX_SLOTS } from '@s3-accelerator/core/store/slot-records.ts';
import { Arena, CommandFlag } from '@s3-accelerator/native/native.ts';
import type { ConnectionId, Reactor } from '@s3-accelerator/native/reactor.ts';
import { slotMask, type ExchangeId } from '../http/exchange.ts';
import type { HttpServer } from '../http/http-server.ts';
import { slotOfToken, tokenOfSlot } from '../node/link-answers.ts';
import { localAsker, type NodeDriver } from '../node/node-driver.ts';
import type { ReadableSlab } from '../disk/disk-files.ts';
import type { PeerEvents } from '../peers/reads.ts';
import { CacheReport } from './cache-report.ts';
import { LocalReads, type LocalReadEvents } from './local-reads.ts';
import { ObjectHeads } from './object-heads.ts';
import { RemoteReads } from './remote-reads.ts';
import { noOverrides, type ResponseOverride } from './response-overrides.ts';

/** Nodes in other processes, by node id. */
export interface RemoteNodes {
  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void;
  cancelRead(read: ReadId): void;
  relayBody(read: ReadId, client: ConnectionId): void;
}

/** This process's own node. */
export interface LocalNode {
  readonly nodeId: number;
  readonly driver: NodeDriver;
  readonly slab: ReadableSlab;
}

export interface GatewayDriverOptions {
  readonly reactor: Reactor;
  readonly server: HttpServer;
  readonly ring: Ring;
  readonly layout: Layout;
  readonly limits: GatewayLimits;
  readonly epochs: WriteEpochs;
  readonly seed: number;
  readonly now: () => number;
  readonly local: LocalNode | null;
  /** The client's own request goes to S3 after all. */
  readonly passThrough: (exchange: ExchangeId) => void;
  /** The raw path that the client asked for, to be named in error documents. */
  readonly resourceOf: (exchange: ExchangeId) => string;
}

/** Beyond every slot's number. */
const takenToken = 0x7fffffff;

/** Whether a token on a client's connection is a read's: all others are passed-through requests'. */
export function isReadToken(token: number): boolean {
  return token === takenToken || (token > 0 && slotOfToken(token) < MAX_SLOTS);
}

/** How an exchange ends, once the core's event has returned. */
type Ending =
  | { readonly kind: 'abort' | 'passThrough' }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly metadata: ObjectMetadata | null }
  | { readonly kind: 'originError'; readonly error: OriginError };

/** Names no connection: what is sent there is dropped. */
const noConnection = 0 as ConnectionId;

const aborted: Ending = { kind: 'abort' };
const passedThrough: Ending = { kind: 'passThrough' };

export class GatewayDriver implements GatewayEffects, PeerEvents, LocalReadEvents {
  readonly gateway: Gateway;
  /** Set by the composition, since links need the driver. */
  remote: RemoteNodes | null = null;
  readonly #options: GatewayDriverOptions;
  readonly #localReads: LocalReads;
  readonly #heads: ObjectHeads;
  readonly #report = new CacheReport();
  /** Reads under way at other nodes, with the exchange that their body goes to (-1 before). */
  readonly #remoteReads: RemoteReads;
  /** The rendered head that waits for its body, and whose it is; -1 for none. */
  #headExchange = -1;
  #headOffset = 0;
  #headLength = 0;
  /** Exchanges whose answer is fully queued: the first `#finishedCount` of these. */
  readonly #finished: CoreExchange[] = [];
  #finishedCount = 0;
  /** Exchanges that end in any other way, and how. */
  #endings: { readonly exchange: CoreExchange; readonly ending: Ending }[] = [];
  #isDraining = false;
  /** By connection slot. */
  readonly #wantsChecksums: boolean[] = [];
  readonly #overrides: (readonly ResponseOverride[])[] = [];
  /** Slots whose client was gone when their bytes should have been sent. */
  readonly #unsentSlots: number[] = [];

  constructor(options: GatewayDriverOptions) {
    this.#options = options;
    const { ring, layout, limits, epochs, seed } = options;
    this.gateway = new Gateway({ effects: this, ring, layout, limits, epochs, seed });
    const { readSlotMask } = this.gateway;
    this.#localReads = new LocalReads(this, readSlotMask);
    this.#remoteReads = new RemoteReads(readSlotMask);
    this.#heads = new ObjectHeads(options.server);
    if (options.local !== null) {
      options.local.driver.localAnswers = this.#localReads;
      options.local.driver.afterEvent = (): void => {
        this.drain();
      };
    }
  }

  // What happens at clients.

  /**
   * A client's authorised GET or HEAD of an object. `overrides` go into the head of its answer; `isReported` says that it has a debug
   * header.
   */
  onRequest(
    exchange: ExchangeId,
    request: ClientRequest,
    overrides: readonly ResponseOverride[],
    isReported: boolean,
  ): void {
    const now = this.#options.now();
    this.#overrides[exchange & slotMask] = overrides;
    this.#wantsChecksums[exchange & slotMask] = request.wantsChecksums;
    this.#report.begin(exchange, isReported, now);
    this.gateway.onRequest(now, exchange, request);
    this.drain();
  }

  onGone(exchange: ExchangeId): void {
    this.gateway.onClientGone(this.#options.now(), exchange);
  }

  /** A token on the client's connection came back. A client that left is told by `onGone`. */
  onSent(exchange: ExchangeId, token: number, errno: number): void {
    if (token !== takenToken) this.#options.local?.driver.onSlotSent(slotOfToken(token), errno);
    else if (errno === 0) this.gateway.onTaken(this.#options.now(), exchange);
  }

  onWriteStarted(hash: Hash128): void {
    this.gateway.onWriteStarted(this.#options.now(), hash);
    this.#options.local?.driver.onWrite(hash, 'started');
  }

  onWriteFinished(hash: Hash128, outcome: WriteOutcome): void {
    this.gateway.onWriteFinished(this.#options.now(), hash, outcome);
    this.#options.local?.driver.onWrite(hash, 'finished');
  }

  /** Call it a few times a second. */
  tick(): void {
    const now = this.#options.now();
    if (this.gateway.nextDeadline() <= now) this.gateway.onTick(now);
    this.drain();
  }

  /**
   * Tells the core what the local node answered, and ends exchanges. The reactor runs it after each batch; it must be outside of
   * any event of the core.
   */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    while (!this.#isIdle()) {
      this.#localReads.drain();
      if (this.#unsentSlots.length > 0) {
        for (const slot of this.#unsentSlots.splice(0)) this.onSlotUnused(slot);
      }
      this.#endExchanges();
    }
    this.#isDraining = false;
  }

  #isIdle(): boolean {
    const isTold = this.#localReads.isIdle && this.#unsentSlots.length === 0;
    return isTold && this.#finishedCount === 0 && this.#endings.length === 0;
  }

  // What nodes answered.

  onAnswer(read: ReadId, answer: ReadAnswer): void {
    this.#report.hearing(
      answer,
      this.#remoteReads.nodeOf(read) ?? this.#options.local?.nodeId ?? null,
    );
    this.gateway.onAnswer(this.#options.now(), read, answer);
    this.#report.heard();
    if (answer.bodyLength === 0) this.#remoteReads.end(read);
  }

  onBodyQueued(read: ReadId): void {
    const exchange = this.#remoteReads.end(read);
    this.gateway.onBodyQueued(this.#options.now(), exchange, read);
  }

  onBodyFailed(read: ReadId, queuedBytes: number): void {
    const exchange = this.#remoteReads.end(read);
    this.gateway.onBodyFailed(this.#options.now(), exchange, read, queuedBytes);
  }

  onLocalBodyQueued(read: ReadId, exchange: CoreExchange): void {
    this.gateway.onBodyQueued(this.#options.now(), exchange, read);
  }

  onLocalBodyFailed(read: ReadId, exchange: CoreExchange, queuedBytes: number): void {
    this.gateway.onBodyFailed(this.#options.now(), exchange, read, queuedBytes);
  }

  onSlotUnused(slot: number): void {
    this.#options.local?.driver.onSlotSent(slot, 0);
  }

  /** A link to a node in another process was opened. */
  onNodeReached(nodeId: number): void {
    this.gateway.onNodeReached(this.#options.now(), nodeId);
  }

  /** A node has other settings of buckets than it had. */
  onBucketsChanged(): void {
    this.gateway.onPoliciesChanged(this.#options.now());
  }

  // Effects of the core.

  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    const { local } = this.#options;
    if (local?.nodeId === nodeId) {
      local.driver.onRead(localAsker(read), request);
      return;
    }
    if (this.remote === null)
      throw new Error('the ring names a node that this process has no way to');
    this.#remoteReads.begin(read, nodeId);
    this.remote.sendRead(read, nodeId, request);
  }

  cancelRead(read: ReadId): void {
    const { local } = this.#options;
    if (this.#remoteReads.has(read)) {
      this.#remoteReads.end(read);
      this.remote?.cancelRead(read);
    } else if (!this.#localReads.cancel(read)) {
      local?.driver.onReadCancelled(localAsker(read));
    }
  }

  answerHead(
    exchange: CoreExchange,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
    known: CachedMetadata,
    restarts: number,
  ): void {
    this.#sendHead();
    const heads = this.#heads;
    const withChecksums = this.#wantsChecksums[exchange & slotMask] === true;
    this.#headLength = heads.render(
      exchange as ExchangeId,
      status,
      metadata,
      first,
      length,
      withChecksums,
      this.#overrides[exchange & slotMask] ?? noOverrides,
      this.#report.of(exchange as ExchangeId, this.#options.now(), known, restarts),
    );
    this.#headOffset = heads.offset;
    this.#headExchange = exchange;
  }

  relayBody(exchange: CoreExchange, read: ReadId): void {
    if (!this.#remoteReads.has(read)) {
      this.#localReads.relay(read, exchange);
      return;
    }
    this.#sendHead();
    this.#remoteReads.goTo(read, exchange);
    // The connection of an exchange that is just over: its bytes go nowhere, and the core hears of it as of any other.
    const client = this.#clientOf(exchange) ?? noConnection;
    this.remote?.relayBody(read, client);
  }

  awaitTaken(exchange: CoreExchange): void {
    this.#sendHead();
    const client = this.#clientOf(exchange);
    if (client !== null) this.#options.reactor.mark(client, takenToken, CommandFlag.eager);
  }

  finish(exchange: CoreExchange): void {
    this.#sendHead();
    this.#finished[this.#finishedCount] = exchange;
    this.#finishedCount += 1;
  }

  abort(exchange: CoreExchange): void {
    this.#end(exchange, aborted);
  }

  answerError(exchange: CoreExchange, code: ErrorCode, metadata: ObjectMetadata | null): void {
    this.#end(exchange, { kind: 'error', code, metadata });
  }

  answerOriginError(exchange: CoreExchange, error: OriginError): void {
    this.#end(exchange, { kind: 'originError', error });
  }

  passThrough(exchange: CoreExchange): void {
    this.#end(exchange, passedThrough);
  }

  // Bytes of the local node on their way to clients.

  sendFromFile(exchange: CoreExchange, fileOffset: number, length: number, slot: number): void {
    const { local, limits, reactor } = this.#options;
    if (local === null) throw new Error('bytes of a slab need a node in this process');
    if (this.#headExchange !== exchange) this.#sendHead();
    const client = this.#clientOf(exchange);
    if (client === null) {
      this.#headExchange = -1;
      this.#unsentSlots.push(slot);
      return;
    }
    const hasHead = this.#headExchange === exchange;
    const isCopied = length <= limits.smallAnswerBytes || !local.slab.lendsPages;
    reactor.sendFile(
      client,
      hasHead ? this.#headOffset : 0,
      hasHead ? this.#headLength : 0,
      local.slab.readDescriptor,
      fileOffset,
      length,
      tokenOfSlot(slot),
      isCopied ? CommandFlag.copy : 0,
    );
    this.#headExchange = -1;
  }

  sendBytes(exchange: CoreExchange, bytes: Uint8Array): void {
    this.#sendHead();
    const client = this.#clientOf(exchange);
    if (client !== null) this.#options.reactor.writeBytes(client, bytes);
  }

  #clientOf(exchange: CoreExchange): ConnectionId | null {
    return this.#options.server.connectionOf(exchange as ExchangeId);
  }

  /** Sends the rendered head that no body took along. */
  #sendHead(): void {
    if (this.#headExchange < 0) return;
    const client = this.#clientOf(this.#headExchange);
    this.#headExchange = -1;
    if (client === null) return;
    this.#options.reactor.write(client, Arena.output, this.#headOffset, this.#headLength);
  }

  #end(exchange: CoreExchange, ending: Ending): void {
    this.#endings.push({ exchange, ending });
  }

  #endExchanges(): void {
    const { server } = this.#options;
    for (let index = 0; index < this.#finishedCount; index += 1) {
      server.finish(this.#finished[index]! as ExchangeId);
    }
    this.#finishedCount = 0;
    if (this.#endings.length === 0) return;
    const endings = this.#endings;
    this.#endings = [];
    for (const { exchange, ending } of endings) this.#endExchange(exchange as ExchangeId, ending);
  }

  #endExchange(exchange: ExchangeId, ending: Ending): void {
    const { passThrough, resourceOf, server } = this.#options;
    switch (ending.kind) {
      case 'abort':
        server.abort(exchange);
        break;
      case 'passThrough':
        passThrough(exchange);
        break;
      case 'error':
        this.#heads.answerError(exchange, ending.code, resourceOf(exchange), ending.metadata);
        break;
      case 'originError':
        this.#heads.answerOriginError(exchange, ending.error);
        break;
    }
  }
}
