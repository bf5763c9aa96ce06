/**
 * Reads between the gateway and the node of one process: no link, no frames, no copies of hits.
 *
 * The node answers while the gateway is still inside its own event, so answers wait here until `drain`. In the drain the gateway
 * hears `onAnswer`, and says in that same turn or later which client the body goes to: a slot's bytes then leave the slab
 * straight for the client's socket, behind the answer's head. Until then the slot stays pinned.
 *
 * Bytes of a miss that come before the announcement are kept as views into the fill memory: nothing is written there before
 * the drain that follows each of the node's events (node-driver.ts). A body that isn't taken in that turn is copied, a block at
 * most.
 *
 *     begun ──▶ announced ──┬─▶ relayed ──▶ queued
 *       └─ cancelled        └─▶ held ──▶ relayed, failed, cancelled
 */
import {
  copyHotHint,
  newReadAnswer,
  type BodySource,
  type HotHint,
  type OriginError,
  type ReadAnswer,
  type ReadFailure,
} from '@s3-accelerator/core/read.ts';
import type { Confirmation, NodeAnswers } from '../node/answers.ts';

/** What the gateway driver does with answers of its own node. Called from `drain` and `relay` alone, or as bytes arrive. */
export interface LocalReadEvents {
  onAnswer(read: number, answer: ReadAnswer): void;
  /** All bytes of the body were handed over. */
  onLocalBodyQueued(read: number, exchange: number): void;
  /** The body broke off after this many bytes. */
  onLocalBodyFailed(read: number, exchange: number, queuedBytes: number): void;
  /** Send bytes of the slab; the slot is handed back to the node once they went out. */
  sendFromFile(exchange: number, fileOffset: number, length: number, slot: number): void;
  /** Send a copy of these bytes. */
  sendBytes(exchange: number, bytes: Uint8Array): void;
  /** A slot's bytes won't be sent after all. */
  onSlotUnused(slot: number): void;
}

type Step = 'announce' | 'queued' | 'failed';

const nobody = -1;

class LocalRead {
  /** -1 once it was cancelled. */
  read = nobody;
  step: Step = 'announce';
  readonly answer = newReadAnswer();
  /** Whom the body goes to, -1 while that isn't known. */
  exchange = nobody;
  /** The slot whose bytes are the body, -1 for none or once they were sent. */
  slot = nobody;
  fileOffset = 0;
  /** Bytes that came before the client was known: views until the announcement, copies from then on. */
  held: Uint8Array[] | null = null;
  isAnnounced = false;
  /** Bytes of the body that the node gave so far, and that were handed over. */
  received = 0;
  queued = 0;
  isBroken = false;
}

export class LocalReads implements NodeAnswers {
  readonly #events: LocalReadEvents;
  readonly #slotMask: number;
  /** Reads that are answered but not done, by the slot in their id. */
  readonly #open: (LocalRead | undefined)[] = [];
  readonly #spare: LocalRead[] = [];
  /** The first `#waitingCount` of these have something to tell. The array never shrinks: a hit allocates nothing. */
  readonly #waiting: LocalRead[] = [];
  #waitingCount = 0;
  /** The read that the gateway hears about right now. */
  #announced: LocalRead | null = null;

  /** `slotMask` tells the slot in a read's id. */
  constructor(events: LocalReadEvents, slotMask: number) {
    this.#slotMask = slotMask;
    this.#events = events;
  }

  /** Whether `drain` has nothing to tell. */
  get isIdle(): boolean {
    return this.#waitingCount === 0;
  }

