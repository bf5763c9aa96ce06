/** Situations that the machines count themselves. */
import type { GatewayCounters } from '@s3-accelerator/core/gateway/counters.ts';
import type { Situations } from '../situations.ts';
import type { NodeRun } from './node-run.ts';

/** Adds what one life of a gateway counted. */
export function countGateway(situations: Situations, counters: Readonly<GatewayCounters>): void {
  situations.arose('412 restart', counters.restarts);
  situations.arose('passed through after all', counters.passThroughs);
  situations.arose('failover', counters.retries);
  situations.arose('failover mid-answer', counters.resumed);
  situations.arose('answer cut short', counters.aborts);
  situations.arose('read sent to a holder of a lease', counters.spreadReads);
}

/** Adds what one life of a node counted. */
export function countNode(situations: Situations, { node, store, cluster }: NodeRun): void {
  const { counters } = node;
  situations.arose('hit', counters.readsFromDisk);
  situations.arose('coalesced read', counters.readsFromFill);
  situations.arose('block stored', counters.blocksStored);
  situations.arose('revalidation confirmed', counters.confirmations);
  situations.arose('direct stream past the memory', counters.directStreams);
  situations.arose('object changed under a fill', counters.changes);
  situations.arose('body broken off', counters.brokenBodies);
  situations.arose('odd answer refused', counters.oddAnswers);
  situations.arose('fetch given up', counters.cancelledFetches);
  situations.arose('read started over at a node', counters.restarts);
  situations.arose('block handed over', counters.blocksTakenOver);
  situations.arose('metadata handed over', counters.metadataTakenOver);
  situations.arose('previous owner silent', counters.handoverTimeouts);
  situations.arose('previous owner without it', counters.notHeld);
  situations.arose('lease granted', counters.leasesGranted);
  situations.arose('lease renewed', counters.leasesRenewed);
  situations.arose('lease expiry', counters.leasesLapsed);
  situations.arose('leases exhausted', counters.leasesExhausted);
  situations.arose('write told to a holder of a lease', counters.writesHeardOf);
  const gossip = cluster.gossip.membership.counters;
  situations.arose('place taken from a member', gossip.removals);
  situations.arose('suspicion contradicted', gossip.refutations);
  situations.arose('table asked for', gossip.pulls);
  situations.arose('writes of blocks exhausted', counters.writesExhausted);
  situations.arose('eviction', store.counters.evictions);
  situations.arose('ghost hit', store.counters.ghostHits);
  situations.arose('block published twice', store.counters.duplicates);
  const journal = node.journal.counters;
  situations.arose('row cleared', journal.rowsCleared);
  situations.arose('failed slab sync', journal.slabSyncsFailed);
  situations.arose('failed table sync', journal.tableSyncsFailed);
  const verification = node.verification.counters;
  const forReaders = verification.intact - verification.scrubbed;
  situations.arose('block verified for a reader', forReaders);
  situations.arose('damaged block found', verification.damaged);
  situations.arose('block scrubbed', verification.scrubbed);
  situations.arose('verifications exhausted', verification.exhausted);
  situations.arose('blocks lost with the end of the slab', verification.truncated);
}
