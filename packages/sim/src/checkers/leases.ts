/**
 * Leases of hot placements: an owner lends one to no more nodes at a time than it may, and a holder lets in what was lent to it for as
 * long as its lease lasts, and no longer.
 *
 * That a holder answers with nothing that is too old is the business of the answers checker, as for anybody else.
 */
import type { Admission } from '../history/block-event.ts';
import type { LeaseGrant, LeaseRefusal } from '../history/lease-grant.ts';
import { atLeast, type Rules } from './rules.ts';

/** How long a write of a block that was let in may wait for its turn at a disk that fails now and then. */
const waitingWriteMs = 5000;

export class Leases {
  readonly #rules: Rules;
  /** By who lends what: those that weren't over, or refused, when the last one was granted. */
  readonly #running = new Map<string, LeaseGrant[]>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Called for each lease that an owner sends. */
  granted(grant: LeaseGrant): string | null {
    const { owner, life, placement, holder, at } = grant;
    const name = `${owner} ${life} ${placement}`;
    const running = (this.#running.get(name) ?? []).filter(
      (other) => other.holder !== holder && at < other.at + atLeast(other.leaseMs, this.#rules),
    );
    running.push(grant);
    this.#running.set(name, running);
    const { hotReplicas } = this.#rules;
    if (running.length <= hotReplicas) return null;
    const holders = running.map((other) => other.holder).join(', ');
    return `node ${owner} lends ${placement} to ${holders} at a time, which is more than ${hotReplicas}`;
  }

  /** Called when an owner hears that a node didn't take its lease: it holds none of that placement. */
  refused({ owner, life, placement, holder, turn }: LeaseRefusal): void {
    const name = `${owner} ${life} ${placement}`;
    const running = this.#running.get(name) ?? [];
    const others = running.filter((other) => other.holder !== holder || other.turn !== turn);
    this.#running.set(name, others);
  }
}

/** Called for each block that is let in. */
export function checkLentAdmission({ node, at, as, lentUntil, block }: Admission): string | null {
  if (as !== 'replica' || at <= lentUntil + waitingWriteMs) return null;
  const { bucket, key, etag, index } = block;
  const late = (at - lentUntil).toFixed(0);
  return `node ${node} let in block ${index} of ${bucket}/${key} ${etag} ${late} ms after its lease was over`;
}