  /** Tells the gateway what the node answered. Call it outside of any event of the core. */
  drain(): void {
    // What is told may add more: that is told in the same turn.
    for (let index = 0; index < this.#waitingCount; index += 1) this.#tell(this.#waiting[index]!);
    this.#waitingCount = 0;
  }

  /** The gateway says whom the body goes to of an answer that it was told. */
  relay(read: number, exchange: number): void {
    const local = this.#find(read);
    if (local === null || local.exchange !== nobody) {
      throw new Error('a body is taken once, after it was announced');
    }
    local.exchange = exchange;
    if (local.slot >= 0) {
      const { bodyLength } = local.answer;
      this.#events.sendFromFile(exchange, local.fileOffset, bodyLength, local.slot);
      local.slot = nobody;
      local.queued = bodyLength;
    }
    if (local.held !== null) {
      for (const bytes of local.held) this.#hand(local, bytes);
      local.held = null;
    }
    // Taken in its announcement, it is looked after there.
    if (this.#announced === local) return;
    if (local.queued === local.answer.bodyLength) this.#wait(local, 'queued');
    else if (local.isBroken) this.#wait(local, 'failed');
  }

  /** The gateway wants the answer no more. False when the node has still to be told. */
  cancel(read: number): boolean {
    const local = this.#find(read);
    if (local === null) return false;
    const isComplete = local.isBroken || local.received === local.answer.bodyLength;
    if (local.isAnnounced && local !== this.#announced && local.exchange === nobody) {
      this.#retire(local);
    } else {
      this.#open[read & this.#slotMask] = undefined;
      local.read = nobody;
    }
    return isComplete;
  }

  answerMetadata(read: number, confirmed: Confirmation): void {
    this.#confirm(this.#begin(read, 'metadata', 0), confirmed, 0);
  }

  answerMetadataFromFile(
    read: number,
    confirmed: Confirmation,
    bodyFirst: number,
    fileOffset: number,
    length: number,
    slot: number,
  ): void {
    const local = this.#begin(read, 'metadata', length);
    this.#confirm(local, confirmed, bodyFirst);
    this.#fromFile(local, fileOffset, slot);
  }

  answerMetadataFromBytes(
    read: number,
    confirmed: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
    source: BodySource,
  ): void {
    const local = this.#begin(read, 'metadata', bytes.length);
    local.answer.source = source;
    this.#confirm(local, confirmed, bodyFirst);
    local.held = [bytes];
    local.received = bytes.length;
  }

  answerFromFile(
    read: number,
    fileOffset: number,
    length: number,
    slot: number,
    hot: HotHint | null,
  ): void {
    const local = this.#begin(read, 'bytes', length);
    if (hot !== null) copyHotHint(hot, local.answer.hot);
    this.#fromFile(local, fileOffset, slot);
  }

  beginAnswer(read: number, length: number, source: BodySource): void {
    this.#begin(read, 'bytes', length).answer.source = source;
  }

  continueAnswer(read: number, bytes: Uint8Array): void {
    const local = this.#find(read);
    if (local === null) return;
    local.received += bytes.length;
    if (local.exchange === nobody) {
      (local.held ??= []).push(local.isAnnounced ? bytes.slice() : bytes);
      return;
    }
    this.#hand(local, bytes);
    if (local.queued === local.answer.bodyLength) this.#wait(local, 'queued');
  }

  abortAnswer(read: number): void {
    const local = this.#find(read);
    if (local === null) return;
    local.isBroken = true;
    if (local.exchange !== nobody) this.#wait(local, 'failed');
  }

  answerFailure(read: number, failure: ReadFailure, error: OriginError | null): void {
    const { answer } = this.#begin(read, 'failure', 0);
    answer.failure = failure;
    answer.error = error;
  }

  #find(read: number): LocalRead | null {
    const local = this.#open[read & this.#slotMask];
    return local?.read === read ? local : null;
  }

  #begin(read: number, kind: ReadAnswer['kind'], bodyLength: number): LocalRead {
    const local = this.#spare.pop() ?? new LocalRead();
    local.read = read;
    local.answer.kind = kind;
    local.answer.metadata = null;
    local.answer.error = null;
    local.answer.bodyLength = bodyLength;
    local.answer.source = 'slot';
    local.answer.hot.remainingMs = 0;
    local.exchange = nobody;
    local.slot = nobody;
    local.held = null;
    local.isAnnounced = false;
    local.received = 0;
    local.queued = 0;
    local.isBroken = false;
    this.#open[read & this.#slotMask] = local;
    this.#wait(local, 'announce');
    return local;
  }

  #confirm(local: LocalRead, confirmed: Confirmation, bodyFirst: number): void {
    local.answer.metadata = confirmed.metadata;
    local.answer.ageMs = confirmed.ageMs;
    local.answer.lifetimeMs = confirmed.lifetimeMs;
    local.answer.bodyFirst = bodyFirst;
    if (confirmed.hot !== null) copyHotHint(confirmed.hot, local.answer.hot);
  }

  #fromFile(local: LocalRead, fileOffset: number, slot: number): void {
    local.slot = slot;
    local.fileOffset = fileOffset;
    local.received = local.answer.bodyLength;
  }

  #hand(local: LocalRead, bytes: Uint8Array): void {
    this.#events.sendBytes(local.exchange, bytes);
    local.queued += bytes.length;
  }

  #wait(local: LocalRead, step: Step): void {
    local.step = step;
    this.#waiting[this.#waitingCount] = local;
    this.#waitingCount += 1;
  }

  #tell(local: LocalRead): void {
    const { read, exchange, step } = local;
    if (read !== nobody && step === 'announce') {
      this.#announce(local);
      return;
    }
    this.#retire(local);
    if (read === nobody) return;
    if (step === 'queued') this.#events.onLocalBodyQueued(read, exchange);
    else this.#events.onLocalBodyFailed(read, exchange, local.queued);
  }

  #announce(local: LocalRead): void {
    const { read, answer } = local;
    local.isAnnounced = true;
    this.#announced = local;
    this.#events.onAnswer(read, answer);
    this.#announced = null;
    if (local.read === nobody || answer.bodyLength === 0) {
      // `cancel` told its caller whether the node still works on it.
      this.#retire(local);
    } else if (local.exchange === nobody) {
      local.held = local.held?.map((bytes) => bytes.slice()) ?? null;
    } else if (local.queued === answer.bodyLength) {
      // The common end of a hit. Else it goes on as bytes arrive.
      const { exchange } = local;
      this.#retire(local);
      this.#events.onLocalBodyQueued(read, exchange);
    } else if (local.isBroken) {
      this.#wait(local, 'failed');
    }
  }

  /** Ends a read's record: whatever it still holds goes back. */
  #retire(local: LocalRead): void {
    if (local.read !== nobody) this.#open[local.read & this.#slotMask] = undefined;
    if (local.slot >= 0) this.#events.onSlotUnused(local.slot);
    local.slot = nobody;
    local.held = null;
    this.#spare.push(local);
  }
}
