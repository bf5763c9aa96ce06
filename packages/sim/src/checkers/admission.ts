/**
 * Admission (SPEC §3.5): a block is let in on its second read within the doorkeeper's window, at once only where its
 * bucket says so or another node had it, and only by its owner, a replica, or whoever stands in for the owner.
 *
 * A read whose fetch was given up midway, and which then fetches the rest anew, counts twice for that rest. And since the
 * doorkeeper is a Bloom filter, a few blocks may be let in on their first read: those are counted and must stay few.
 */
import type { Admission } from '../history/block-event.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { History } from '../history/history.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import { rangeAnswer } from '../oracle/byte-range.ts';
import { answerFrom, type Oracle } from '../oracle/oracle.ts';
import type { Version } from '../oracle/version.ts';
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

  /** Reads that touched the block lately enough to count, up to two: those of clients, and a fetch that was given up. */
  #reads(admission: Admission): number {
    const { block, node, life, at } = admission;
    const states = this.#oracle.history(block.bucket, block.key);
    const version = states.find(({ etag }) => etag === block.etag);
    if (version === undefined) return 0;
    const { answers, originRequests } = this.#history.of(block.bucket, block.key);
    const since = at - atMost(2 * this.#rules.doorkeeperWindowMs, this.#rules);
    const start = block.index * this.#blockBytes;
    let reads = 0;
    for (const answer of answers) {
      if (answer.startedAt > at || answer.endedAt < since) continue;
      if (this.#wasRead(answer, version, start)) reads += 1;
      if (reads === 2) return reads;
    }
    const wasGivenUp = originRequests.some(
      (fetch) =>
        fetch.node === node &&
        fetch.life === life &&
        fetch.sentAt >= since &&
        fetch.endedAt <= at &&
        fetch.end !== 'answered' &&
        this.#wasFetched(fetch, version, start),
    );
    return wasGivenUp ? reads + 1 : reads;
  }

  #wasRead(answer: ClientAnswer, version: Version, start: number): boolean {
    if (answer.request.head || (answer.etag !== '' && answer.etag !== version.etag)) return false;
    const { first, length } = answerFrom(version, answer.request);
    return first < start + this.#blockBytes && first + length > start;
  }

  #wasFetched({ request }: OriginRequest, version: Version, start: number): boolean {
    const { ifMatch } = request.conditions;
    if (request.head || (ifMatch !== null && ifMatch !== version.etag)) return false;
    const range = rangeAnswer(request.range, version.size);
    if (range.kind === 'unsatisfiable') return false;
    if (range.kind === 'whole') return true;
    return range.first < start + this.#blockBytes && range.first + range.length > start;
  }
}
