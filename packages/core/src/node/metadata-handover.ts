/** An object's metadata on its way from a previous home to the present one: what is told, and what is believed. */
import { equalHash128, type Hash128 } from '../base/hash.ts';
import { MAX_OBJECT_BYTES } from '../layout.ts';
import type { ObjectMetadata, ReadAnswer, ReadRequest } from '../read.ts';
import type { Asker } from './effects.ts';
import type { Fetch } from './fetch.ts';
import type { NodeParts } from './parts.ts';

const versionHere: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

/** Another node is the home now, and asks what this one knows: of any age, and nobody else is asked. */
export function handOverMetadata(
  { metadata, counters, effects }: NodeParts,
  now: number,
  asker: Asker,
  { bucket, hash }: ReadRequest,
  lifetimeMs: number,
): void {
  const known = metadata.get(bucket, hash);
  if (known === null) {
    counters.notHeld += 1;
    effects.answerFailure(asker, 'absent', null);
    return;
  }
  counters.handedOver += 1;
  const age = now - known.confirmedAt;
  effects.answerMetadata(asker, known.metadata, age, lifetimeMs);
}

/** What a previous home told, null when that can't be this object's: nodes may differ about where a bucket's origin is. */
export function toldOf(
  { digest }: NodeParts,
  fetch: Fetch,
  { kind, metadata }: ReadAnswer,
): ObjectMetadata | null {
  if (kind !== 'metadata' || metadata === null) return null;
  const { etag, size, version } = metadata;
  if (etag === '' || size < 0 || size > MAX_OBJECT_BYTES) return null;
  digest.version(fetch.bucket, fetch.hash, etag, versionHere);
  return equalHash128(versionHere, version) ? metadata : null;
}
