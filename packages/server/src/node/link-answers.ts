/** The node's answers on their way over links: names the slab's descriptor, and lets slots travel as tokens. */
import type { BodySource, HotHint, OriginError, ReadFailure } from '@s3-accelerator/core/read.ts';
import type { LinkServer } from '../peers/link-server.ts';
import type { Confirmation, NodeAnswers } from './answers.ts';

/** Tokens are never 0. */
export const tokenOfSlot = (slot: number): number => slot + 1;
export const slotOfToken = (token: number): number => token - 1;

export class LinkAnswers implements NodeAnswers {
  readonly #links: LinkServer;
  readonly #descriptor: number;

  constructor(links: LinkServer, slabDescriptor: number) {
    this.#links = links;
    this.#descriptor = slabDescriptor;
  }

  answerMetadata(id: number, { metadata, ageMs, lifetimeMs, hot }: Confirmation): void {
    this.#links.answerMetadata(id, metadata, ageMs, lifetimeMs, hot);
  }

  answerMetadataFromFile(
    id: number,
    { metadata, ageMs, lifetimeMs, hot }: Confirmation,
    bodyFirst: number,
    fileOffset: number,
    length: number,
    slot: number,
  ): void {
    this.#links.answerMetadataFromFile(
      id,
      metadata,
      ageMs,
      lifetimeMs,
      bodyFirst,
      this.#descriptor,
      fileOffset,
      length,
      tokenOfSlot(slot),
      hot,
    );
  }

  answerMetadataFromBytes(
    id: number,
    { metadata, ageMs, lifetimeMs, hot }: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
    source: BodySource,
  ): void {
    const links = this.#links;
    links.answerMetadataFromMemory(id, metadata, ageMs, lifetimeMs, bodyFirst, bytes, hot, source);
  }

  answerFromFile(
    id: number,
    fileOffset: number,
    length: number,
    slot: number,
    hot: HotHint | null,
  ): void {
    const token = tokenOfSlot(slot);
    this.#links.answerBytesFromFile(id, this.#descriptor, fileOffset, length, token, hot);
  }

  beginAnswer(id: number, length: number, source: BodySource): void {
    this.#links.beginAnswer(id, length, source);
  }

  continueAnswer(id: number, bytes: Uint8Array): void {
    this.#links.continueAnswer(id, bytes);
  }

  abortAnswer(id: number): void {
    this.#links.abortAnswer(id);
  }

  answerFailure(id: number, failure: ReadFailure, error: OriginError | null): void {
    this.#links.answerFailure(id, failure, error);
  }
}
