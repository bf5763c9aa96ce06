/**
 * A link that carries one large answer at a time, as its asking end sees it: its body goes on to the client inside the kernel.
 *
 *     opening ──▶ free ──▶ asked ──▶ announced ──▶ relaying ──▶ free
 *                            │          ├──▶ reading (into this process's memory) ──▶ free
 *                            │          └──▶ held (paused) ──▶ relaying
 *                            └──▶ dropping (the answer of a cancelled read is read and dropped) ──▶ free
 *
 * The head of the answer is announced as soon as it has arrived. Taken at once, the body's arrived part is written and the rest
 * relayed; else the link is paused and what has arrived is kept until somebody takes it. A body that is held for long is read
 * into memory, so that readers who don't read can't keep all links. A client that dies in the middle leaves a rest: a
 * short one is dropped, for a long one the link is closed.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { newReadAnswer } from '@s3-accelerator/core/read.ts';
import type { ConnectionId } from '@s3-accelerator/native/reactor.ts';
import { Arena, RelayStatus } from '@s3-accelerator/native/native.ts';
import type { FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import { FrameType } from '@s3-accelerator/protocol/frame.ts';
import { decodeReadAnswer } from '@s3-accelerator/protocol/read-answer.ts';
import type { LinkContext } from './link-context.ts';
import { AskingHandshake } from './link-handshake.ts';
import type { LinkOwner } from './link-pool.ts';
import type { LinkUser } from './link.ts';
import { Link } from './link.ts';
import type { PendingRead, ReadLink, Reads } from './reads.ts';

export interface ExclusiveLinkLimits {
  readonly idleMs: number;
  readonly holdMs: number;
  readonly drainBytes: number;
}

/** One relay at a time: one token will do. */
const relayToken = 1;

export class ExclusiveLink implements LinkUser, ReadLink {
  readonly #context: LinkContext;
  readonly #reads: Reads;
  readonly #owner: LinkOwner<ExclusiveLink>;
  readonly #limits: ExclusiveLinkLimits;
  readonly #link: Link;
  readonly #answer = newReadAnswer();
  #served = false;
  /** The node takes no further reads on it. */
  #isLeaving = false;
  /** The read that this link is used by; null while it is free, or while it drops the rest of an answer. */
  #current: PendingRead | null = null;
  #relaying = false;
  /** A body that was held for long is read into memory, so that the link gets free. */
  #emptying = false;
  #heldSince = 0;
  /** Where the body that is read into memory goes once it was asked for. */
  #client = 0 as ConnectionId;

  constructor(
    context: LinkContext,
    reads: Reads,
    owner: LinkOwner<ExclusiveLink>,
    host: string,
    port: number,
    limits: ExclusiveLinkLimits,
  ) {
    this.#context = context;
    this.#reads = reads;
    this.#owner = owner;
    this.#limits = limits;
    const handshake = new AskingHandshake(context.options.secret, 'exclusive');
    this.#link = Link.ask(context, host, port, handshake, this);
  }

  get lost(): boolean {
    return this.#link.lost;
  }

  /** Sends a read's encoded request; the link must be free. */
  send(pending: PendingRead, frame: Uint8Array): void {
    pending.link = this;
    pending.stage = 'asked';
    this.#current = pending;
    this.#link.sendBytes(frame);
  }

