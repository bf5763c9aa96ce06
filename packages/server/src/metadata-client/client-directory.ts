/**
 * Clients that a metadata service knows, as a gateway keeps them: a bounded cache by key id, day and region.
 *
 *   unknown ──lookup──▶ fresh ──half of refreshMs──▶ fresh, asked again at its next use ──refreshMs──▶ stale
 *                         ▲                                   │                                  │
 *                         └───────────── answered ────────────┴───────── looked up ──────────────┘
 *
 * - A fresh client is used without asking. From half of `refreshMs` on, its next use asks again in the background: one that is in
 *   use is never waited for twice.
 * - A stale one is looked up, and its requests wait. So what the service takes back is in force within `refreshMs`, tick included.
 * - While the service fails, the last good answer counts until it is `keepMs` old, without waiting; the service is tried once in
 *   `restMs`.
 * - Keys are per day. In the day's last minutes a client that is asked about is asked about for the next day, too: nobody who is
 *   active waits at midnight (UTC), nor needs the service then.
 * - "No such key" is remembered for `unknownMs`. Keys that aren't known in any scope have a budget, so that inventing key ids costs
 *   the service a bounded number of requests, and known clients nothing.
 * - Lookups of one key are shared by all who wait for it.
 *
 * Ages count from asking, not from the answer. Nothing here blocks: `find` is a look into a map, `lookup` calls back.
 * Memory: about 1 KiB a client and scope, 64 bytes for a key that is known not to exist.
 */
import type { Client, ClientSource } from '../auth/clients.ts';
import { tokenMatches } from '../auth/clients.ts';
import { GrantSet } from '../auth/grants.ts';
import type { ClaimedScope } from '../auth/signing-keys.ts';
import type { ClientFacts } from './answers.ts';
import { LookupBudget } from './lookup-budget.ts';

/** How a lookup came out. skewed: its day is none that a request can be signed for now. */
export type LookupOutcome = 'known' | 'unknown' | 'unavailable' | 'busy' | 'skewed';

export interface DirectoryOptions {
  /** Asks the service; null for "no such key"; fails when there is no answer. */
  readonly ask: (claimed: ClaimedScope) => Promise<ClientFacts | null>;
  /** What `find` said of this scope has to be asked for again. */
  readonly forget: (claimed: ClaimedScope) => void;
  readonly onFailed: (error: Error) => void;
  readonly refreshMs: number;
  readonly keepMs: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  readonly limits?: Partial<DirectoryLimits>;
}

export interface DirectoryLimits {
  readonly maxClients: number;
  readonly maxUnknown: number;
  readonly maxLookups: number;
  readonly unknownMs: number;
  /** After a failure the service is left alone for so long. */
  readonly restMs: number;
  readonly newKeysPerSecond: number;
  readonly newKeysBurst: number;
}

export const defaultDirectoryLimits: DirectoryLimits = {
  maxClients: 10_000,
  maxUnknown: 10_000,
  maxLookups: 256,
  unknownMs: 5000,
  restMs: 1000,
  newKeysPerSecond: 100,
  newKeysBurst: 200,
};

/** How often `tick` has to be called at least. */
export const directoryTickMs = 250;
const dayMs = 86_400_000;
/** From so long before midnight on the next day's keys are asked for; longer where answers are good for longer. */
const earlyMs = 10 * 60_000;
/** Presigned URLs live for seven days at most; clocks may differ by some minutes. */
const daysBack = 8;

const keyPattern = /^[A-Za-z0-9._+@-]{1,128}$/;

/** A client by what the service told: it can check signatures of one day and region, and holds no secret. */
class ServedClient implements Client {
  readonly accessKeyId: string;
  readonly grants: GrantSet;
  readonly expiresAtMs: number;
  readonly #signingKey: Uint8Array;
  readonly #tokenDigest: Uint8Array | null;

  constructor(accessKeyId: string, facts: ClientFacts) {
    this.accessKeyId = accessKeyId;
    this.grants = new GrantSet(facts.grants);
    this.expiresAtMs = facts.expiresAtMs;
    this.#signingKey = facts.signingKey;
    this.#tokenDigest = facts.tokenDigest;
  }

  signingKey(): Uint8Array {
    return this.#signingKey;
  }

