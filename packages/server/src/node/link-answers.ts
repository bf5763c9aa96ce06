/** The node's answers on their way over links: names the slab's descriptor, and lets slots travel as tokens. */
import type { BodySource, HotHint, OriginError, ReadFailure } from '@s3-accelerator/core/read.ts';
import type { ServedReads } from '../peers/served-reads.ts';
import type { Confirmation, NodeAnswers } from './answers.ts';

/** Tokens are never 0. */
export const tokenOfSlot = (slot: number): number => slot + 1;
export const slotOfToken = (token: number): number => token - 1;

export class LinkAnswers implements NodeAnswers {
  readonly #reads: ServedReads;
  readonly #descriptor: number;

  constructor(reads: ServedReads, slabDescriptor: number) {
    this.#reads = reads;
    this.#descriptor = slabDescriptor;
  }

  answerMetadata(id: number, confirmed: Confirmation): void {
    this.#reads.answerMetadata(id, confirmed);
  }

  answerMetadataFromFile(
    id: number,
    confirmed: Confirmation,
    bodyFirst: number,
    fileOffset: number,
    length: number,
    slot: number,
  ): void {
    this.#reads.answerMetadataFromFile(
      id,
      confirmed,
      bodyFirst,
      this.#descriptor,
      fileOffset,
      length,
      tokenOfSlot(slot),
    );
  }

  answerMetadataFromBytes(
    id: number,
    confirmed: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
    source: BodySource,
  ): void {
    this.#reads.answerMetadataFromMemory(id, confirmed, bodyFirst, bytes, source);
  }

  answerFromFile(
    id: number,
    fileOffset: number,
    length: number,
    slot: number,
    hot: HotHint | null,
  ): void {
    const token = tokenOfSlot(slot);
    this.#reads.answerBytesFromFile(id, this.#descriptor, fileOffset, length, token, hot);
  }

  beginAnswer(id: number, length: number, source: BodySource): void {
    this.#reads.beginAnswer(id, length, source);
  }

  continueAnswer(id: number, bytes: Uint8Array): void {
    this.#reads.continueAnswer(id, bytes);
  }

  abortAnswer(id: number): void {
    this.#reads.abortAnswer(id);
  }

  answerFailure(id: number, failure: ReadFailure, error: OriginError | null): void {
    this.#reads.answerFailure(id, failure, error);
  }
}
