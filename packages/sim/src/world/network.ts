/**
 * Links from gateways to nodes and from nodes to each other, and what happens to them: messages take their time, links break, and for a while
 * messages may not get through in one direction or in both.
 *
 * A link is many TCP connections of one process to another: what is sent in one lane arrives in order, lanes overtake each
 * other, and nothing is lost but by losing the link. A message that can't get through waits, as segments are sent again; an end
 * that waits too long gives the link up, and the other end hears of that when it can. Each end notices on its own.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { EventQueue } from './event-queue.ts';

/** One life of a process, at its end of links. */
export interface LinkEnd {
  /** Its place in the network: gateways and nodes count together. */
  readonly place: number;
  /** Ends of one process reach each other in memory: at once, whatever happens to the network. */
  readonly processId: number;
  /** A link that this end had is gone: nothing arrives by it any more. Called once. */
  onLinkLost(link: Link): void;
  /** The node at the other end has another ring by now. */
  onRingShown(link: Link, version: number): void;
  /** Whether this end waits for something that comes over the link. */
  usesLink(link: Link): boolean;
}

/** Messages of one lane arrive in the order in which they were sent. */
export interface Lane {
  arrivesAfter: number;
}

export function newLane(): Lane {
  return { arrivesAfter: 0 };
}

export class Link {
  readonly gateway: LinkEnd;
  readonly node: LinkEnd;
  /** Whether each end still takes it for whole. */
  gatewayHasIt = true;
  nodeHasIt = true;
  /** The node has answered on it. */
  isOpen = false;
  /** The gateway's end knows that the node is about to stop. */
  isLeaving = false;

  constructor(gateway: LinkEnd, node: LinkEnd) {
    this.gateway = gateway;
    this.node = node;
  }

  get isLocal(): boolean {
    return this.gateway.processId === this.node.processId;
  }
}

/** The process of an end that nobody listens at. */
const nowhere = -1;

/** What a message takes that a switch or a scheduler held up. */
const lateMs = 200;

export interface NetworkOptions {
  /** Mean time of a message. */
  readonly networkMs: number;
  /** Of a hundred messages, how many take `lateMs` more. */
  readonly latePercent: number;
  /** How long an end waits for the other before it gives a link up, up to twice this. */
  readonly linkTimeoutMs: number;
  readonly places: number;
}

export class Network {
  readonly #queue: EventQueue;
  readonly #prng: Prng;
  readonly #options: NetworkOptions;
  readonly #links = new Set<Link>();
  /** [from × places + to]: until then nothing gets through. */
  readonly #blockedUntil: Float64Array;
  /** What each process's messages take on top, while it is slow. */
  readonly #slowness: Float64Array;

  constructor(queue: EventQueue, prng: Prng, options: NetworkOptions) {
    this.#queue = queue;
    this.#prng = prng;
    this.#options = options;
    this.#blockedUntil = new Float64Array(options.places ** 2);
    this.#slowness = new Float64Array(options.places);
  }

  /** Links that at least one end has. */
  get links(): ReadonlySet<Link> {
    return this.#links;
  }

