/** How a read becomes a reader, and how one that is in no list leaves: answered without bytes, or sent back to start over. */
import { assert } from '../base/assert.ts';
import type { OriginError, ReadFailure, ReadRequest } from '../read.ts';
import type { Asker } from './effects.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

/** A reader for a read that can't be answered at once; null when all are in use, and the asker has been told. */
export function arrive(parts: NodeParts, asker: Asker, request: ReadRequest): Reader | null {
  parts.arrivals += 1;
  const reader = parts.readers.acquire(asker, parts.arrivals, request);
  if (reader !== null) return reader;
  parts.counters.readersExhausted += 1;
  parts.effects.answerFailure(asker, 'busy', null);
  return null;
}

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
