/**
 * The exclusive links to one node, and the reads that wait for one.
 *
 * Links are opened when a read finds none free, up to `exclusiveLinks`; the one that got free last is used first, so that those
 * not needed grow idle and close. Further reads wait in order, up to `maxWaiting`; past that they are answered busy.
 */
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import { encodeReadRequest, readRequestBound } from '@s3-accelerator/protocol/read-request.ts';
import type { ConnectGate } from './connect-gate.ts';
import type { ExclusiveLinkOwner } from './exclusive-link.ts';
import { ExclusiveLink } from './exclusive-link.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import type { PendingRead, ReadLink, Reads } from './reads.ts';

interface Waiting {
  readonly pending: PendingRead;
  readonly frame: Uint8Array;
}

export class ExclusivePool implements ExclusiveLinkOwner, ReadLink {
  readonly #context: LinkContext;
  readonly #reads: Reads;
  readonly #gate: ConnectGate;
  readonly #host: string;
  readonly #port: number;
  readonly #options: PeerOptions;
  readonly #links = new Set<ExclusiveLink>();
  readonly #free: ExclusiveLink[] = [];
  #waiting: Waiting[] = [];
  #opening = 0;
  #closed = false;

  constructor(
    context: LinkContext,
    reads: Reads,
    gate: ConnectGate,
    host: string,
    port: number,
    options: PeerOptions,
  ) {
    this.#context = context;
    this.#reads = reads;
    this.#gate = gate;
    this.#host = host;
    this.#port = port;
    this.#options = options;
  }

  /** Links that are open or opening. */
  get size(): number {
    return this.#links.size;
  }

  send(pending: PendingRead, request: ReadRequest): void {
    const bytes = new Uint8Array(readRequestBound(request));
    const frame = bytes.subarray(0, encodeReadRequest(bytes, 0, pending.id, request));
    const link = this.#takeFree();
    if (link !== null) {
      link.send(pending, frame);
      return;
    }
    if (this.#waiting.length >= this.#options.maxWaiting) {
      this.#reads.failLater(pending, 'busy');
      return;
    }
    if (this.#opening <= this.#waiting.length) this.#open();
    // None could be opened, and none is there to wait for.
    if (this.#links.size === 0) {
      this.#reads.failLater(pending, 'peer');
      return;
    }
    pending.link = this;
    this.#waiting.push({ pending, frame });
  }

  /** A read that still waits was cancelled. */
  drop(pending: PendingRead): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.pending !== pending);
    this.#reads.release(pending);
  }

  relayBody(): void {
    throw new Error('a read that waits for a link has no body');
  }

  /** Called at a steady pace. */
  watch(): void {
    for (const link of this.#links) link.watch();
  }

  /** Ends every link; reads that wait fail unless a new link may be opened. */
  closeLinks(): void {
    for (const link of [...this.#links]) link.close();
  }

  close(): void {
    this.#closed = true;
    this.closeLinks();
    this.#failWaiting();
  }

  onExclusiveFree(link: ExclusiveLink): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(link);
    else link.send(next.pending, next.frame);
  }

  onExclusiveOpen(): void {
    this.#opening -= 1;
    this.#gate.succeeded();
  }

  onExclusiveLost(link: ExclusiveLink, served: boolean): void {
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

  #takeFree(): ExclusiveLink | null {
    return this.#free.pop() ?? null;
  }

  #open(): void {
    if (this.#closed || this.#links.size >= this.#options.exclusiveLinks) return;
    if (!this.#gate.isOpen(performance.now())) return;
    this.#opening += 1;
    const { idleMs, drainBytes } = this.#options;
    const link = new ExclusiveLink(this.#context, this.#reads, this, this.#host, this.#port, {
      idleMs,
      drainBytes,
    });
    this.#links.add(link);
  }

  /** No link is left and none may be opened: nobody can answer. */
  #failWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { pending } of waiting) this.#reads.failLater(pending, 'peer');
  }
}
