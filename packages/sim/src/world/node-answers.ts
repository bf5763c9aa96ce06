/**
 * A node's reads of gateways: who waits for which answer, and the answers on their way back.
 *
 * Keeps to the effects' rules and checks that the machine does: every asker is answered once, with no more bytes than promised,
 * and a slot is read some time after it was named, so that one reused while pinned shows.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Asker, NodeEffects } from '@s3-accelerator/core/node/effects.ts';
import {
  copyHotHint,
  newHotHint,
  newReadAnswer,
  type HotHint,
  type ObjectMetadata,
  type OriginError,
  type ReadAnswer,
  type ReadFailure,
} from '@s3-accelerator/core/read.ts';
import type { SlotId } from '@s3-accelerator/core/store/store.ts';
import type { NodeRead } from '../history/node-read.ts';
import { nameOf } from '../oracle/oracle.ts';
import { requestOfError } from './origin.ts';
import type { ReadTransfer } from './read-transfer.ts';
import type { SlotFiles } from './slot-files.ts';
import type { Surroundings } from './surroundings.ts';

type AnswerEffects = Pick<
  NodeEffects,
  | 'hintHot'
  | 'answerMetadata'
  | 'answerMetadataFromSlot'
  | 'answerMetadataFromMemory'
  | 'answerFromSlot'
  | 'beginAnswer'
  | 'continueFromMemory'
  | 'abortAnswer'
  | 'answerFailure'
>;

export interface NodeAnswersOptions {
  readonly world: Surroundings;
  readonly nodeId: number;
  readonly life: number;
  readonly blockBytes: number;
  readonly memory: Uint8Array;
  readonly slots: SlotFiles;
  /** The ring that this node has, which its answers show. */
  readonly ringVersion: () => number;
  /** How often a pool of the machine was full. */
  readonly exhausted: () => number;
  /** An answer out of a slot has left; or it broke off, since the slot can't be read. */
  readonly onSlotSent: (slot: SlotId, isUnreadable: boolean) => void;
}

/** A read that waits for its answer. */
interface Waiting {
  readonly transfer: ReadTransfer;
  readonly record: NodeRead;
}

export class NodeAnswers implements AnswerEffects {
  readonly #options: NodeAnswersOptions;
  readonly #waiting = new Map<Asker, Waiting>();
  #askers = 0;
  /** The hint of the present event, and whose it is; -1 for none. */
  readonly #hint = newHotHint();
  #hinted: Asker = -1;
  /** How often a pool was found full when that was last noted, and when that was. */
  #exhausted = 0;
  #exhaustedAt = -1;

  constructor(options: NodeAnswersOptions) {
    this.#options = options;
  }