  relayBody(pending: PendingRead, client: ConnectionId): void {
    if (pending.stage === 'announced') {
      this.#relaying = this.#link.relayBody(client, relayToken);
      pending.stage = this.#relaying ? 'relaying' : 'taken';
      return;
    }
    if (this.#link.lost) {
      this.#reads.breakBodyLater(pending);
      return;
    }
    const { reactor } = this.#context;
    for (const bytes of pending.held) reactor.writeBytes(client, bytes);
    pending.held.length = 0;
    pending.stage = 'relaying';
    if (this.#emptying) {
      this.#client = client;
    } else {
      this.#relaying = this.#link.relayBody(client, relayToken);
      assert(this.#relaying, 'a body that was held whole needs its link no more');
      reactor.resume(this.#link.id);
    }
  }

  takeBody(pending: PendingRead): void {
    pending.stage = 'reading';
    this.#emptying = true;
    this.#link.receiveFreely();
  }

  drop(pending: PendingRead): void {
    switch (pending.stage) {
      case 'asked':
        // The node answers a cancelled read too, with a failure unless its answer is on the way.
        this.#reads.forget(pending);
        this.#link.sendBareFrame(FrameType.cancel, pending.id);
        break;
      case 'held':
        if (this.#link.lost) {
          this.#reads.release(pending);
        } else if (this.#emptying) {
          this.#reads.forget(pending);
        } else {
          this.#current = null;
          this.#reads.release(pending);
          this.#context.reactor.resume(this.#link.id);
          this.#dropBody();
        }
        break;
      case 'announced':
      case 'relaying':
      case 'reading':
        // Goes on: a relay can't be taken back, and the end of the announcement drops what nobody took.
        this.#reads.forget(pending);
        break;
      case 'waiting':
      case 'taken':
      case 'dropped':
        this.#reads.release(pending);
        break;
    }
  }

  /** Called at a steady pace: a body that was held for long must not keep the link any longer. */
  watch(now: number): void {
    if (this.#current?.stage !== 'held' || this.#emptying || this.#link.lost) return;
    if (now - this.#heldSince < this.#limits.holdMs) return;
    this.#emptying = true;
    this.#link.receiveFreely();
    this.#context.reactor.resume(this.#link.id);
  }

  close(): void {
    this.#link.lose();
  }

  // — what the link says

  onOpen(): void {
    this.#served = true;
    this.#context.reactor.deadline(this.#link.id, this.#limits.idleMs);
    this.#link.receiveHeadsOnly();
    this.#owner.onOpen();
    this.#beFree();
  }

  onFrame(link: Link, header: FrameHeader, start: number, end: number): void {
    if (header.type === FrameType.leaving) {
      this.#isLeaving = true;
      if (this.#current === null && !this.#relaying) link.end();
      return;
    }
    const pending = this.#current;
    if (pending?.id !== header.requestId || this.#isAnswered(pending)) {
      link.breakOff('unasked');
      return;
    }
    const answer = this.#answer;
    const fault = decodeReadAnswer(this.#context.reactor.input, start, end, header, answer);
    if (fault !== null || !this.#reads.fits(pending, answer)) {
      link.breakOff(fault ?? 'mismatch');
    } else if (pending.stage === 'dropped') {
      this.#current = null;
      this.#reads.release(pending);
      this.#dropBody();
    } else if (answer.kind === 'failure' || answer.bodyLength === 0) {
      this.#current = null;
      this.#beFree();
      this.#reads.finish(pending, answer);
    } else {
      const { id } = pending;
      this.#reads.announce(pending, answer);
      this.#settle(id, pending);
    }
  }

  #isAnswered(pending: PendingRead): boolean {
    return this.#relaying || (pending.stage !== 'asked' && pending.stage !== 'dropped');
  }

  /** After an announcement: what became of the body. */
  #settle(id: number, pending: PendingRead): void {
    const over = this.#reads.get(id) === null;
    if (this.#link.lost || this.#relaying || pending.stage === 'reading') return;
    if (over || pending.stage === 'dropped') {
      // Cancelled; when the whole body had been taken before that, nothing is left to drop.
      this.#current = null;
      if (!over) this.#reads.release(pending);
      this.#dropBody();
    } else if (pending.stage === 'taken') {
      this.#current = null;
      this.#beFree();
      this.#reads.finishBody(pending);
    } else {
      pending.stage = 'held';
      this.#heldSince = performance.now();
      this.#context.reactor.pause(this.#link.id);
    }
  }

  onBody(link: Link, start: number, length: number): void {
    const pending = this.#current;
    assert(pending !== null, 'a body belongs to a read');
    const { reactor } = this.#context;
    if (pending.stage === 'held') pending.held.push(reactor.input.slice(start, start + length));
    if (pending.stage === 'relaying') reactor.write(this.#client, Arena.input, start, length);
    if (pending.stage === 'reading') pending.sink?.(reactor.input.subarray(start, start + length));
    if (link.bodyRemaining === 0) this.#emptied(pending);
  }

  /** A body that was held, or is this process's own, has been read to its end. */
  #emptied(pending: PendingRead): void {
    if (this.#emptying) this.#link.receiveHeadsOnly();
    else this.#context.reactor.resume(this.#link.id);
    this.#emptying = false;
    this.#current = null;
    this.#beFree();
    if (pending.stage === 'held') this.#reads.hold(pending);
    else if (pending.stage === 'relaying' || pending.stage === 'reading')
      this.#reads.finishBody(pending);
    else this.#reads.release(pending);
  }

  onSent(): void {
    // No token is ever given.
  }

  onRelayed(link: Link, _token: number, status: number, missing: number): void {
    const pending = this.#current;
    this.#relaying = false;
    this.#current = null;
    if (status === RelayStatus.sourceGone) {
      link.lose();
    } else if (status === RelayStatus.targetGone) {
      this.#dropRest(missing);
    } else {
      this.#beFree();
    }
    if (pending === null) return;
    if (pending.stage === 'dropped') this.#reads.release(pending);
    else if (status === RelayStatus.complete) this.#reads.finishBody(pending);
    else this.#reads.breakBody(pending, pending.bodyLength - missing);
  }

  onLost(): void {
    this.#owner.onLost(this, this.#served);
    const pending = this.#current;
    // A relay's own end comes with its token.
    if (pending === null || this.#relaying) return;
    this.#current = null;
    const { bodyRemaining } = this.#link;
    if (pending.stage === 'dropped') this.#reads.release(pending);
    else if (pending.stage === 'relaying' || pending.stage === 'reading')
      this.#reads.breakBody(pending, pending.bodyLength - bodyRemaining);
    else if (pending.stage !== 'held') this.#reads.fail(pending, 'peer');
  }

  #beFree(): void {
    if (this.#isLeaving) this.#link.end();
    else this.#owner.onFree(this);
  }

  /** Gets rid of an unwanted body, whose head has just been read. */
  #dropBody(): void {
    if (this.#link.lost) return;
    if (this.#link.bodyRemaining > this.#limits.drainBytes) {
      this.#link.lose();
      return;
    }
    this.#relaying = this.#link.dropBody(relayToken);
    if (!this.#relaying) this.#beFree();
  }

  /** Gets rid of what a dead client left. */
  #dropRest(missing: number): void {
    if (this.#link.lost) return;
    if (missing > this.#limits.drainBytes) {
      this.#link.lose();
      return;
    }
    this.#relaying = true;
    this.#context.reactor.relay(this.#link.id, 0, missing, relayToken);
  }
}