  acceptsToken(token: string | null): boolean {
    return tokenMatches(token, this.#tokenDigest);
  }
}

interface Known {
  readonly claimed: ClaimedScope;
  readonly client: ServedClient;
  /** When the service was asked for what it says here. */
  readonly askedAt: number;
  /** Usable without asking until then; moved on while the service fails. */
  freshUntil: number;
  /** Whether `find` has given it out since it was last recalled. */
  isLent: boolean;
}

type Waiter = (outcome: LookupOutcome) => void;

export class ClientDirectory implements ClientSource {
  /** Requests that a limit or a failing service turned away, and lookups sent. */
  readonly counters = { lookups: 0, failures: 0, busy: 0 };
  readonly #options: DirectoryOptions;
  readonly #limits: DirectoryLimits;
  readonly #budget: LookupBudget;
  /** By scope; the one confirmed longest ago comes first. */
  readonly #known = new Map<string, Known>();
  /** By key id: until when it counts as unknown. */
  readonly #unknown = new Map<string, number>();
  readonly #lookups = new Map<string, Waiter[]>();
  /** By key id: how many of its scopes are known. */
  readonly #scopes = new Map<string, number>();
  /** Since the service's latest answer failed to come. */
  #isFailing = false;
  #restUntil = -Infinity;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#limits = { ...defaultDirectoryLimits, ...options.limits };
    const { newKeysPerSecond, newKeysBurst } = this.#limits;
    this.#budget = new LookupBudget(newKeysPerSecond, newKeysBurst);
  }

  get size(): number {
    return this.#known.size;
  }

  find(accessKeyId: string, day: string, region: string): Client | null {
    const now = this.#options.now();
    const known = this.#known.get(scopeKey({ accessKeyId, day, region }));
    if (known === undefined || known.freshUntil <= now) return null;
    known.isLent = true;
    if (now >= this.#refreshAt(known)) {
      this.#refresh(known.claimed, now);
      this.#prepareNextDay(known.claimed, now);
    }
    return known.client;
  }