  /** Reads whose answer isn't complete. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Reads whose answer isn't complete. */
  transfers(): ReadTransfer[] {
    return [...this.#waiting.values()].map(({ transfer }) => transfer);
  }

  /** A read arrives, and gets its asker. */
  add(transfer: ReadTransfer): void {
    const { world, nodeId: node, life } = this.#options;
    const { kind, bucket, key, etag, first, last, partLast, standsIn } = transfer.request;
    const arrivedAt = world.queue.now;
    const where = { first, last, partLast, standsIn };
    const start = { node, life, kind, bucket, key, etag, ...where, arrivedAt };
    this.#askers += 1;
    transfer.asker = this.#askers;
    const record = world.history.nodeAsked(start);
    this.#waiting.set(transfer.asker, { transfer, record });
  }

  /** Nobody waits for the answer any more; false when it was complete already. */
  cancel(transfer: ReadTransfer): boolean {
    if (!this.#waiting.has(transfer.asker)) return false;
    this.#answered(transfer.asker, 'cancelled');
    return true;
  }

  /** The process is over. */
  stop(): void {
    for (const asker of [...this.#waiting.keys()]) this.#answered(asker, 'aborted');
  }

  /** Bytes that come from S3 for one asker alone. */
  sendDirect(asker: Asker, bytes: Uint8Array): void {
    this.#send(asker, bytes);
  }

  hintHot(asker: Asker, hint: HotHint): void {
    assert(this.#hinted < 0 && this.#waiting.has(asker), 'a hint is for whoever asks right now');
    assert(hint.remainingMs > 0 && hint.nodes.length > 1, 'a hint says something');
    copyHotHint(hint, this.#hint);
    this.#hinted = asker;
  }

  /** The event is over: what is answered later carries no hint. */
  forgetHint(): void {
    this.#hinted = -1;
  }

  answerMetadata(asker: Asker, metadata: ObjectMetadata, ageMs: number, lifetimeMs: number): void {
    this.#announce(asker, metadata, ageMs, lifetimeMs, 0, 0);
    this.#answered(asker, 'served');
  }

  answerMetadataFromSlot(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    slot: SlotId,
    offset: number,
    length: number,
  ): void {
    this.#announce(asker, metadata, ageMs, lifetimeMs, bodyFirst, length);
    this.#sendFromSlot(asker, slot, offset, length);
  }

  answerMetadataFromMemory(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    memory: number,
    length: number,
  ): void {
    this.#announce(asker, metadata, ageMs, lifetimeMs, bodyFirst, length);
    this.continueFromMemory(asker, memory, length);
  }

  answerFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    this.#begin(asker, length, true);
    this.#sendFromSlot(asker, slot, offset, length);
  }

  beginAnswer(asker: Asker, length: number): void {
    this.#begin(asker, length, false);
  }

  #begin(asker: Asker, length: number, isHinted: boolean): void {
    const { transfer } = this.#waitingFor(asker);
    transfer.begin(length);
    const answer = newReadAnswer();
    answer.kind = 'bytes';
    answer.bodyFirst = transfer.request.first;
    answer.bodyLength = length;
    if (isHinted) this.#addHint(asker, answer);
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  continueFromMemory(asker: Asker, memory: number, length: number): void {
    this.#send(asker, this.#options.memory.slice(memory, memory + length));
  }

  abortAnswer(asker: Asker): void {
    const { transfer } = this.#waitingFor(asker);
    this.#breakOff(transfer);
    this.#answered(asker, 'aborted');
  }

  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void {
    const { transfer, record } = this.#waitingFor(asker);
    transfer.begin(0);
    record.failure = failure;
    if (error !== null) record.errorOf = requestOfError(error);
    if (failure === 'busy') this.#noteFull(record);
    this.#answered(asker, 'failed');
    const answer = newReadAnswer();
    answer.failure = failure;
    answer.error = error;
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  #waitingFor(asker: Asker): Waiting {
    const waiting = this.#waiting.get(asker);
    assert(waiting !== undefined, 'only an asker that waits is answered');
    return waiting;
  }

  /** Its answer is complete, or never will be. */
  #answered(asker: Asker, end: NodeRead['end']): void {
    const { record } = this.#waitingFor(asker);
    const { world } = this.#options;
    record.end = end;
    record.endedAt = world.queue.now;
    this.#waiting.delete(asker);
    world.checkers.nodeReadEnded(record);
  }

  #announce(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    length: number,
  ): void {
    const { transfer } = this.#waitingFor(asker);
    assert(transfer.request.kind === 'lookup', 'metadata answers lookups');
    assert(length <= transfer.request.bodyLimit, 'a body keeps to its limit');
    assert(ageMs >= 0, 'metadata has an age');
    transfer.begin(length);
    const answer = newReadAnswer();
    answer.kind = 'metadata';
    answer.metadata = metadata;
    answer.ageMs = ageMs;
    answer.lifetimeMs = lifetimeMs;
    answer.bodyFirst = bodyFirst;
    answer.bodyLength = length;
    this.#addHint(asker, answer);
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  #addHint(asker: Asker, answer: ReadAnswer): void {
    if (this.#hinted === asker) copyHotHint(this.#hint, answer.hot);
  }

  #send(asker: Asker, bytes: Uint8Array): void {
    const { transfer } = this.#waitingFor(asker);
    transfer.send(bytes.length);
    this.#deliverBytes(transfer, bytes);
    if (transfer.sent === transfer.promised) this.#answered(asker, 'served');
  }

  #sendFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    const { slots, blockBytes, onSlotSent } = this.#options;
    assert(offset + length <= blockBytes, 'an answer lies within its block');
    const { transfer } = this.#waitingFor(asker);
    this.#answered(asker, 'served');
    slots.read(slot, offset, length, (bytes) => {
      if (bytes === null) {
        this.#breakOff(transfer);
      } else {
        transfer.send(length);
        this.#deliverBytes(transfer, bytes);
      }
      onSlotSent(slot, bytes === null);
    });
  }

  #breakOff(transfer: ReadTransfer): void {
    assert(transfer.isAnswered, 'only an answer that began breaks off');
    transfer.isAborted = true;
    this.#deliver(transfer, () => {
      transfer.taker.onBreak(transfer);
    });
  }

  #deliverBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    this.#deliver(transfer, () => {
      transfer.taker.onBytes(transfer, bytes);
    });
  }

  /** What the node sends in order arrives in order, as long as the gateway wants it. */
  #deliver(transfer: ReadTransfer, act: () => void): void {
    const { link, toGateway } = transfer;
    const { world, ringVersion } = this.#options;
    const version = ringVersion();
    world.network.toGateway(link, toGateway, () => {
      link.gateway.onRingShown(link, version);
      if (!transfer.isOver) act();
    });
  }

  /** A pool was full, as its counters must say: whoever was turned away has that for an excuse. */
  #noteFull({ bucket, key }: NodeRead): void {
    const { world, nodeId, exhausted } = this.#options;
    const { now } = world.queue;
    const count = exhausted();
    // A lookup that finds no fetch turns away all that wait for it, at one moment, and counts once.
    if (count === this.#exhausted && now !== this.#exhaustedAt) return;
    this.#exhausted = count;
    this.#exhaustedAt = now;
    world.situations.arose('node full');
    world.history.faultBegan({
      what: `node ${nodeId} is full`,
      from: now,
      until: now,
      gateway: -1,
      object: nameOf(bucket, key),
    });
  }
}
