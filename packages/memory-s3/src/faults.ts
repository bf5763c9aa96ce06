// Injected faults: standing rates drawn from a seeded generator, and single faults that tests line up.
import { seededRandom } from './random.ts';

export type FaultKind =
  /** 503 SlowDown before anything is done. */
  | 'slow-down'
  /** 500 InternalError before anything is done. */
  | 'internal-error'
  /** The connection is cut before anything is done. */
  | 'reset-before'
  /** The operation is done, then the connection is cut without an answer. */
  | 'reset-after'
  /** Promises all bytes, sends about half of them, closes. */
  | 'short-body'
  /** Promises all bytes, sends none, closes. */
  | 'empty-body'
  /** Promises all bytes, sends about half of them, then keeps silent. */
  | 'stall'
  /** 200, white space, then an Error document; nothing is done. For writes that answer with XML. */
  | 'late-error'
  /** 200, white space, then the result. For writes that answer with XML. */
  | 'late-answer';

export interface FaultRates {
  /** Before the first byte of every answer, in milliseconds. */
  delayMs: number;
  /** Of each answer's body; Infinity for no limit. */
  bandwidthBytesPerSecond: number;
  /** Share of requests that end in SlowDown, InternalError or a reset (a third each), 0–1. */
  errorRate: number;
  /** Share of answers with a body that send less than they promise, 0–1. */
  shortBodyRate: number;
}

/** Which requests a lined-up fault or a hold is for. */
export interface RequestMatch {
  /** S3's name, such as GetObject. */
  readonly operation?: string;
  readonly bucket?: string;
  readonly key?: string;
  /** How many requests; one if absent. */
  readonly times?: number;
}

/** A request whose answer is ready and waits to be sent. */
export interface Hold {
  /** Resolves when a matching request has its answer. */
  readonly arrived: Promise<void>;
  /** Lets the answers go, and later ones pass. */
  release(): void;
}

interface Subject {
  readonly operation: string;
  readonly bucket: string | null;
  readonly key: string | null;
}

interface Waiting {
  readonly match: RequestMatch;
  left: number;
}

export class Faults {
  readonly rates: FaultRates;
  readonly #random: () => number;
  readonly #next: (Waiting & { readonly kind: FaultKind })[] = [];
  readonly #holds: (Waiting & { arrive: () => void; readonly released: Promise<void> })[] = [];

  constructor(rates: FaultRates, seed: number) {
    this.rates = { ...rates };
    this.#random = seededRandom(seed);
  }

  /** Changes some of the rates from the next request on. */
  set(rates: Partial<FaultRates>): void {
    Object.assign(this.rates, rates);
  }

  /** The next matching requests get this fault; faults lined up earlier go first. */
  next(kind: FaultKind, match: RequestMatch = {}): void {
    this.#next.push({ kind, match, left: match.times ?? 1 });
  }

  /** Stops matching answers just before they are sent: what they say is already decided. */
  hold(match: RequestMatch = {}): Hold {
    const arrived = Promise.withResolvers<undefined>();
    const released = Promise.withResolvers<undefined>();
    const hold = {
      match,
      left: match.times ?? 1,
      arrive: () => arrived.resolve(undefined),
      released: released.promise,
    };
    this.#holds.push(hold);
    return {
      arrived: arrived.promise,
      release: () => {
        hold.left = 0;
        released.resolve(undefined);
      },
    };
  }

  /** Forgets faults that were lined up and hasn't met their request. */
  clear(): void {
    this.#next.length = 0;
  }

  /** The fault of one request. */
  draw(subject: Subject): FaultKind | null {
    const lined = take(this.#next, subject);
    if (lined !== null) return lined.kind;
    const { errorRate, shortBodyRate } = this.rates;
    if (errorRate > 0 && this.#random() < errorRate) {
      return (['slow-down', 'internal-error', 'reset-before'] as const)[
        Math.floor(this.#random() * 3)
      ]!;
    }
    return shortBodyRate > 0 && this.#random() < shortBodyRate ? 'short-body' : null;
  }

  /** Resolves once the answer may go; null if nothing holds it. */
  held(subject: Subject): Promise<void> | null {
    const hold = take(this.#holds, subject);
    if (hold === null) return null;
    hold.arrive();
    return hold.released;
  }
}

function take<T extends Waiting>(waiting: T[], subject: Subject): T | null {
  const index = waiting.findIndex(({ match, left }) => {
    return (
      left > 0 &&
      (match.operation ?? subject.operation) === subject.operation &&
      (match.bucket ?? subject.bucket) === subject.bucket &&
      (match.key ?? subject.key) === subject.key
    );
  });
  const found = waiting[index];
  if (found === undefined) return null;
  found.left--;
  if (found.left === 0) waiting.splice(index, 1);
  return found;
}