  /** How it comes out when that is clear at once; else null, and `done` is called later, exactly once. */
  lookup(claimed: ClaimedScope, done: Waiter): LookupOutcome | null {
    const { now, wallClock } = this.#options;
    const at = now();
    if (!keyPattern.test(claimed.accessKeyId)) return 'unknown';
    if (!isDayOfNow(claimed.day, wallClock())) return 'skewed';
    if ((this.#unknown.get(claimed.accessKeyId) ?? -Infinity) > at) return 'unknown';
    const key = scopeKey(claimed);
    const known = this.#known.get(key);
    if (known !== undefined && known.freshUntil > at) return 'known';
    const underWay = this.#lookups.get(key);
    if (underWay !== undefined) {
      underWay.push(done);
      return null;
    }
    if (this.#isFailing) {
      const outcome = this.#lastGood(known, at);
      if (known !== undefined && outcome === 'known') this.#refresh(known.claimed, at);
      if (outcome === 'known' || at < this.#restUntil) return outcome;
    }
    const isFull = this.#lookups.size >= this.#limits.maxLookups;
    const isNew = !this.#scopes.has(claimed.accessKeyId);
    if (isFull || (isNew && !this.#budget.take(at))) {
      this.counters.busy += 1;
      return 'busy';
    }
    void this.#ask(claimed, [done], at);
    return null;
  }

  /** Recalls clients that are due to be asked about again. Call it every `directoryTickMs`. */
  tick(): void {
    const { forget, keepMs, now } = this.#options;
    const at = now();
    for (const [key, known] of this.#known) {
      if (known.isLent && at >= this.#refreshAt(known)) {
        known.isLent = false;
        forget(known.claimed);
      }
      if (at - known.askedAt > Math.max(keepMs, this.#options.refreshMs)) this.#drop(key, known);
    }
    for (const [id, until] of this.#unknown) {
      if (until > at) break;
      this.#unknown.delete(id);
    }
  }

  #refreshAt({ askedAt }: Known): number {
    return askedAt + this.#options.refreshMs / 2;
  }

  /** Asks in the background, unless that is under way or the service had better be left alone. */
  #refresh(claimed: ClaimedScope, now: number): void {
    if (now < this.#restUntil || this.#lookups.has(scopeKey(claimed))) return;
    if (this.#lookups.size < this.#limits.maxLookups) void this.#ask(claimed, [], now);
  }

  /** Towards the end of the day: asks about a client of today for tomorrow, when that isn't known or is due. */
  #prepareNextDay(claimed: ClaimedScope, now: number): void {
    const { refreshMs, wallClock } = this.#options;
    const nowMs = wallClock();
    const tomorrow = Math.floor(nowMs / dayMs + 1) * dayMs;
    if (tomorrow - nowMs > Math.max(earlyMs, 2 * refreshMs)) return;
    if (claimed.day !== dayOf(nowMs)) return;
    const next = { ...claimed, day: dayOf(tomorrow) };
    const known = this.#known.get(scopeKey(next));
    if (known === undefined || now >= this.#refreshAt(known)) this.#refresh(next, now);
  }

  async #ask(claimed: ClaimedScope, waiters: Waiter[], askedAt: number): Promise<void> {
    const key = scopeKey(claimed);
    this.#lookups.set(key, waiters);
    this.counters.lookups += 1;
    let outcome: LookupOutcome;
    try {
      const facts = await this.#options.ask(claimed);
      outcome = this.#answered(claimed, facts, askedAt);
    } catch (error) {
      outcome = this.#failed(key, error instanceof Error ? error : new Error(String(error)));
    }
    this.#lookups.delete(key);
    for (const done of waiters) done(outcome);
  }

  #answered(claimed: ClaimedScope, facts: ClientFacts | null, askedAt: number): LookupOutcome {
    const key = scopeKey(claimed);
    const before = this.#known.get(key);
    if (before !== undefined) this.#drop(key, before);
    this.#isFailing = false;
    if (facts === null) {
      this.#rememberUnknown(claimed.accessKeyId);
      return 'unknown';
    }
    // A tick less, so that it is recalled in time.
    const freshUntil = askedAt + this.#options.refreshMs - directoryTickMs;
    const client = new ServedClient(claimed.accessKeyId, facts);
    this.#known.set(key, { claimed, client, askedAt, freshUntil, isLent: false });
    this.#scopes.set(claimed.accessKeyId, (this.#scopes.get(claimed.accessKeyId) ?? 0) + 1);
    if (this.#known.size > this.#limits.maxClients) {
      const [oldest] = this.#known;
      if (oldest !== undefined) this.#drop(...oldest);
    }
    return 'known';
  }

  #failed(key: string, error: Error): LookupOutcome {
    const now = this.#options.now();
    this.counters.failures += 1;
    this.#isFailing = true;
    this.#restUntil = now + this.#limits.restMs;
    this.#options.onFailed(error);
    return this.#lastGood(this.#known.get(key), now);
  }

  /** While the service fails: what it said last, if that isn't too old. */
  #lastGood(known: Known | undefined, now: number): LookupOutcome {
    const keptUntil = known === undefined ? -Infinity : known.askedAt + this.#options.keepMs;
    if (known === undefined || keptUntil <= now) return 'unavailable';
    known.freshUntil = Math.min(keptUntil, now + this.#limits.restMs);
    return 'known';
  }

  #rememberUnknown(accessKeyId: string): void {
    this.#unknown.delete(accessKeyId);
    this.#unknown.set(accessKeyId, this.#options.now() + this.#limits.unknownMs);
    if (this.#unknown.size <= this.#limits.maxUnknown) return;
    const [oldest] = this.#unknown.keys();
    if (oldest !== undefined) this.#unknown.delete(oldest);
  }

  #drop(key: string, { claimed }: Known): void {
    this.#known.delete(key);
    const left = (this.#scopes.get(claimed.accessKeyId) ?? 1) - 1;
    if (left > 0) this.#scopes.set(claimed.accessKeyId, left);
    else this.#scopes.delete(claimed.accessKeyId);
    this.#options.forget(claimed);
  }
}

/** Regions can't hold a slash, and neither can key ids that are looked up. */
function scopeKey({ accessKeyId, day, region }: ClaimedScope): string {
  return `${accessKeyId}/${day}/${region}`;
}

/** `20261129`, in UTC. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}

/** Whether a request that is checked now can have been signed on that day. */
function isDayOfNow(day: string, nowMs: number): boolean {
  const startMs = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
  return startMs > nowMs - (daysBack + 1) * dayMs && startMs < nowMs + dayMs;
}
