/**
 * How a process asks those that it has links to for their rings: as a link opens, and again when the other end shows another ring
 * than its own, because of one version at most twice a second. What an end shows while it is being asked shows again with the next pong.
 */
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { EventQueue } from './event-queue.ts';
import { newLane, type Link, type Network } from './network.ts';

/** The least time between two questions because of one version: a node that lags behind goes on showing it. */
const askAgainMs = 500;
/** How often an idle link is pinged. */
const pingMs = 1000;

/** A node that answers. */
export interface RingTeller {
  tellRings(held: number): DatedRing[];
}

/** The process that asks. */
export interface RingAsker {
  /** The version that it says it holds: 0 to be told everything. */
  held(): number;
  /** The version that another one is compared with. */
  version(): number;
  adopt(rings: readonly DatedRing[]): void;
  /** It asks because of what a node showed. */
  askedAgain(): void;
}

interface Question {
  readonly teller: RingTeller;
  isOpen: boolean;
  /** What the other end showed last. */
  shown: number;
  askedFor: number;
  askedAt: number;
}

export class RingQuestions {
  readonly #queue: EventQueue;
  readonly #network: Network;
  readonly #asker: RingAsker;
  readonly #questions = new Map<Link, Question>();

  constructor(queue: EventQueue, network: Network, asker: RingAsker) {
    this.#queue = queue;
    this.#network = network;
    this.#asker = asker;
  }

  /** A link has been opened. */
  opened(link: Link, teller: RingTeller): void {
    const question = { teller, isOpen: false, shown: 0, askedFor: 0, askedAt: -Infinity };
    this.#questions.set(link, question);
    this.#ask(link, question, 0);
  }

  lost(link: Link): void {
    this.#questions.delete(link);
  }

  /** The other end has shown which ring it has. */
  shown(link: Link, version: number): void {
    const question = this.#questions.get(link);
    if (question === undefined) return;
    question.shown = version;
    if (question.isOpen) return;
    if (version === 0 || version === this.#asker.version()) return;
    const isNew = version !== question.askedFor;
    if (!isNew && this.#queue.now - question.askedAt < askAgainMs) return;
    this.#asker.askedAgain();
    this.#ask(link, question, version);
  }

  #ask(link: Link, question: Question, version: number): void {
    const lane = newLane();
    const held = this.#asker.held();
    question.isOpen = true;
    question.askedFor = version;
    question.askedAt = this.#queue.now;
    this.#network.toNode(link, lane, () => {
      const rings = question.teller.tellRings(held);
      this.#network.toGateway(link, lane, () => {
        question.isOpen = false;
        if (rings.length > 0) this.#asker.adopt(rings);
        this.#lookAgain(link, question);
      });
    });
  }

  #lookAgain(link: Link, question: Question): void {
    if (question.shown === this.#asker.version()) return;
    this.#queue.lookAt(this.#queue.now + pingMs, () => {
      if (this.#questions.get(link) === question) this.shown(link, question.shown);
    });
  }
}
