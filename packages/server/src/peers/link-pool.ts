/**
 * The links of one kind to one node that carry one thing at a time, and what waits for such a link.
 *
 * A link is opened when none is free, up to `maxLinks`; the one that got free last is used first, so that those not needed grow
 * idle and close. What comes on top waits in order, up to `maxWaiting`. Without a link, and none that may be opened, nobody waits.
 */
import type { ConnectGate } from './connect-gate.ts';

/** Whoever opened a link and lends it. */
export interface LinkOwner<L> {
  onOpen(): void;
  /** The link is open, or done with what it carried: it can carry the next. */
  onFree(link: L): void;
  /** `served`: whether it had been open. */
  onLost(link: L, served: boolean): void;
}

/** What a pool does with its links, and with those that wait for one. */
export interface LinkUses<L, W> {
  /** Opens a link, which tells `owner` what becomes of it. */
  open(owner: LinkOwner<L>): L;
  start(link: L, waiting: W): void;
  /** It has waited in vain. */
  fail(waiting: W): void;
}

export class LinkPool<L extends { close(): void }, W> implements LinkOwner<L> {
  readonly #gate: ConnectGate;
  readonly #maxLinks: number;
  readonly #maxWaiting: number;
  readonly #uses: LinkUses<L, W>;
  readonly #links = new Set<L>();
  readonly #free: L[] = [];
  #waiting: W[] = [];
  #opening = 0;
  #closed = false;

  constructor(gate: ConnectGate, maxLinks: number, maxWaiting: number, uses: LinkUses<L, W>) {
    this.#gate = gate;
    this.#maxLinks = maxLinks;
    this.#maxWaiting = maxWaiting;
    this.#uses = uses;
  }

  /** Links that are open or opening. */
  get links(): ReadonlySet<L> {
    return this.#links;
  }

  /** Whether no link carries anything and nothing waits. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#free.length + this.#opening === this.#links.size;
  }

  /** Starts it on a free link or lets it wait; full: too many wait already. unreachable: no link is there to wait for. */
  take(waiting: W): 'started' | 'waits' | 'full' | 'unreachable' {
    const link = this.#free.pop();
    if (link !== undefined) {
      this.#uses.start(link, waiting);
      return 'started';
    }
    if (this.#waiting.length >= this.#maxWaiting) return 'full';
    if (this.#opening <= this.#waiting.length) this.#open();
    if (this.#links.size === 0) return 'unreachable';
    this.#waiting.push(waiting);
    return 'waits';
  }

  /** Something that still waits was given up. */
  withdraw(isGivenUp: (waiting: W) => boolean): void {
    this.#waiting = this.#waiting.filter((waiting) => !isGivenUp(waiting));
  }

  /** Ends every link; what waits fails unless a new link may be opened. */
  closeLinks(): void {
    for (const link of [...this.#links]) link.close();
  }

  /** What waits for a link waits no longer. */
  failWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) this.#uses.fail(each);
  }

  close(): void {
    this.#closed = true;
    this.closeLinks();
    this.failWaiting();
  }

  onOpen(): void {
    this.#opening -= 1;
    this.#gate.succeeded();
  }

  onFree(link: L): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(link);
    else this.#uses.start(link, next);
  }

  onLost(link: L, served: boolean): void {
    this.#links.delete(link);
    const at = this.#free.indexOf(link);
    if (at >= 0) this.#free.splice(at, 1);
    if (!served) {
      this.#opening -= 1;
      this.#gate.failed(performance.now(), Math.random());
    }
    if (this.#waiting.length > 0) this.#open();
    if (this.#links.size === 0) this.failWaiting();
  }

  #open(): void {
    if (this.#closed || this.#links.size >= this.#maxLinks) return;
    if (!this.#gate.isOpen(performance.now())) return;
    this.#opening += 1;
    this.#links.add(this.#uses.open(this));
  }
}
