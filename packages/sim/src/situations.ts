/**
 * What can happen in a run and must happen in a long one: a situation that never arises in ten thousand seeds isn't tested,
 * whatever the checkers say.
 */
export const situationNames = [
  'write with an unknown outcome',
  'write taking effect after its client was told it may not have',
  'write behind the cache',
  'request denied',
  'copy denied for its source',
  'client left',
  'client stalled',
  'link reset',
  'partition',
  'one-way partition',
  'slow node',
  'node crashed',
  'node restarted',
  'gateway restarted',
  'read of what another loop wrote',
  'bit rot',
  'slab cut',
  'blocks lost with the end of the slab',
  'capacity changed',
  'disk write failed',
  'disk read failed',
  'origin fault',
  '412 restart',
  'passed through after all',
  'failover',
  'failover mid-answer',
  'read timed out',
  'answer cut short',
  'node full',
  'gateway full',
  'hit',
  'coalesced read',
  'block stored',
  'revalidation confirmed',
  'direct stream past the memory',
  'object changed under a fill',
  'body broken off',
  'odd answer refused',
  'fetch given up',
  'read started over at a node',
  'writes of blocks exhausted',
  'eviction',
  'ghost hit',
  'block published twice',
  'row cleared',
  'failed slab sync',
  'failed table sync',
  'block trusted after a clean end',
  'block of an unclean end',
  'block verified for a reader',
  'damaged block found',
  'block scrubbed',
  'verifications exhausted',
  'datagram lost',
  'datagram twice',
  'nodes parted',
  'nodes parted one way',
  'node added',
  'node joined a running cluster',
  'node left the ring',
  'node ended after it left',
  'node lost for good',
  'member suspected',
  'member down',
  'place taken from a member',
  'suspicion contradicted',
  'table asked for',
  'past learned from another node',
  'ring fetched again',
  'stale ring answered',
  'ring change mid-read',
  'home change during a write',
  'block handed over',
  'metadata handed over',
  'previous owner silent',
  'previous owner without it',
  'lease granted',
  'lease renewed',
  'lease expiry',
  'leases exhausted',
  'read sent to a holder of a lease',
  'write told to a holder of a lease',
] as const;

export type Situation = (typeof situationNames)[number];

/** How often each arose. */
export class Situations {
  readonly #counts = new Map<Situation, number>();

  /** It arose, `times` times. */
  arose(situation: Situation, times = 1): void {
    if (times > 0) this.#counts.set(situation, (this.#counts.get(situation) ?? 0) + times);
  }

  get counts(): ReadonlyMap<Situation, number> {
    return this.#counts;
  }
}
