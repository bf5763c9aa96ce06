/** How a reader that is in no list leaves: answered without bytes, or sent back to start over. */
import { assert } from '../base/assert.ts';
import type { OriginError, ReadFailure } from '../read.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

/** There are no bytes, and why. */
export function answerFailure(
  parts: NodeParts,
  reader: Reader,
  failure: ReadFailure,
  error: OriginError | null,
): void {
  const { asker } = reader;
  parts.readers.release(reader);
  parts.effects.answerFailure(asker, failure, error);
}

/** A lookup whose metadata is known, without a body. */
export function answerMetadata(parts: NodeParts, now: number, reader: Reader): void {
  const { asker, metadata, confirmedAt, lifetimeMs } = reader;
  assert(metadata !== null, 'only known metadata is answered');
  parts.readers.release(reader);
  parts.effects.answerMetadata(asker, metadata, now - confirmedAt, lifetimeMs);
}

/** What it waited for ended without it: it is read anew at the end of the event. */
export function startOver(parts: NodeParts, reader: Reader): void {
  reader.waitsFor = 'again';
  parts.counters.restarts += 1;
  parts.again.append(reader);
}
