/**
 * Reads between the gateway and the node of one process: no link, no frames, no copies of hits.
 *
 * The node answers while the gateway is still inside its own event, so answers wait here until `drain`. In the drain the gateway
 * hears `onAnswer` and, in that same turn, may say where the body goes: a slot's bytes are then sent from the slab straight
 * to the client's socket, behind the answer's head. A body that nobody takes in that turn is given back at once.
 *
 * Bytes of a miss were copied out of the fill memory, since that is free again after the effect.
 */
import type { OriginError, ReadAnswer, ReadFailure } from '@s3-accelerator/core/read.ts';
import type { Confirmation, NodeAnswers } from '../node/answers.ts';

/** Where the bytes of an answer go once the gateway said so. */
export interface BodySink {
  /** Bytes of the slab; `onSlotSent(slot)` must follow. */
  fromFile(fileOffset: number, length: number, slot: number): void;
  fromBytes(bytes: Uint8Array): void;
}

/** The gateway, as this hears from the node. */
export interface LocalReadEvents {
  onAnswer(read: number, answer: ReadAnswer): void;
  /** All bytes of the body were handed to its sink. */
  onBodyQueued(read: number): void;
  /** The body broke off after this many bytes. */
  onBodyFailed(read: number, queuedBytes: number): void;
  /** A slot's bytes won't be sent after all. */
  onSlotUnused(slot: number): void;
  /** Nobody takes the rest of a streamed answer. */
  onUnwanted(read: number): void;
}

type Step = 'announce' | 'queued' | 'failed';

class LocalRead {
  read = -1;
  step: Step = 'announce';
  readonly answer: ReadAnswer = {
    kind: 'bytes',
    metadata: null,
    ageMs: 0,
    lifetimeMs: 0,
    bodyFirst: 0,
    bodyLength: 0,
    failure: 'busy',
    error: null,
  };
  /** A slot's bytes, -1 for none. */
  slot = -1;
  fileOffset = 0;
  /** Bytes that came before the sink was known; null when there are none. */
  held: Uint8Array[] | null = null;
  /** Bytes of the body that came from the node so far, and that went to the sink. */
  received = 0;
  queued = 0;
  sink: BodySink | null = null;
  isBroken = false;
}

export class LocalReads implements NodeAnswers {
  readonly #events: LocalReadEvents;
  /** Reads whose body still comes or isn't taken yet. */
  readonly #open = new Map<number, LocalRead>();
  readonly #spare: LocalRead[] = [];
  #waiting: LocalRead[] = [];
  #draining: LocalRead[] = [];
  /** The read that the gateway hears about right now. */
  #announced: LocalRead | null = null;

  constructor(events: LocalReadEvents) {
    this.#events = events;
  }

  /** Whether `drain` has something to tell. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Tells the gateway what the node answered, until nothing is left. Call it outside of any event of the core. */
  drain(): void {
    while (this.#waiting.length > 0) {
      const reads = this.#waiting;
      this.#waiting = this.#draining;
      this.#draining = reads;
      for (const local of reads) this.#tell(local);
      reads.length = 0;
    }
  }

  /** The gateway says where the body of the answer it was just told of goes. */
  relay(read: number, sink: BodySink): void {
    const local = this.#announced?.read === read ? this.#announced : null;
    if (local === null) throw new Error('a body is taken in the turn it is announced');
    local.sink = sink;
    if (local.slot >= 0) {
      sink.fromFile(local.fileOffset, local.answer.bodyLength, local.slot);
      local.slot = -1;
      local.received = local.queued = local.answer.bodyLength;
    }
    for (const bytes of local.held ?? []) {
      sink.fromBytes(bytes);
      local.queued += bytes.length;
    }
    local.held = null;
  }

  /** The gateway doesn't want the answer any more. False when the node hasn't answered: then tell the node. */
  cancel(read: number): boolean {
    const local = this.#open.get(read);
    if (local === undefined) return false;
    this.#open.delete(read);
    local.sink = null;
    const isComplete = local.isBroken || local.received === local.answer.bodyLength;
    local.read = -1;
    return isComplete;
  }

  answerMetadata(read: number, confirmed: Confirmation): void {
    const local = this.#begin(read, 'metadata', 0);
    this.#confirm(local, confirmed, 0);
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
    local.slot = slot;
    local.fileOffset = fileOffset;
  }

