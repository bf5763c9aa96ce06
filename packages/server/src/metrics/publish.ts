/**
 * Which metric publishes each figure that the machines and drivers count by themselves.
 *
 * They count in plain numbers that know nothing of metrics. Here each number is given its metric, completely: a new
 * counter that has none doesn't compile. `null` means that another figure says the same.
 */
import type { GatewayCounters } from '@s3-accelerator/core/gateway/counters.ts';
import type { GatewayLevels } from '@s3-accelerator/core/gateway/gateway.ts';
import type { NodeCounters } from '@s3-accelerator/core/node/counters.ts';
import type { NodeLevels } from '@s3-accelerator/core/node/node.ts';
import type { VerificationCounters } from '@s3-accelerator/core/node/verification.ts';
import type { JournalCounters, JournalLevels } from '@s3-accelerator/core/journal/journal.ts';
import type { StoreCounters } from '@s3-accelerator/core/store/store.ts';
import type { ReactorStats } from '@s3-accelerator/native/reactor.ts';
import type { ServerCounters } from '../http/connection-machine.ts';
import type { OriginCounters } from '../origin/origin-counters.ts';
import type { Figures, LabelsByName } from './figures.ts';
import type { MetricName } from './table.ts';

export type Published = readonly [name: MetricName, labels?: LabelsByName];
export type Plan<C> = Readonly<Record<keyof C, Published | null>>;

/** Publishes plain counters by their plan. `read` is called for each figure of a scrape. */
export function publish<C extends Readonly<Record<keyof C, number>>>(
  metrics: Figures,
  plan: Plan<C>,
  read: () => C,
): void {
  for (const counter of Object.keys(plan) as (keyof C)[]) {
    const published = plan[counter];
    if (published === null) continue;
    const [name, labels] = published;
    metrics.readFrom(name, () => read()[counter], labels);
  }
}

/** A machine of the core, as far as it counts: totals since the start, and what it holds right now. */
interface Counting<Counters, Levels> {
  readonly counters: Readonly<Counters>;
  levels(): Levels;
}

export function publishGateway(
  metrics: Figures,
  gateway: Counting<GatewayCounters, GatewayLevels>,
): void {
  publish(metrics, gatewayPlan, () => gateway.counters);
  publish(metrics, gatewayLevelsPlan, () => gateway.levels());
}

export function publishNode(metrics: Figures, node: Counting<NodeCounters, NodeLevels>): void {
  publish(metrics, nodePlan, () => node.counters);
  publish(metrics, nodeLevelsPlan, () => node.levels());
}

export function publishJournal(
  metrics: Figures,
  journal: Counting<JournalCounters, JournalLevels>,
): void {
  publish(metrics, journalPlan, () => journal.counters);
  publish(metrics, journalLevelsPlan, () => journal.levels());
}

export function publishVerification(
  metrics: Figures,
  counters: Readonly<VerificationCounters>,
): void {
  publish(metrics, verificationPlan, () => counters);
}

/** What a node found at its start. */
export interface Restored {
  readonly blocks: number;
  readonly trustedBlocks: number;
  readonly refusedRows: number;
  readonly objects: number;
}

export function publishRestored(metrics: Figures, restored: Restored): void {
  publish(metrics, restoredPlan, () => restored);
}

export function publishServer(metrics: Figures, counters: Readonly<ServerCounters>): void {
  publish(metrics, serverPlan, () => counters);
}

export function publishStore(metrics: Figures, counters: Readonly<StoreCounters>): void {
  publish(metrics, storePlan, () => counters);
}

export function publishReactor(metrics: Figures, stats: () => ReactorStats): void {
  publish(metrics, reactorPlan, stats);
}

export function publishOrigin(metrics: Figures, counters: OriginCounters): void {
  metrics.readEach('s3accel_s3_requests_total', () =>
    [...counters.answers].map(([key, value]) => {
      const [operation = '', status = ''] = key.split(' ');
      return { labels: { operation, status }, value };
    }),
  );
  metrics.readEach('s3accel_errors_total', () =>
    [...counters.failures].map(([code, value]) => ({ labels: { source: 'origin', code }, value })),
  );
  metrics.readFrom('s3accel_s3_retries_total', () => counters.retries);
  metrics.readFrom('s3accel_s3_held_total', () => counters.held);
  metrics.readFrom('s3accel_s3_received_bytes_total', () => counters.bodyBytesReceived);
  metrics.readFrom('s3accel_s3_sent_bytes_total', () => counters.bodyBytesSent);
  metrics.readFrom('s3accel_s3_requests_in_flight', () => counters.inFlight);
  publishLimit(metrics, 'origin_requests', () => counters.limitReached);
}

/** How often a limit was reached that isn't among the counters of a machine. */
export function publishLimit(metrics: Figures, name: string, read: () => number): void {
  metrics.readFrom('s3accel_limits_reached_total', read, { limit: name });
}

export const limit = (name: string): Published => ['s3accel_limits_reached_total', { limit: name }];
export const fault = (source: string, code: string): Published => [
  's3accel_errors_total',
  { source, code },
];

