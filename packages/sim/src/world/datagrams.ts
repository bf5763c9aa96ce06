/**
 * Single datagrams between nodes, as gossip sends them: each in its own time, so that they overtake each other; some are lost, some
 * come twice, and none gets through where nothing does. Nobody is told what became of one.
 *
 * They never keep a run from its end: nodes gossip for ever.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { EventQueue } from './event-queue.ts';
import type { Network } from './network.ts';

export interface DatagramOptions {
  /** Mean time of a datagram. */
  readonly networkMs: number;
  /** Of a hundred datagrams. */
  readonly lostPercent: number;
  readonly twicePercent: number;
}

export class Datagrams {
  readonly #queue: EventQueue;
  readonly #prng: Prng;
  readonly #network: Network;
  readonly #networkMs: number;
  lostPercent: number;
  twicePercent: number;

  constructor(queue: EventQueue, prng: Prng, network: Network, options: DatagramOptions) {
    this.#queue = queue;
    this.#prng = prng;
    this.#network = network;
    this.#networkMs = options.networkMs;
    this.lostPercent = options.lostPercent;
    this.twicePercent = options.twicePercent;
  }

  /** Sends one from a process to a place; `arrive` happens never, once or twice, always later. */
  send(from: number, to: number, arrive: () => void): 'lost' | 'sent' | 'sent twice' {
    if (this.#draws(this.lostPercent) || !this.#network.passes(from, to)) return 'lost';
    this.#carry(from, to, arrive);
    if (!this.#draws(this.twicePercent)) return 'sent';
    this.#carry(from, to, arrive);
    return 'sent twice';
  }

  #carry(from: number, to: number, arrive: () => void): void {
    const usual = this.#networkMs * 2 * this.#prng.fraction() + 0.01;
    const delay = usual + this.#network.slownessBetween(from, to);
    this.#queue.lookAt(this.#queue.now + delay, arrive);
  }

  #draws(percent: number): boolean {
    return percent > 0 && this.#prng.below(100) < percent;
  }
}
