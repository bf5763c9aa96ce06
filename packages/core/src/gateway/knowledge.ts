/**
 * What a gateway may answer from memory: metadata held against the writes that went through this gateway.
 *
 * Metadata is usable while it hasn't run out (its lifetime and, unless immutable, the gateway's own shorter one) and is
 * newer than every write that its object's mark stands for. Both are judged on the moment that S3 was asked, which the
 * answer's age bounds from below.
 */
import type { Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import type { GatewayLimits } from './limits.ts';
import { MetadataCache } from './metadata-cache.ts';
import type { Moment } from './moment.ts';
import { clockGrainMs, WriteMarks } from './write-marks.ts';

/** failed: the origin refused the write. unknown: it may or may not have taken effect, or still will. */
export type WriteOutcome = 'done' | 'failed' | 'unknown';

export class Knowledge {
  readonly metadata: MetadataCache;
  readonly marks: WriteMarks;
  readonly #moment: Moment;
  readonly #limits: GatewayLimits;

  constructor(moment: Moment, limits: GatewayLimits, seed: number) {
    this.#moment = moment;
    this.#limits = limits;
    this.metadata = new MetadataCache(limits.metadataEntries, limits.metadataBytes, seed);
    this.marks = new WriteMarks(limits.maxWriteMarks, seed);
  }

  /** Metadata that may be used right now, else null. */
  usable(hash: Hash128): ObjectMetadata | null {
    const entry = this.metadata.get(hash);
    if (entry === null || entry.validUntil <= this.#moment.now) return null;
    if (this.marks.areSet && entry.knownAfter < this.marks.demand(this.#moment.now, hash)) {
      return null;
    }
    return entry.metadata;
  }

  /** The moment that a lookup's metadata must be newer than, -Infinity when any will do. */
  demand(now: number, hash: Hash128): number {
    return this.marks.demand(now, hash);
  }

  /**
   * Keeps metadata that a home answered with, unless a write came in between. The lookup was sent at `askedAt` and
   * demanded metadata newer than `demandedAt`; age and lifetime are the answer's.
   */
  learn(
    now: number,
    hash: Hash128,
    metadata: ObjectMetadata,
    askedAt: number,
    demandedAt: number,
    ageMs: number,
    lifetimeMs: number,
  ): void {
    const confirmedAt = askedAt - ageMs;
    const knownAfter = Math.max(demandedAt, confirmedAt - clockGrainMs);
    if (knownAfter < this.marks.demand(now, hash)) return;
    const validUntil =
      lifetimeMs === Infinity
        ? Infinity
        : Math.min(confirmedAt + lifetimeMs, askedAt + this.#limits.gatewayTtlMs);
    this.metadata.put(hash, { metadata, validUntil, knownAfter });
    this.marks.settle(now, hash, lifetimeMs);
  }

  writeStarted(now: number, hash: Hash128): void {
    this.marks.note(now, hash, -Infinity);
  }

  writeFinished(now: number, hash: Hash128, outcome: WriteOutcome): void {
    const unknownUntil = outcome === 'unknown' ? now + this.#limits.unknownWriteMs : -Infinity;
    this.marks.note(now, hash, unknownUntil);
  }
}