const gatewayPlan: Plan<GatewayCounters> = {
  requests: ['s3accel_gateway_reads_total'],
  withoutBody: ['s3accel_gateway_reads_without_body_total'],
  lookups: ['s3accel_gateway_node_reads_total', { kind: 'lookup' }],
  pieces: ['s3accel_gateway_node_reads_total', { kind: 'piece' }],
  spreadReads: ['s3accel_gateway_spread_reads_total'],
  bodyBytes: ['s3accel_gateway_sent_bytes_total'],
  metadataHits: ['s3accel_gateway_metadata_hits_total'],
  restarts: ['s3accel_gateway_restarts_total'],
  passThroughs: ['s3accel_gateway_pass_throughs_total'],
  retries: ['s3accel_gateway_retries_total'],
  resumed: ['s3accel_gateway_resumed_total'],
  timeouts: fault('peer', 'timeout'),
  // The HTTP server cuts them, and counts them with those that were passed through.
  aborts: null,
  slowDowns: limit('gateway_reads'),
  badAnswers: fault('peer', 'bad-answer'),
};

const gatewayLevelsPlan: Plan<GatewayLevels> = {
  clientReads: ['s3accel_gateway_client_reads'],
  outstandingReads: ['s3accel_gateway_reads_in_flight'],
  untakenBytes: ['s3accel_gateway_untaken_bytes'],
  suspects: ['s3accel_gateway_suspects'],
  hotHints: ['s3accel_gateway_hot_hints'],
  metadataEntries: ['s3accel_gateway_metadata_entries'],
  metadataBytes: ['s3accel_gateway_metadata_bytes'],
};

const serverPlan: Plan<ServerCounters> = {
  accepted: ['s3accel_gateway_accepted_connections_total'],
  refusedConnections: limit('gateway_connections'),
  // Counted with operation and status as they are answered.
  requests: null,
  badRequests: fault('client', 'bad-request'),
  headTimeouts: fault('client', 'head-timeout'),
  aborted: ['s3accel_gateway_cut_answers_total'],
  bodyBytesReceived: ['s3accel_gateway_received_bytes_total'],
  bodyBytesSent: ['s3accel_gateway_sent_bytes_total'],
};

const nodePlan: Plan<NodeCounters> = {
  readsFromDisk: ['s3accel_node_block_reads_total', { source: 'disk' }],
  readsFromFill: ['s3accel_node_block_reads_total', { source: 'fill' }],
  readsFromS3: ['s3accel_node_block_reads_total', { source: 's3' }],
  readsFromPeers: ['s3accel_node_block_reads_total', { source: 'peer' }],
  bytesFromDisk: ['s3accel_node_block_read_bytes_total', { source: 'disk' }],
  bytesFromFill: ['s3accel_node_block_read_bytes_total', { source: 'fill' }],
  bytesFromS3: ['s3accel_node_block_read_bytes_total', { source: 's3' }],
  bytesFromPeers: ['s3accel_node_block_read_bytes_total', { source: 'peer' }],
  lookups: ['s3accel_node_lookups_total'],
  metadataHits: ['s3accel_node_metadata_hits_total'],
  firstFetches: ['s3accel_node_fetches_total', { kind: 'first' }],
  revalidations: ['s3accel_node_fetches_total', { kind: 'revalidation' }],
  fills: ['s3accel_node_fetches_total', { kind: 'fill' }],
  directStreams: ['s3accel_node_fetches_total', { kind: 'direct' }],
  fetchedBytes: ['s3accel_node_fetched_bytes_total'],
  handoversAsked: ['s3accel_node_handovers_total', { event: 'asked' }],
  blocksTakenOver: ['s3accel_node_handovers_total', { event: 'block_taken_over' }],
  metadataTakenOver: ['s3accel_node_handovers_total', { event: 'metadata_taken_over' }],
  takenOverBytes: ['s3accel_node_taken_over_bytes_total'],
  handoverTimeouts: ['s3accel_node_handovers_total', { event: 'timed_out' }],
  handedOver: ['s3accel_node_handovers_total', { event: 'handed_over' }],
  notHeld: ['s3accel_node_handovers_total', { event: 'not_held' }],
  leasesGranted: ['s3accel_node_leases_total', { event: 'granted' }],
  leasesRenewed: ['s3accel_node_leases_total', { event: 'renewed' }],
  leasesRefused: ['s3accel_node_leases_total', { event: 'refused' }],
  leasesTaken: ['s3accel_node_leases_total', { event: 'taken' }],
  leasesLapsed: ['s3accel_node_leases_total', { event: 'lapsed' }],
  writesHeardOf: ['s3accel_node_writes_heard_of_total'],
  leasesExhausted: limit('node_leases'),
  confirmations: ['s3accel_node_confirmations_total'],
  admissions: ['s3accel_node_admissions_total'],
  blocksStored: ['s3accel_node_blocks_stored_total'],
  writesFailed: fault('disk', 'write-failed'),
  unreadableBlocks: fault('disk', 'read-failed'),
  writesSeen: ['s3accel_node_writes_seen_total'],
  changes: ['s3accel_node_changes_total'],
  brokenBodies: fault('origin', 'broken-body'),
  oddAnswers: fault('origin', 'odd-answer'),
  cancelledFetches: ['s3accel_node_cancelled_fetches_total'],
  restarts: ['s3accel_node_restarts_total'],
  readersExhausted: limit('node_readers'),
  fetchesExhausted: limit('node_fetches'),
  memoryExhausted: limit('node_fill_memory'),
  storeExhausted: limit('node_slots'),
  writesExhausted: limit('node_writes'),
  badRequests: fault('peer', 'bad-request'),
};

