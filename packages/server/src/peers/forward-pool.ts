/**
 * The links that carry passed-through requests to one node, `forwardLinks` at most, and the requests that wait for one: past
 * `maxWaiting` they fail with SlowDown. A request gets a link of its own for its whole life; one that gets none goes on its next way.
 */
import type { AskedForward, ForwardWay } from './asked-forward.ts';
import type { ConnectGate } from './connect-gate.ts';
import { ForwardLink } from './forward-link.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import { LinkPool } from './link-pool.ts';

export class ForwardPool implements ForwardWay {
  readonly #address: string;
  readonly #pool: LinkPool<ForwardLink, AskedForward>;

  constructor(
    context: LinkContext,
    gate: ConnectGate,
    host: string,
    port: number,
    { forwardLinks, maxWaiting, idleMs }: PeerOptions,
  ) {
    this.#address = `${host}:${port}`;
    this.#pool = new LinkPool(gate, forwardLinks, maxWaiting, {
      open: (owner) => new ForwardLink(context, owner, host, port, idleMs),
      start: (link, asked) => {
        link.start(asked);
      },
      fail: (asked) => {
        this.#fail(asked);
      },
    });
  }

  /** Whether no request is carried or waits. */
  get isIdle(): boolean {
    return this.#pool.isIdle;
  }

  take(asked: AskedForward): void {
    const outcome = this.#pool.take(asked);
    if (outcome === 'full') {
      asked.failLater('SlowDown', `too many requests wait for ${this.#address}`);
    } else if (outcome === 'unreachable') {
      this.#fail(asked);
    }
  }

  withdraw(asked: AskedForward): void {
    this.#pool.withdraw((waiting) => waiting === asked);
  }

  /** Requests that wait for a link go on their next way. */
  failWaiting(): void {
    this.#pool.failWaiting();
  }

  /** Ends every link. */
  closeLinks(): void {
    this.#pool.closeLinks();
  }

  close(): void {
    this.#pool.close();
  }

  #fail(asked: AskedForward): void {
    asked.goOn(`no link to ${this.#address}`);
  }
}
