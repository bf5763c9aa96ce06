/**
 * A node's fetches from other nodes: it asks them over links as a gateway does, but the bytes come into its own memory.
 *
 * A fetch that brought nothing may go on at another node under the same id, so each attempt is a record of its own. Bodies are
 * blocks, for which the core has room once it took the answer: they need no back-pressure.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { FetchEnd, FetchId } from '@s3-accelerator/core/node/effects.ts';
import type { ReadAnswer, ReadRequest } from '@s3-accelerator/core/read.ts';
import type { Peers } from '../peers/peers.ts';
import type { PeerEvents } from '../peers/reads.ts';

/** The node, as far as it is told of them. */
export interface PeerFetchEvents {
  onPeerAnswer(fetch: FetchId, answer: ReadAnswer): void;
  /** Returns how many bytes were taken. */
  onBytes(fetch: FetchId, bytes: Uint8Array): number;
  onEnd(fetch: FetchId, end: FetchEnd): void;
}

interface Attempt {
  readonly fetch: FetchId;
}

export class PeerFetches implements PeerEvents {
  readonly #events: PeerFetchEvents;
  readonly #attempts = new Map<FetchId, Attempt>();
  /** Set by the composition, which makes it with this for its events. */
  peers: Pick<Peers, 'sendRead' | 'cancelRead' | 'takeBody'> | null = null;

  constructor(events: PeerFetchEvents) {
    this.#events = events;
  }

  /** Fetches that haven't ended. */
  get inFlight(): number {
    return this.#attempts.size;
  }

  start(fetch: FetchId, nodeId: number, request: ReadRequest): void {
    assert(this.peers !== null, 'nodes are asked once there are links');
    this.#attempts.set(fetch, { fetch });
    this.peers.sendRead(fetch, nodeId, request);
  }

  cancel(fetch: FetchId): void {
    if (this.#attempts.delete(fetch)) this.peers?.cancelRead(fetch);
  }

  onAnswer(fetch: FetchId, answer: ReadAnswer): void {
    const attempt = this.#attempts.get(fetch);
    assert(attempt !== undefined, 'an answer belongs to a fetch');
    const hasBody = answer.bodyLength > 0;
    if (!hasBody) this.#attempts.delete(fetch);
    this.#events.onPeerAnswer(fetch, answer);
    if (!hasBody || this.#attempts.get(fetch) !== attempt) return;
    this.peers?.takeBody(fetch, (bytes) => {
      const taken = this.#events.onBytes(fetch, bytes);
      const isOver = this.#attempts.get(fetch) !== attempt;
      assert(isOver || taken === bytes.length, 'there is room for the block that was asked for');
    });
  }

  onBodyQueued(fetch: FetchId): void {
    this.#end(fetch, 'complete');
  }

  onBodyFailed(fetch: FetchId): void {
    this.#end(fetch, 'broken');
  }

  onNodeReached(): void {
    // Whether a node is worth asking again, the core finds out by itself.
  }

  onBucketsChanged(): void {
    // A node goes by its own settings.
  }

  #end(fetch: FetchId, end: FetchEnd): void {
    if (this.#attempts.delete(fetch)) this.#events.onEnd(fetch, end);
  }
}
