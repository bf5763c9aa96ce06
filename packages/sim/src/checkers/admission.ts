/**
 * Admission (DESIGN §7.5): a block is let in on its second read within the doorkeeper's window, at once only where its
 * bucket says so or another node had it, and only by its owner, a replica, or whoever stands in for the owner.
 *
 * The doorkeeper is a Bloom filter, so a few blocks may be let in on their first read; and a read that had to start over
 * counts twice. Such admissions are counted and must stay few.
 */
import type { Admission } from '../history/block-event.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { History } from '../history/history.ts';
import { answerFrom, type Oracle } from '../oracle/oracle.ts';
import { atMost, type Rules } from './rules.ts';

/** How many admissions on a first read are chance: this many, and this share of all node reads. */
const chanceAtLeast = 3;
const chanceShare = 0.03;

export class Admissions {
  readonly #history: History;
  readonly #oracle: Oracle;
  readonly #rules: Rules;
  readonly #blockBytes: number;
  #early = 0;

  constructor(history: History, oracle: Oracle, rules: Rules, blockBytes: number) {
    this.#history = history;
    this.#oracle = oracle;
    this.#rules = rules;
    this.#blockBytes = blockBytes;
  }

  /** Called for each admission. */
  check(admission: Admission): string | null {
    const { block, node, as } = admission;
    const name = `block ${block.index} of ${block.bucket}/${block.key} ${block.etag}`;
    if (as === 'other') return `node ${node} let in ${name}, which isn't its own`;
    if (admission.admitsOnFirstRead || admission.isAtOnce) return null;
    if (this.#reads(admission) >= 2) return null;
    this.#early += 1;
    const allowed = chanceAtLeast + chanceShare * this.#history.nodeReads.length;
    if (this.#early <= allowed) return null;
    return `node ${node} let in ${name} on its first read, as it did ${this.#early - 1} others`;
  }

  /** Client reads that touched the block lately enough to count, up to two. */
  #reads(admission: Admission): number {
    const { block, at } = admission;
    const states = this.#oracle.history(block.bucket, block.key);
    const version = states.find(({ etag }) => etag === block.etag);
    if (version === undefined) return 0;
    const since = at - atMost(2 * this.#rules.doorkeeperWindowMs, this.#rules);
    const start = block.index * this.#blockBytes;
    const touches = (answer: ClientAnswer): boolean => {
      if (answer.etag !== '' && answer.etag !== block.etag) return false;
      if (answer.request.head || answer.startedAt > at || answer.endedAt < since) return false;
      const { first, length } = answerFrom(version, answer.request);
      return first < start + this.#blockBytes && first + length > start;
    };
    let reads = 0;
    for (const answer of this.#history.of(block.bucket, block.key).answers) {
      if (touches(answer)) reads += 1;
      if (reads === 2) break;
    }
    return reads;
  }
}
