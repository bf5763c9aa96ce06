/**
 * A link that carries many small reads at once, as its asking end sees it: answers come in any order.
 *
 * One receive brings many answers and one send carries many requests: that is what makes a small hit cheap. An answer's body
 * stands whole in the input arena when it is announced, and goes to the client in the same turn; a body that nobody takes
 * during the announcement is copied and held.
 *
 * The ring travels here too: a process that follows it asks for it when the link opens, and again when an answer or a pong carries the
 * mark of another ring, because of one mark at most once in `ringAskMs`.
 *
 * So does what the node says of its buckets, unasked (protocol/bucket-mark.ts).
 *
 * Invariants: every request is answered exactly once, so the number outstanding is exact; when the link is lost, every read
 * on it fails, and none elsewhere.
 */
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import { newReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import { Arena } from '@s3-accelerator/native/native.ts';
import type { ConnectionId } from '@s3-accelerator/native/reactor.ts';
import { decodeBucketMark } from '@s3-accelerator/protocol/bucket-mark.ts';
import type { FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import { FrameType } from '@s3-accelerator/protocol/frame.ts';
import { encodeNodeMessage, nodeMessageBytes } from '@s3-accelerator/protocol/node-message.ts';
import { decodeReadAnswer } from '@s3-accelerator/protocol/read-answer.ts';
import {
  decodeRingAnswer,
  encodeRingRequest,
  ringRequestBytes,
} from '@s3-accelerator/protocol/ring-message.ts';
import { encodeReadRequest, readRequestBound } from '@s3-accelerator/protocol/read-request.ts';
import type { LinkContext } from './link-context.ts';
import { AskingHandshake } from './link-handshake.ts';
import type { LinkUser } from './link.ts';
import { Link } from './link.ts';
import type { PendingRead, ReadLink, Reads } from './reads.ts';

/** The least time between two questions because of one mark: a node that lags behind goes on showing it. */
const ringAskMs = 500;
/** Messages that wait for a link to open; more are lost. */
const maxWaitingMessages = 256;

/** silent: no answer to pings. slow: it isn't let in. */
export type LinkVerdict = 'well' | 'silent' | 'slow';

/** After how many calls of `watch` without a word a link is silent or slow. */
const silentTicks = 3;
const slowTicks = 2;

/** Whoever opened the link. */
export interface MultiplexedLinkOwner {
  onMultiplexedOpen(link: MultiplexedLink): void;
  /** The node says what stands for its buckets. */
  onBucketMark(mark: number): void;
  /** The node takes no further reads on it; it is lost once those under way are answered. */
  onMultiplexedLeaving(link: MultiplexedLink): void;
  /** `served`: whether it had been open. */
  onMultiplexedLost(link: MultiplexedLink, served: boolean): void;
}

export class MultiplexedLink implements LinkUser, ReadLink {
  readonly #context: LinkContext;
  readonly #reads: Reads;
  readonly #owner: MultiplexedLinkOwner;
  readonly #link: Link;
  readonly #answer = newReadAnswer();
  /** Requests that wait for the handshake, in order. */
  #backlog: { readonly read: PendingRead; readonly id: number; readonly frame: Uint8Array }[] = [];
  /** Messages that do, in order. */
  readonly #messages: Uint8Array[] = [];
  #served = false;
  /** Calls of `watch` since it began to open, or since anything came over it. */
  #ticks = 0;
  #isLeaving = false;
  /** Whether a question for the ring is open; because of which mark the last one was asked, and when. */
  #asksRing = false;
  #ringAskedFor = 0;
  #ringAskedAt = -Infinity;
  /** Where the body of the answer that is being announced starts. */
  #bodyStart = 0;

  constructor(
    context: LinkContext,
    reads: Reads,
    owner: MultiplexedLinkOwner,
    host: string,
    port: number,
    smallAnswerBytes: number,
  ) {
    this.#context = context;
    this.#reads = reads;
    this.#owner = owner;
    const handshake = new AskingHandshake(context.options.secret, 'multiplexed');
    this.#link = Link.ask(context, host, port, handshake, this);
    this.#link.wholeBodyBytes = smallAnswerBytes;
  }

  get lost(): boolean {
    return this.#link.lost;
  }

  /** Whether the node has let this link in. */
  get serving(): boolean {
    return this.#link.serving;
  }

  /** Whether it ended because nobody answered its handshake in time. */
  get isLate(): boolean {
    return this.#link.isLate;
  }

  /** Whether anything came over it since the last `watch`. */
  get hasSpoken(): boolean {
    return this.#link.serving && this.#link.heard;
  }

  /** Sends a read, or keeps it until the link is open. */
  send(pending: PendingRead, request: ReadRequest): void {
    pending.link = this;
    if (!this.#link.serving) {
      const bytes = new Uint8Array(readRequestBound(request));
      const length = encodeReadRequest(bytes, 0, pending.id, request);
      const frame = bytes.subarray(0, length);
      this.#backlog.push({ read: pending, id: pending.id, frame });
      return;
    }
    const { reactor } = this.#context;
    const at = reactor.reserve(readRequestBound(request));
    const length = encodeReadRequest(reactor.output, at, pending.id, request) - at;
    reactor.commit(length);
    reactor.write(this.#link.id, Arena.output, at, length);
    pending.stage = 'asked';
  }

  /** Sends what nodes tell each other, or keeps it until the link is open. Lost with the link. */
  sendMessage(message: NodeMessage): void {
    const bytes = new Uint8Array(nodeMessageBytes(message));
    encodeNodeMessage(bytes, 0, message);
    if (this.#link.serving) this.#link.sendBytes(bytes);
    else if (this.#messages.length < maxWaitingMessages) this.#messages.push(bytes);
  }

  relayBody(pending: PendingRead, client: ConnectionId): void {
    pending.stage = 'taken';
    this.#context.reactor.write(client, Arena.input, this.#bodyStart, pending.bodyLength);
  }

  takeBody(pending: PendingRead): void {
    pending.stage = 'taken';
    const { input } = this.#context.reactor;
    pending.sink?.(input.subarray(this.#bodyStart, this.#bodyStart + pending.bodyLength));
  }

  drop(pending: PendingRead): void {
    switch (pending.stage) {
      case 'asked':
        this.#reads.forget(pending);
        this.#link.sendBareFrame(FrameType.cancel, pending.id);
        break;
      case 'announced':
        this.#reads.forget(pending);
        break;
      case 'waiting':
      case 'held':
      case 'relaying':
      case 'reading':
      case 'taken':
      case 'dropped':
        this.#reads.release(pending);
        break;
    }
  }

  /** Called at a steady pace: a link that was silent since the last call is pinged. */
  watch(): LinkVerdict {
    if (!this.#link.serving) {
      this.#ticks += 1;
      return this.#ticks < slowTicks ? 'well' : 'slow';
    }
    if (this.#link.heard) {
      this.#link.heard = false;
      this.#ticks = 0;
      return 'well';
    }
    this.#ticks += 1;
    this.#link.sendBareFrame(FrameType.ping, 0);
    return this.#ticks < silentTicks ? 'well' : 'silent';
  }

  /** Reads that wait for the handshake fail; it goes on. */
  failWaiting(): void {
    this.#reads.visit(this, (pending) => {
      if (pending.stage === 'waiting') this.#reads.fail(pending, 'peer');
    });
  }

  close(): void {
    this.#link.lose();
  }

  // — what the link says

  onOpen(): void {
    this.#served = true;
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const { read, id, frame } of backlog) {
      // A read that was cancelled meanwhile gave its record back.
      if (read.id !== id || read.link !== this || read.stage !== 'waiting') continue;
      read.stage = 'asked';
      this.#link.sendBytes(frame);
    }
    for (const bytes of this.#messages.splice(0)) this.#link.sendBytes(bytes);
    if (this.#context.ring.isFollowed) this.#askRing();
    this.#owner.onMultiplexedOpen(this);
  }

  onFrame(link: Link, header: FrameHeader, start: number, end: number): void {
    if (header.type === FrameType.ringAnswer) {
      this.#takeRings(link, header, start, end);
      return;
    }
    if (header.type === FrameType.leaving) {
      this.#isLeaving = true;
      this.#owner.onMultiplexedLeaving(this);
      this.#endIfDone();
      return;
    }
    if (header.type === FrameType.bucketMark) {
      const mark = decodeBucketMark(this.#context.reactor.input, start, end, header);
      if (typeof mark === 'string') link.breakOff(mark);
      else this.#owner.onBucketMark(mark);
      return;
    }
    const pending = this.#reads.get(header.requestId);
    if (pending === null || pending.link !== this) {
      link.breakOff('unasked');
      return;
    }
    const answer = this.#answer;
    const fault = decodeReadAnswer(this.#context.reactor.input, start, end, header, answer);
    if (fault !== null || !this.#reads.fits(pending, answer)) {
      link.breakOff(fault ?? 'mismatch');
    } else if (pending.stage === 'dropped') {
      this.#reads.release(pending);
    } else if (answer.kind === 'failure' || answer.bodyLength === 0) {
      this.#reads.finish(pending, answer);
    } else {
      const { id } = pending;
      this.#bodyStart = end;
      this.#reads.announce(pending, answer);
      if (this.#reads.get(id) !== null) this.#settle(pending);
    }
    if (this.#isLeaving) this.#endIfDone();
    else if (header.ringMark !== this.#context.ring.mark) this.#followRing();
  }

  #endIfDone(): void {
    if (!this.#reads.uses(this)) this.#link.end();
  }

  /** Asks for the ring if the node has shown another one than this process has. */
  #followRing(): void {
    const { ring } = this.#context;
    const { ringMark, serving } = this.#link;
    if (!serving || !ring.isFollowed || ringMark === ring.mark || ringMark === 0 || this.#asksRing)
      return;
    const isNew = ringMark !== this.#ringAskedFor;
    if (isNew || performance.now() - this.#ringAskedAt >= ringAskMs) this.#askRing();
  }

  #askRing(): void {
    const { reactor, ring } = this.#context;
    this.#asksRing = true;
    this.#ringAskedFor = this.#link.ringMark;
    this.#ringAskedAt = performance.now();
    const at = reactor.reserve(ringRequestBytes);
    encodeRingRequest(reactor.output, at, 0, ring.version);
    reactor.commit(ringRequestBytes);
    reactor.write(this.#link.id, Arena.output, at, ringRequestBytes);
  }

  #takeRings(link: Link, header: FrameHeader, start: number, end: number): void {
    if (!this.#asksRing || header.bodyLength !== 0) {
      link.breakOff('unasked');
      return;
    }
    this.#asksRing = false;
    const rings = decodeRingAnswer(this.#context.reactor.input, start, end);
    if (typeof rings === 'string') link.breakOff(rings);
    else if (rings.length > 0) this.#context.ring.adopt(rings);
    // It may have changed while the question was on its way.
    this.#followRing();
  }

  /** After an announcement: what became of the body. */
  #settle(pending: PendingRead): void {
    const { stage } = pending;
    if (stage === 'taken') {
      this.#reads.finishBody(pending);
    } else if (stage === 'dropped') {
      this.#reads.release(pending);
    } else {
      const { input } = this.#context.reactor;
      pending.held.push(input.slice(this.#bodyStart, this.#bodyStart + pending.bodyLength));
      this.#reads.hold(pending);
    }
  }

  onPong(): void {
    this.#followRing();
  }

  onBody(): void {
    // Bodies are whole here.
  }

  onSent(): void {
    // No token is ever given.
  }

  onRelayed(): void {
    // Nothing is ever relayed.
  }

  onLost(): void {
    // First, so that reads which the core sends anew find another link.
    this.#owner.onMultiplexedLost(this, this.#served);
    this.#reads.visit(this, (pending) => {
      if (pending.stage === 'dropped') this.#reads.release(pending);
      else this.#reads.fail(pending, 'peer');
    });
    this.#backlog = [];
  }
}
