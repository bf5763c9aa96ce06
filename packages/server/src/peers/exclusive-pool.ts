/**
 * The exclusive links to one node, `exclusiveLinks` at most, and the reads that wait for one: past `maxWaiting` they are
 * answered busy.
 */
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import { encodeReadRequest, readRequestBound } from '@s3-accelerator/protocol/read-request.ts';
import type { ConnectGate } from './connect-gate.ts';
import { ExclusiveLink } from './exclusive-link.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import { LinkPool } from './link-pool.ts';
import type { PendingRead, ReadLink, Reads } from './reads.ts';

interface Waiting {
  readonly pending: PendingRead;
  readonly frame: Uint8Array;
}

export class ExclusivePool implements ReadLink {
  readonly #reads: Reads;
  readonly #pool: LinkPool<ExclusiveLink, Waiting>;

  constructor(
    context: LinkContext,
    reads: Reads,
    gate: ConnectGate,
    host: string,
    port: number,
    options: PeerOptions,
  ) {
    this.#reads = reads;
    this.#pool = new LinkPool(gate, options.exclusiveLinks, options.maxWaiting, {
      open: (owner) => new ExclusiveLink(context, reads, owner, host, port, options),
      start: (link, { pending, frame }) => {
        link.send(pending, frame);
      },
      fail: ({ pending }) => {
        reads.failLater(pending, 'peer');
      },
    });
  }

  /** Links that are open or opening. */
  get size(): number {
    return this.#pool.links.size;
  }

  /** Whether no read is carried or waits. */
  get isIdle(): boolean {
    return this.#pool.isIdle;
  }

  send(pending: PendingRead, request: ReadRequest): void {
    const bytes = new Uint8Array(readRequestBound(request));
    const frame = bytes.subarray(0, encodeReadRequest(bytes, 0, pending.id, request));
    switch (this.#pool.take({ pending, frame })) {
      case 'started':
        break;
      case 'waits':
        pending.link = this;
        break;
      case 'full':
        this.#reads.failLater(pending, 'busy');
        break;
      case 'unreachable':
        this.#reads.failLater(pending, 'peer');
    }
  }

  /** A read that still waits was cancelled. */
  drop(pending: PendingRead): void {
    this.#pool.withdraw((waiting) => waiting.pending === pending);
    this.#reads.release(pending);
  }

  relayBody(): void {
    throw new Error('a read that waits for a link has no body');
  }

  takeBody(): void {
    throw new Error('a read that waits for a link has no body');
  }

  /** Called at a steady pace. */
  watch(now: number): void {
    for (const link of this.#pool.links) link.watch(now);
  }

  /** Reads that wait for a link wait no longer. */
  failWaiting(): void {
    this.#pool.failWaiting();
  }

  /** Ends every link; reads that wait fail unless a new link may be opened. */
  closeLinks(): void {
    this.#pool.closeLinks();
  }

  close(): void {
    this.#pool.close();
  }
}
