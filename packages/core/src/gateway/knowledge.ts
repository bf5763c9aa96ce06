/**
 * What a gateway may answer from memory: metadata held against the writes that went through this gateway, by whichever of
 * its loops (write-epochs.ts).
 *
 * Metadata is usable while it hasn't run out (its lifetime and, unless immutable, the gateway's own shorter one) and is
 * newer than every write that its object's epoch stands for. Both are judged on the moment that S3 was asked, which the
 * answer's age bounds from below.
 */
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import type { GatewayLimits } from './limits.ts';
import { MetadataCache, type CachedMetadata } from './metadata-cache.ts';
import type { Moment } from './moment.ts';
import type { WriteEpochs } from './write-epochs.ts';

/** Above the rounding error of a time in milliseconds. */
const clockGrainMs = 0.001;

/** failed: the origin refused the write. unknown: it may or may not have taken effect, or still will. */
export type WriteOutcome = 'done' | 'failed' | 'unknown';

export class Knowledge {
  readonly metadata: MetadataCache;
  readonly #moment: Moment;
  readonly #limits: GatewayLimits;
  readonly #epochs: WriteEpochs;
  /** What was asked earlier says what held under other policies, or at another origin. */
  #asksCountFrom = -Infinity;

  constructor(moment: Moment, limits: GatewayLimits, epochs: WriteEpochs, seed: number) {
    this.#moment = moment;
    this.#limits = limits;
    this.#epochs = epochs;
    this.metadata = new MetadataCache(limits.metadataEntries, limits.metadataBytes, seed);
  }

  /** Metadata that may be used right now, else null. */
  usable(hash: Hash128): CachedMetadata | null {
    const entry = this.metadata.get(hash);
    if (entry === null || entry.validUntil <= this.#moment.now) return null;
    return entry.knownAfter < this.#epochs.since(hash) ? null : entry;
  }

  /** The moment that a lookup's metadata must be newer than, -Infinity when any will do. */
  demand(now: number, hash: Hash128): number {
    return Math.min(now, this.#epochs.since(hash));
  }

  /**
   * Keeps metadata that a home answered with; `usable` tells whether a write came in between. The lookup was sent at
   * `askedAt` and demanded metadata newer than `demandedAt`; age and lifetime are the answer's.
   */
  learn(
    hash: Hash128,
    metadata: ObjectMetadata,
    askedAt: number,
    demandedAt: number,
    ageMs: number,
    lifetimeMs: number,
  ): CachedMetadata {
    const confirmedAt = askedAt - ageMs;
    const knownAfter = Math.max(demandedAt, confirmedAt - clockGrainMs);
    const validUntil =
      lifetimeMs === Infinity
        ? Infinity
        : Math.min(confirmedAt + lifetimeMs, askedAt + this.#limits.gatewayTtlMs);
    const known = { metadata, validUntil, knownAfter };
    if (askedAt >= this.#asksCountFrom) this.metadata.put(hash, known);
    return known;
  }

  /** Policies or origins may be others now: forgets all metadata, and doesn't keep what is still to come of it. */
  forgetMetadata(now: number): void {
    this.metadata.clear();
    this.#asksCountFrom = now;
  }

  /** Call it before the write is forwarded. */
  writeStarted(now: number, hash: Hash128): void {
    this.#epochs.raise(hash, now);
  }

  /** Call it before the client hears of it. */
  writeFinished(now: number, hash: Hash128, outcome: WriteOutcome): void {
    const isKnown = outcome !== 'unknown';
    this.#epochs.raise(hash, isKnown ? now : now + this.#limits.unknownWriteMs);
  }
}