  answerMetadataFromBytes(
    read: number,
    confirmed: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
  ): void {
    const local = this.#begin(read, 'metadata', bytes.length);
    this.#confirm(local, confirmed, bodyFirst);
    local.held = [bytes.slice()];
    local.received = bytes.length;
  }

  answerFromFile(read: number, fileOffset: number, length: number, slot: number): void {
    const local = this.#begin(read, 'bytes', length);
    local.slot = slot;
    local.fileOffset = fileOffset;
  }

  beginAnswer(read: number, length: number): void {
    this.#begin(read, 'bytes', length);
  }

  continueAnswer(read: number, bytes: Uint8Array): void {
    const local = this.#open.get(read);
    if (local === undefined) return;
    local.received += bytes.length;
    if (local.sink === null) {
      (local.held ??= []).push(bytes.slice());
      return;
    }
    local.sink.fromBytes(bytes);
    local.queued += bytes.length;
    if (local.received === local.answer.bodyLength) this.#queue(local, 'queued');
  }

  abortAnswer(read: number): void {
    const local = this.#open.get(read);
    if (local === undefined) return;
    local.isBroken = true;
    if (local.sink !== null) this.#queue(local, 'failed');
  }

  answerFailure(read: number, failure: ReadFailure, error: OriginError | null): void {
    const { answer } = this.#begin(read, 'failure', 0);
    answer.failure = failure;
    answer.error = error;
  }

  #begin(read: number, kind: ReadAnswer['kind'], bodyLength: number): LocalRead {
    const local = this.#spare.pop() ?? new LocalRead();
    local.read = read;
    local.answer.kind = kind;
    local.answer.metadata = null;
    local.answer.error = null;
    local.answer.bodyLength = bodyLength;
    local.slot = -1;
    local.held = null;
    local.received = 0;
    local.queued = 0;
    local.sink = null;
    local.isBroken = false;
    this.#open.set(read, local);
    this.#queue(local, 'announce');
    return local;
  }

  #confirm(local: LocalRead, confirmed: Confirmation, bodyFirst: number): void {
    local.answer.metadata = confirmed.metadata;
    local.answer.ageMs = confirmed.ageMs;
    local.answer.lifetimeMs = confirmed.lifetimeMs;
    local.answer.bodyFirst = bodyFirst;
  }

  #queue(local: LocalRead, step: Step): void {
    local.step = step;
    this.#waiting.push(local);
  }

  #tell(local: LocalRead): void {
    // Cancelled between the node's answer and now: only what it holds has to go back.
    if (local.read < 0) {
      this.#giveBack(local);
      return;
    }
    switch (local.step) {
      case 'announce':
        this.#announce(local);
        return;
      case 'queued':
        this.#close(local);
        this.#events.onBodyQueued(local.read);
        break;
      case 'failed':
        this.#close(local);
        this.#events.onBodyFailed(local.read, local.queued);
        break;
    }
    this.#spare.push(local);
  }

  #announce(local: LocalRead): void {
    const { read, answer } = local;
    this.#announced = local;
    this.#events.onAnswer(read, answer);
    this.#announced = null;
    // Cancelled inside of the event: `cancel` has forgotten it.
    if (local.read < 0) {
      this.#giveBack(local);
      return;
    }
    if (answer.bodyLength === 0 || local.sink === null) {
      const isUnwanted = answer.bodyLength > 0 && local.received < answer.bodyLength;
      this.#close(local);
      this.#giveBack(local);
      if (isUnwanted && !local.isBroken) this.#events.onUnwanted(read);
      return;
    }
    if (local.queued === answer.bodyLength) {
      this.#close(local);
      this.#events.onBodyQueued(read);
      this.#spare.push(local);
    } else if (local.isBroken) {
      this.#queue(local, 'failed');
    }
  }

  #close(local: LocalRead): void {
    if (this.#open.get(local.read) === local) this.#open.delete(local.read);
  }

  #giveBack(local: LocalRead): void {
    if (local.slot >= 0) this.#events.onSlotUnused(local.slot);
    local.slot = -1;
    local.held = null;
    local.sink = null;
    this.#spare.push(local);
  }
}