  connect(gateway: LinkEnd, node: LinkEnd): Link {
    const link = new Link(gateway, node);
    this.#links.add(link);
    if (!link.isLocal && this.#isBlocked(gateway.place, node.place)) this.#giveUpLater(link, true);
    return link;
  }

  /** Nobody listens at the other end: the gateway hears of it. */
  refuse(gateway: LinkEnd, place: number): Link {
    const link = this.connect(gateway, {
      place,
      processId: nowhere,
      onLinkLost: () => undefined,
      onRingShown: () => undefined,
      usesLink: () => false,
    });
    link.nodeHasIt = false;
    this.#loseElsewhere(link, true);
    return link;
  }

  /** `act` happens at the node, unless it lost the link before. */
  toNode(link: Link, lane: Lane, act: () => void): void {
    const delay = link.isLocal ? 0 : this.#delay(link.gateway.place, link.node.place);
    this.#send(delay, lane, () => {
      if (link.nodeHasIt) act();
    });
  }

  /** `act` happens at the gateway, unless it lost the link before. */
  toGateway(link: Link, lane: Lane, act: () => void): void {
    const delay = link.isLocal ? 0 : this.#delay(link.node.place, link.gateway.place);
    this.#send(delay, lane, () => {
      if (link.gatewayHasIt) act();
    });
  }

  /** A node tells all who have a link to it, each in its time. */
  tellAskers(node: LinkEnd, tell: (asker: LinkEnd, link: Link) => void): void {
    for (const link of this.#links) {
      if (link.node !== node || !link.nodeHasIt) continue;
      this.toGateway(link, newLane(), () => {
        tell(link.gateway, link);
      });
    }
  }

  /** Whether anybody who has a link to this node waits for something, or doesn't know yet that it is about to stop. */
  isUsed(node: LinkEnd): boolean {
    for (const link of this.#links) {
      if (link.node !== node || !link.nodeHasIt || !link.gatewayHasIt) continue;
      if (!link.isLeaving || link.gateway.usesLink(link)) return true;
    }
    return false;
  }

  /** Both ends hear that the link broke, each in its time. */
  reset(link: Link): void {
    if (link.isLocal) return;
    this.#queue.in(this.#delay(link.gateway.place, link.node.place), () => {
      this.#loseAt(link, false);
    });
    this.#queue.in(this.#delay(link.node.place, link.gateway.place), () => {
      this.#loseAt(link, true);
    });
  }

  /** One end's process is over: it has no link any more, the other end hears of it in its time. */
  endAll(end: LinkEnd): void {
    for (const link of this.#links) {
      if (link.gateway === end) {
        link.gatewayHasIt = false;
        this.#loseElsewhere(link, false);
      } else if (link.node === end) {
        link.nodeHasIt = false;
        this.#loseElsewhere(link, true);
      }
    }
  }

  /** For `ms` nothing gets from one process to the other. */
  block(from: number, to: number, ms: number): void {
    const at = from * this.#options.places + to;
    this.#blockedUntil[at] = Math.max(this.#blockedUntil[at]!, this.#queue.now + ms);
    for (const link of this.#links) {
      const { gateway, node } = link;
      const isThere = gateway.place === from && node.place === to;
      const isBack = gateway.place === to && node.place === from;
      if (link.isLocal || (!isThere && !isBack)) continue;
      this.#giveUpLater(link, true);
      this.#giveUpLater(link, false);
    }
  }

  /** Messages from and to a process take `ms` longer from now on. */
  slow(place: number, ms: number): void {
    this.#slowness[place] = ms;
  }

  /** Whether a single datagram gets from one process to another right now. */
  passes(from: number, to: number): boolean {
    return this.#blockedUntil[from * this.#options.places + to]! <= this.#queue.now;
  }

  /** What messages from one process to another take on top, in milliseconds. */
  slownessBetween(from: number, to: number): number {
    return this.#slowness[from]! + this.#slowness[to]!;
  }

  /** Everything gets through again, at its usual pace. */
  heal(): void {
    this.#blockedUntil.fill(0);
    this.#slowness.fill(0);
  }

  #send(delay: number, lane: Lane, act: () => void): void {
    const time = Math.max(lane.arrivesAfter, this.#queue.now + delay);
    lane.arrivesAfter = time;
    this.#queue.at(time, act);
  }

  #delay(from: number, to: number): number {
    const { networkMs, latePercent, places } = this.#options;
    const wait = Math.max(0, this.#blockedUntil[from * places + to]! - this.#queue.now);
    const usual =
      networkMs * 2 * this.#prng.fraction() + (this.#prng.chance(latePercent / 100) ? lateMs : 0);
    return wait + usual + this.slownessBetween(from, to);
  }

  #isBlocked(one: number, other: number): boolean {
    const { places } = this.#options;
    const { now } = this.#queue;
    return (
      this.#blockedUntil[one * places + other]! > now ||
      this.#blockedUntil[other * places + one]! > now
    );
  }

  /** An end that hears nothing for too long gives the link up. */
  #giveUpLater(link: Link, isGateway: boolean): void {
    const wait = this.#options.linkTimeoutMs * (0.5 + this.#prng.fraction());
    this.#queue.in(wait, () => {
      if (!this.#isBlocked(link.gateway.place, link.node.place)) return;
      this.#loseAt(link, isGateway);
    });
  }

  #loseAt(link: Link, isGateway: boolean): void {
    if (!(isGateway ? link.gatewayHasIt : link.nodeHasIt)) return;
    if (isGateway) link.gatewayHasIt = false;
    else link.nodeHasIt = false;
    this.#loseElsewhere(link, !isGateway);
    (isGateway ? link.gateway : link.node).onLinkLost(link);
  }

  /** One end is gone: the other one hears of it. */
  #loseElsewhere(link: Link, isGateway: boolean): void {
    if (!link.gatewayHasIt && !link.nodeHasIt) {
      this.#links.delete(link);
      return;
    }
    const { gateway, node } = link;
    const delay = isGateway
      ? this.#delay(node.place, gateway.place)
      : this.#delay(gateway.place, node.place);
    this.#queue.in(delay, () => {
      this.#loseAt(link, isGateway);
    });
  }
}