const nodeLevelsPlan: Plan<NodeLevels> = {
  waitingReaders: ['s3accel_node_waiting_reads'],
  lookups: ['s3accel_node_lookups_in_flight'],
  fetches: ['s3accel_node_fetches_in_flight'],
  fillBytes: ['s3accel_node_fill_bytes'],
  metadataEntries: ['s3accel_node_metadata_entries'],
  metadataBytes: ['s3accel_node_metadata_bytes'],
  leasesGranted: ['s3accel_node_leases_granted'],
  leasesHeld: ['s3accel_node_leases_held'],
};

const journalPlan: Plan<JournalCounters> = {
  slabSyncs: ['s3accel_node_syncs_total', { file: 'slab' }],
  tableSyncs: ['s3accel_node_syncs_total', { file: 'slots' }],
  slabSyncsFailed: fault('disk', 'slab-sync-failed'),
  tableSyncsFailed: fault('disk', 'table-sync-failed'),
  rowsRecorded: ['s3accel_node_rows_total', { kind: 'recorded' }],
  rowsCleared: ['s3accel_node_rows_total', { kind: 'cleared' }],
  unsyncedDropped: ['s3accel_node_lost_blocks_total', { cause: 'unsynced' }],
  storesRefused: limit('node_journal'),
};

const journalLevelsPlan: Plan<JournalLevels> = {
  waitingWrites: ['s3accel_node_waiting_slot_writes'],
  writes: ['s3accel_node_slot_writes'],
  unrecorded: ['s3accel_node_unrecorded_blocks'],
  unclearedRows: ['s3accel_node_uncleared_rows'],
  // Only of interest while the process ends, when nobody scrapes it.
  unflushed: null,
};

const verificationPlan: Plan<VerificationCounters> = {
  intact: ['s3accel_node_verified_blocks_total', { verdict: 'intact' }],
  damaged: ['s3accel_node_verified_blocks_total', { verdict: 'damaged' }],
  unreadable: ['s3accel_node_verified_blocks_total', { verdict: 'unreadable' }],
  scrubbed: ['s3accel_node_scrubbed_blocks_total'],
  exhausted: limit('node_verifications'),
  truncated: ['s3accel_node_lost_blocks_total', { cause: 'truncated' }],
};

const restoredPlan: Plan<Restored> = {
  blocks: ['s3accel_node_restored_blocks'],
  trustedBlocks: ['s3accel_node_restored_trusted_blocks'],
  refusedRows: ['s3accel_node_refused_rows'],
  objects: ['s3accel_node_restored_objects'],
};

const storePlan: Plan<StoreCounters> = {
  blocks: ['s3accel_node_blocks'],
  blockBytes: ['s3accel_node_stored_bytes'],
  reserved: ['s3accel_node_slots_reserved'],
  pinned: ['s3accel_node_slots_pinned'],
  evictions: ['s3accel_node_evictions_total'],
  emptied: ['s3accel_node_emptied_total'],
  ghostHits: ['s3accel_node_ghost_hits_total'],
  // The node counts each refusal as a limit that it reached.
  refused: null,
  duplicates: ['s3accel_node_duplicates_total'],
};

const reactorPlan: Plan<ReactorStats> = {
  rounds: ['s3accel_reactor_rounds_total'],
  batches: ['s3accel_reactor_batches_total'],
  events: ['s3accel_reactor_events_total'],
  commands: ['s3accel_reactor_commands_total'],
  receives: ['s3accel_reactor_receives_total'],
  sends: ['s3accel_reactor_sends_total'],
  sendFiles: ['s3accel_reactor_send_files_total'],
  splices: ['s3accel_reactor_splices_total'],
  fileReads: ['s3accel_reactor_file_reads_total'],
  coldReads: ['s3accel_reactor_cold_reads_total'],
  wouldBlock: ['s3accel_reactor_would_block_total'],
  copiedBytes: ['s3accel_reactor_copied_bytes_total'],
  diskWrites: ['s3accel_reactor_disk_writes_total'],
  refused: ['s3accel_reactor_refused_total'],
  connections: ['s3accel_reactor_connections'],
  pipes: ['s3accel_reactor_pipes'],
  queuedBytes: ['s3accel_reactor_queued_bytes'],
};
