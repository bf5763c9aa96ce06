/**
 * Random histories of loops that share their write epochs, over a home and an S3 made of nothing but moments: reads from memory or by
 * lookups, whose steps take any time, and writes by way of any loop, some of unknown outcome. What a read that begins after a write's end
 * shows, by whichever loop, is never older than that write.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import type { ObjectMetadata } from '../read.ts';
import { Knowledge } from './knowledge.ts';
import { defaultGatewayLimits } from './limits.ts';
import type { Moment } from './moment.ts';
import { clockSkewMs, WriteEpochs } from './write-epochs.ts';

const unknownWriteMs = 100;
const limits = { ...defaultGatewayLimits, gatewayTtlMs: 1e9, unknownWriteMs };

interface Loop {
  readonly moment: Moment;
  readonly knowledge: Knowledge;
  /** How far its clock is ahead. */
  readonly skew: number;
}

interface Version {
  readonly etag: string;
  until: number;
}

class ModelObject {
  readonly hash: Hash128;
  readonly versions: Version[] = [{ etag: '0', until: Infinity }];
  /** What the home knows, and when it asked S3 for that. */
  home: { readonly etag: string; readonly askedAt: number } | null = null;
  /** Reads that begin now must show a state from then on. */
  seenFrom = -Infinity;
  /** Until then nothing that a loop remembers will do. */
  doubtUntil = -Infinity;

  constructor(n: number) {
    this.hash = { h0: n, h1: n * 7, h2: n, h3: n };
  }

  get current(): string {
    return this.versions.at(-1)!.etag;
  }

  write(now: number): void {
    this.versions.at(-1)!.until = now;
    this.versions.push({ etag: String(this.versions.length), until: Infinity });
  }

  /** A read that had to show a state from `from` on showed this version. */
  judge(etag: string, from: number): void {
    const { until } = this.versions[Number(etag)]!;
    assert.ok(until >= from, `version ${etag}, gone at ${until}, though from ${from} on is due`);
  }
}

const metadataOf = (etag: string, version: Hash128): ObjectMetadata => ({
  ...{ etag, size: 1, lastModified: 0, headerLines: new Uint8Array(0), knowsChecksums: true },
  version,
});

class History {
  readonly prng: Prng;
  readonly loops: Loop[] = [];
  readonly objects = [1, 2].map((n) => new ModelObject(n));
  readonly lifetimeMs: number;
  /** How long a step takes, in milliseconds, at most. */
  readonly pace: readonly number[];
  readonly unknownShare: number;
  /** What goes on later, in any order and at any pace. */
  readonly later: (() => void)[] = [];
  now = 1;

  constructor(seed: number) {
    this.prng = new Prng(seed, 3);
    this.lifetimeMs = this.prng.pick([Infinity, Infinity, 1000]);
    this.pace = this.prng.pick([
      [0, 0.01, 1, 3],
      [0, 1, 30],
      [0, 0.1, 100],
    ]);
    this.unknownShare = this.prng.pick([0, 0, 0.2]);
    const words = new Uint32Array(this.prng.pick([1, 64, 64]));
    for (let loop = 0; loop < 2; loop++) {
      const moment = { now: 0 };
      const epochs = new WriteEpochs(words, 11);
      const skew = this.prng.fraction() * clockSkewMs * 0.99;
      this.loops.push({ moment, skew, knowledge: new Knowledge(moment, limits, epochs, loop) });
    }
  }

  play(steps: number): void {
    for (let step = 0; step < steps; step++) {
      // Most of a lookup and of a write lies within one epoch, or they are far apart.
      this.now += this.prng.pick(this.pace) * this.prng.fraction();
      const object = this.prng.pick(this.objects);
      const loop = this.prng.pick(this.loops);
      const dice = this.prng.below(100);
      if (dice < 30) this.#read(loop, object);
      else if (dice < 34) this.#write(loop, object);
      else if (dice < 35) object.write(this.now);
      else this.later.splice(this.prng.below(Math.max(1, this.later.length)), 1)[0]?.();
    }
  }

  #read({ moment, knowledge, skew }: Loop, object: ModelObject): void {
    const { hash, seenFrom } = object;
    const now = (): number => this.now + skew;
    moment.now = now();
    const known = knowledge.usable(hash);
    if (known !== null) {
      assert.ok(this.now >= object.doubtUntil, 'in doubt nothing is taken from memory');
      object.judge(known.metadata.etag, seenFrom);
      return;
    }
    const askedAt = now();
    const demandedAt = knowledge.demand(askedAt, hash);
    const within = demandedAt === -Infinity ? Infinity : Math.max(0, askedAt - demandedAt);
    this.later.push(() => {
      this.#ask(object, within, (etag, sentAt) => {
        object.judge(etag, seenFrom);
        const age = this.now - sentAt;
        this.later.push(() => {
          const metadata = metadataOf(etag, hash);
          knowledge.learn(hash, metadata, askedAt, demandedAt, age, this.lifetimeMs);
        });
      });
    });
  }

  /** The home is asked. Its age counts from when it asked S3. */
  #ask(object: ModelObject, within: number, answer: (etag: string, sentAt: number) => void): void {
    const { home } = object;
    const age = home === null ? Infinity : this.now - home.askedAt;
    if (home !== null && age < this.lifetimeMs && age < within) {
      answer(home.etag, home.askedAt);
      return;
    }
    const askedAt = this.now;
    this.later.push(() => {
      const etag = object.current;
      this.later.push(() => {
        if (object.home === null || object.home.askedAt < askedAt) object.home = { etag, askedAt };
        answer(etag, askedAt);
      });
    });
  }

  #write({ knowledge, skew }: Loop, object: ModelObject): void {
    const { hash } = object;
    knowledge.writeStarted(this.now + skew, hash);
    if (this.prng.chance(this.unknownShare)) {
      // It takes effect whenever it will, or never.
      const latest = this.now + unknownWriteMs;
      this.later.push(() => {
        knowledge.writeFinished(this.now + skew, hash, 'unknown');
        object.doubtUntil = this.now + unknownWriteMs;
        this.later.push(() => {
          if (this.now > latest) return;
          object.write(this.now);
        });
      });
      return;
    }
    this.later.push(() => {
      object.write(this.now);
      const effect = this.now;
      this.later.push(() => {
        knowledge.writeFinished(this.now + skew, hash, 'done');
        object.seenFrom = Math.max(object.seenFrom, effect);
      });
    });
  }
}

test('whatever happens in which order, no loop shows what was before a write that has ended', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (seed) => {
      new History(seed).play(400);
    }),
    { numRuns: Number(process.env['HISTORY_RUNS'] ?? 300) },
  );
});
