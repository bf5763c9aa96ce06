/**
 * Where a node's answers go: to the gateway in the same process, or over a link. The node driver turns slots and fill memory
 * into file offsets and bytes before it comes here.
 */
import type {
  BodySource,
  HotHint,
  ObjectMetadata,
  OriginError,
  ReadFailure,
} from '@s3-accelerator/core/read.ts';

/** A lookup's answer, as the asker gets it. Reused: take what is needed during the call. */
export interface Confirmation {
  metadata: ObjectMetadata;
  /** Milliseconds since S3 was asked, and how long from then on it may be used (Infinity: immutable). */
  ageMs: number;
  lifetimeMs: number;
  /** Who else serves the object's home, null for nobody. */
  hot: HotHint | null;
}

/** `Id` names one waiting read; what it is depends on the side. Bytes are only valid during the call. */
export interface NodeAnswers {
  answerMetadata(id: number, confirmed: Confirmation): void;
  /** `length` bytes of the slab file at `fileOffset` follow; `slot` is handed back by `onSlotSent` once they went out. */
  answerMetadataFromFile(
    id: number,
    confirmed: Confirmation,
    bodyFirst: number,
    fileOffset: number,
    length: number,
    slot: number,
  ): void;
  answerMetadataFromBytes(
    id: number,
    confirmed: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
    source: BodySource,
  ): void;
  /** `hot`: who else serves what was asked for, null for nobody. */
  answerFromFile(
    id: number,
    fileOffset: number,
    length: number,
    slot: number,
    hot: HotHint | null,
  ): void;
  beginAnswer(id: number, length: number, source: BodySource): void;
  continueAnswer(id: number, bytes: Uint8Array): void;
  abortAnswer(id: number): void;
  answerFailure(id: number, failure: ReadFailure, error: OriginError | null): void;
}
