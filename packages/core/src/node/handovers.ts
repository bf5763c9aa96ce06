/**
 * Asking previous owners: what moved here with a ring change is still with them, and takes a round trip instead of S3. And asking
 * the owner of what it lent to this node.
 *
 * At most two are asked for a block or for an object's metadata, one after the other, each for what it holds. Whoever doesn't answer
 * in time, or can't be reached, is left alone for a while: then one fetch tries it again, and not all of them. Whatever
 * goes wrong, S3 has everything.
 *
 * Memory: one entry for each node that is left alone; the marks are in the fetches.
 */
import { copyHash128 } from '../base/hash.ts';
import { LinkedList } from '../base/linked-list.ts';
import type { Placement } from '../placement.ts';
import { newReadRequest, type ReadAnswer } from '../read.ts';
import type { NodeCounters } from './counters.ts';
import type { NodeEffects } from './effects.ts';
import type { DeadlineMark, Fetch } from './fetch.ts';
import type { HeldLeases } from './held-leases.ts';
import type { NodeLimits } from './limits.ts';
import type { Ownership } from './ownership.ts';

export class Handovers {
  readonly #effects: Pick<NodeEffects, 'startPeerFetch' | 'cancelFetch'>;
  readonly #ownership: Ownership;
  readonly #leases: HeldLeases;
  readonly #limits: NodeLimits;
  readonly #counters: NodeCounters;
  readonly #request = newReadRequest();
  /** Fetches that wait for a previous owner: in the order of their deadlines, since all have equally long. */
  readonly #waiting = new LinkedList<DeadlineMark>();
  /** When each node that didn't answer may be tried again. */
  readonly #restsUntil = new Map<number, number>();

  constructor(
    effects: Pick<NodeEffects, 'startPeerFetch' | 'cancelFetch'>,
    ownership: Ownership,
    leases: HeldLeases,
    limits: NodeLimits,
    counters: NodeCounters,
  ) {
    this.#effects = effects;
    this.#ownership = ownership;
    this.#leases = leases;
    this.#limits = limits;
    this.#counters = counters;
    this.#request.onlyHeld = true;
  }

  /** When the first fetch has waited too long, Infinity when none waits. */
  get deadline(): number {
    return this.#waiting.first?.deadline ?? Infinity;
  }

  /** Chooses who may have what a fetch wants, to be asked next; false when there is nobody. */
  choose(now: number, fetch: Fetch, placement: Readonly<Placement>): boolean {
    fetch.nextOwner = 0;
    fetch.previousOwnerCount = this.#ownership.previousOwners(now, placement, fetch.previousOwners);
    if (this.lends(now, placement)) {
      fetch.previousOwners[0] = this.#leases.lenderOf(now, placement);
      fetch.previousOwnerCount = 1;
    }
    return this.chooseNext(now, fetch);
  }

  /** Whether a placement is another node's that lent it to this one. */
  lends(now: number, placement: Readonly<Placement>): boolean {
    const isLent = this.#leases.holds(now, placement.hi, placement.lo);
    return isLent && !this.#ownership.ranksFirst(placement);
  }

  /** The next one after the one that had nothing; false when nobody is left. */
  chooseNext(now: number, fetch: Fetch): boolean {
    while (fetch.nextOwner < fetch.previousOwnerCount) {
      const nodeId = fetch.previousOwners[fetch.nextOwner]!;
      fetch.nextOwner += 1;
      if (!this.#mayAsk(now, nodeId)) continue;
      fetch.peer = nodeId;
      return true;
    }
    return false;
  }

  /** Asks the one that was chosen for all bytes of a fetch, which are one block. */
  askForBlock(now: number, fetch: Fetch): void {
    const request = this.#request;
    request.kind = 'blocks';
    copyHash128(fetch.version, request.version);
    request.etag = fetch.etag;
    request.size = fetch.size;
    request.first = fetch.first;
    request.last = fetch.last;
    request.partLast = fetch.last;
    this.#ask(now, fetch);
  }

  /** Asks the one that was chosen for an object's metadata. */
  askForMetadata(now: number, fetch: Fetch): void {
    this.#request.kind = 'lookup';
    this.#ask(now, fetch);
  }

  /** Bytes came: the next ones have the whole time again. */
  progressed(now: number, fetch: Fetch): void {
    this.#waiting.remove(fetch.patience);
    this.#wait(now, fetch);
  }

  /** The one that was asked has answered, or isn't needed any more. */
  ended(fetch: Fetch): void {
    if (fetch.patience.list !== null) this.#waiting.remove(fetch.patience);
    fetch.peer = -1;
  }

  /** The one that was asked has said something, or can't be reached. */
  answered(now: number, fetch: Fetch, answer: ReadAnswer): void {
    if (answer.kind === 'failure' && answer.failure === 'peer') this.#leaveAlone(now, fetch.peer);
    else this.#restsUntil.delete(fetch.peer);
  }

  /** A fetch that has waited too long; it is cut. Null when there is none. */
  takeLate(now: number): Fetch | null {
    const mark = this.#waiting.first;
    if (mark === null || mark.deadline > now) return null;
    const { fetch } = mark;
    this.#counters.handoverTimeouts += 1;
    this.#leaveAlone(now, fetch.peer);
    this.ended(fetch);
    this.#effects.cancelFetch(fetch.id);
    return fetch;
  }

  #ask(now: number, fetch: Fetch): void {
    fetch.stream = 'asked';
    if (this.#restsUntil.has(fetch.peer)) this.#leaveAlone(now, fetch.peer);
    this.#wait(now, fetch);
    this.#counters.handoversAsked += 1;
    const request = this.#request;
    request.bucket = fetch.bucket;
    request.key = fetch.key;
    copyHash128(fetch.hash, request.hash);
    this.#effects.startPeerFetch(fetch.id, fetch.peer, request);
  }

  /** One that was silent is tried by one fetch when its rest is over; as that asks, the others' rest begins anew. */
  #mayAsk(now: number, nodeId: number): boolean {
    const until = this.#restsUntil.get(nodeId);
    return until === undefined || until <= now;
  }

  #leaveAlone(now: number, nodeId: number): void {
    this.#restsUntil.set(nodeId, now + this.#limits.peerRestMs);
  }

  #wait(now: number, fetch: Fetch): void {
    fetch.patience.deadline = now + this.#limits.peerFetchTimeoutMs;
    this.#waiting.append(fetch.patience);
  }
}
