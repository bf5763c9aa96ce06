/**
 * The links that carry passed-through requests to one node, `forwardLinks` at most, and the requests that wait for one: past
 * `maxWaiting` they fail with SlowDown. A request gets a link of its own for its whole life.
 */
import type {
  Forwarding,
  ForwardPort,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';
import type { ConnectGate } from './connect-gate.ts';
import type { ForwardQueue } from './forward-link.ts';
import { AskedForward, ForwardLink } from './forward-link.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import { LinkPool } from './link-pool.ts';

export class ForwardPool implements ForwardPort, ForwardQueue {
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

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const asked = new AskedForward(request, sink, this);
    const outcome = this.#pool.take(asked);
    if (outcome === 'full') {
      asked.failLater('SlowDown', `too many requests wait for ${this.#address}`);
    } else if (outcome === 'unreachable') {
      this.#fail(asked);
    }
    return asked;
  }

  /** A request that still waits was given up. */
  onWaitingAborted(asked: AskedForward): void {
    this.#pool.withdraw((waiting) => waiting === asked);
  }

  /** Ends every link. */
  closeLinks(): void {
    this.#pool.closeLinks();
  }

  close(): void {
    this.#pool.close();
  }

  #fail(asked: AskedForward): void {
    asked.failLater('ServiceUnavailable', `no link to ${this.#address}`);
  }
}
