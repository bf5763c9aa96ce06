/**
 * Standing in (SPEC §3.7): a gateway lets another node than the owner store what it fetches only when the owner brought it nothing a
 * moment ago, and only one of the next candidates. So one suspicion doesn't spread copies.
 */
import type { NodeFailure, StandInRead } from '../history/node-failure.ts';
import { atMost, type Rules } from './rules.ts';

export class StandIns {
  readonly #rules: Rules;
  /** When each node failed each gateway's process last. */
  readonly #failedAt = new Map<string, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** A node brought a gateway nothing. */
  failed({ gateway, gatewayLife, node, at }: NodeFailure): void {
    this.#failedAt.set(`${gateway}.${gatewayLife} ${node}`, at);
  }

  /** Called as a gateway sends a read that is to stand in. */
  check({ gateway, gatewayLife, node, ranked, at }: StandInRead): string | null {
    const [owner] = ranked;
    const what = `gateway ${gateway} lets node ${node} stand in`;
    if (owner === undefined || owner === node) return `${what} for itself`;
    if (!ranked.includes(node)) return `${what} for node ${owner}, and it is no candidate`;
    const failedAt = this.#failedAt.get(`${gateway}.${gatewayLife} ${owner}`);
    if (failedAt === undefined) return `${what} for node ${owner}, which never failed it`;
    if (at <= failedAt + atMost(this.#rules.suspicionMs, this.#rules)) return null;
    return `${what} for node ${owner}, which failed it last ${at - failedAt} ms ago`;
  }
}
