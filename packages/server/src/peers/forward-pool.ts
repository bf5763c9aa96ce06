/**
 * The links that carry passed-through requests to one node, and the requests that wait for one.
 *
 * A request gets a link of its own for its whole life. Links are opened on demand up to `forwardLinks`, reused last in first out,
 * and close when idle; requests past that wait in order, up to `maxWaiting`, then fail with SlowDown.
 */
import type {
  Forwarding,
  ForwardPort,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';
import type { ConnectGate } from './connect-gate.ts';
import type { ForwardLinkOwner } from './forward-link.ts';
import { AskedForward, ForwardLink } from './forward-link.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';

export class ForwardPool implements ForwardPort, ForwardLinkOwner {
  readonly #context: LinkContext;
  readonly #gate: ConnectGate;
  readonly #host: string;
  readonly #port: number;
  readonly #options: PeerOptions;
  readonly #links = new Set<ForwardLink>();
  readonly #free: ForwardLink[] = [];
  #waiting: AskedForward[] = [];
  #opening = 0;
  #closed = false;

  constructor(
    context: LinkContext,
    gate: ConnectGate,
    host: string,
    port: number,
    options: PeerOptions,
  ) {
    this.#context = context;
    this.#gate = gate;
    this.#host = host;
    this.#port = port;
    this.#options = options;
  }

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const asked = new AskedForward(request, sink, this);
    const link = this.#free.pop();
    if (link !== undefined) {
      link.start(asked);
    } else if (this.#waiting.length >= this.#options.maxWaiting) {
      asked.failLater('SlowDown', `too many requests wait for ${this.#host}:${this.#port}`);
    } else {
      if (this.#opening <= this.#waiting.length) this.#open();
      this.#waiting.push(asked);
      if (this.#links.size === 0) this.#failWaiting();
    }
    return asked;
  }

  /** Ends every link. */
  closeLinks(): void {
    for (const link of [...this.#links]) link.close();
  }

  close(): void {
    this.#closed = true;
    this.closeLinks();
    this.#failWaiting();
  }

  /** A request that still waits was given up. */
  onWaitingAborted(asked: AskedForward): void {
    this.#waiting = this.#waiting.filter((other) => other !== asked);
  }

  onForwardOpen(): void {
    this.#opening -= 1;
    this.#gate.succeeded();
  }

  onForwardFree(link: ForwardLink): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(link);
    else link.start(next);
  }

  onForwardLost(link: ForwardLink, served: boolean): void {
    this.#links.delete(link);
    const at = this.#free.indexOf(link);
    if (at >= 0) this.#free.splice(at, 1);
    if (!served) {
      this.#opening -= 1;
      this.#gate.failed(performance.now(), Math.random());
    }
    if (this.#waiting.length > 0) this.#open();
    if (this.#links.size === 0) this.#failWaiting();
  }

  #open(): void {
    if (this.#closed || this.#links.size >= this.#options.forwardLinks) return;
    if (!this.#gate.isOpen(performance.now())) return;
    this.#opening += 1;
    const { idleMs } = this.#options;
    this.#links.add(new ForwardLink(this.#context, this, this.#host, this.#port, idleMs));
  }

  #failWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const asked of waiting) {
      asked.failLater('ServiceUnavailable', `no link to ${this.#host}:${this.#port}`);
    }
  }
}
