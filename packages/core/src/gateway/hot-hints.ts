/**
 * Placements that their owners lent to other nodes too: their reads are spread over all of these, each to where fewest reads wait, and
 * in turn where that is the same.
 *
 * A hint comes with an owner's answer, counts from when that was asked for, and ends by itself. It is advice: a node that
 * is suspected or was tried is passed over, and whoever is asked without holding a lease any more reads through. A new ring makes all
 * hints void, as the owners may be others now; so is one that comes late, from whoever owned a placement before.
 *
 * Memory: about 200 bytes a hint, `maxHotHints` at most; the one that was used longest ago makes room.
 */
import type { Hash128, U64 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';
import { ownerOf } from '../placement.ts';
import type { HotHint } from '../read.ts';
import type { Ring } from '../ring.ts';
import type { Moment } from './moment.ts';
import { NodeLoads } from './node-loads.ts';
import type { Suspects } from './suspects.ts';

/** One that ends this little later is no news, in milliseconds: each answer of an owner has one. */
const grainMs = 1;

interface Spread {
  nodes: readonly number[];
  /** Not used from then on. */
  until: number;
  /** Index of the node whose turn it is. */
  turn: number;
}

export class HotHints {
  readonly #moment: Moment;
  readonly #maxHints: number;
  readonly #seed: number;
  readonly #key: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  readonly loads = new NodeLoads();
  #spreads: Lru<Spread>;

  constructor(moment: Moment, maxHints: number, seed: number) {
    this.#moment = moment;
    this.#maxHints = maxHints;
    this.#seed = seed;
    this.#spreads = new Lru(maxHints, Infinity, seed);
  }

  /** Hints that are kept, those among them that are over included. */
  get count(): number {
    return this.#spreads.count;
  }

  /** An answer to a read of `askedAt` named these: believed if they are members, and the first of them is the owner. */
  learn(askedAt: number, placement: Readonly<U64>, hint: HotHint, ring: Ring): void {
    const { remainingMs, nodes } = hint;
    const until = askedAt + remainingMs;
    const spread = this.#spreads.peek(this.#keyOf(placement));
    // Answers overtake each other. Holders accept one by one, and all until the same moment: then the longer list is the news.
    const isLonger = spread === null || nodes.length > spread.nodes.length;
    if (spread !== null && until <= spread.until + grainMs && !isLonger) return;
    if (nodes.some((nodeId) => ring.member(nodeId) === null)) return;
    if (ownerOf(ring, placement) !== nodes[0]) return;
    if (spread === null) {
      // Gateways that start with different nodes don't all turn to the same one at once.
      const turn = (this.#seed >>> 0) % nodes.length;
      this.#spreads.set(this.#key, { nodes: [...nodes], until, turn }, 0);
      return;
    }
    spread.until = until;
    if (isSame(spread.nodes, nodes)) return;
    spread.nodes = [...nodes];
    spread.turn %= nodes.length;
  }

  /** The node whose turn it is, none of those `tried` and no suspect; -1 when the placement isn't hot, or nobody is left. */
  next(placement: Readonly<U64>, tried: readonly number[], suspects: Suspects): number {
    const spread = this.#find(placement);
    if (spread === null) return -1;
    const { nodes } = spread;
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < nodes.length; i++) {
      const at = (spread.turn + i) % nodes.length;
      const nodeId = nodes[at]!;
      const load = this.loads.of(nodeId);
      if (load >= least || tried.includes(nodeId) || suspects.has(nodeId)) continue;
      best = at;
      least = load;
    }
    if (best < 0) return -1;
    spread.turn = (best + 1) % nodes.length;
    return nodes[best]!;
  }

  /** Whether a node is one of those that serve a placement. */
  names(placement: Readonly<U64>, nodeId: number): boolean {
    return this.#find(placement)?.nodes.includes(nodeId) === true;
  }

  /** Forgets all. */
  clear(): void {
    if (this.count > 0) this.#spreads = new Lru(this.#maxHints, Infinity, this.#seed);
  }

  #find(placement: Readonly<U64>): Spread | null {
    if (this.#spreads.count === 0) return null;
    const spread = this.#spreads.get(this.#keyOf(placement));
    if (spread === null) return null;
    if (spread.until > this.#moment.now) return spread;
    this.#spreads.delete(this.#key);
    return null;
  }

  #keyOf({ hi, lo }: Readonly<U64>): Hash128 {
    this.#key.h0 = hi;
    this.#key.h1 = lo;
    return this.#key;
  }
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
