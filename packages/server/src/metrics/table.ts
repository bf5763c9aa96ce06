/**
 * Every metric of s3-accelerator itself, in one table: name, kind, help, labels.
 *
 * docs/metrics.md is generated from it. Names read s3accel_<part>_<what>_<unit>; counters end in `_total`. What
 * prom-client knows of any Node process (CPU, memory, loop delay, garbage collection) comes in addition.
 */
/** Labels with the values known beforehand are exported from the start, as 0. `open` ones appear as they come. */
export type Labels = Readonly<Record<string, readonly string[] | 'open'>>;

export interface MetricRow {
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly labels: Labels;
}

function counter<const L extends Labels>(help: string, labels: L) {
  return { kind: 'counter', help, labels } as const;
}

function gauge(help: string) {
  return { kind: 'gauge', help, labels: {} } as const;
}

const noLabels = {} as const;

/**
 * disk: the store had it. fill: it joined a fill in flight. s3: it was fetched for this read. peer: a previous owner had it, after a
 * ring change, or the owner that lent it.
 */
const blockSources = ['disk', 'fill', 's3', 'peer'] as const;
/**
 * asked, timed_out: questions to previous owners, and to owners that lent something. block_taken_over, metadata_taken_over: what came of
 * them. handed_over, not_held: answers to such questions.
 */
const handoverEvents = [
  'asked',
  'timed_out',
  'block_taken_over',
  'metadata_taken_over',
  'handed_over',
  'not_held',
] as const;

/** granted, renewed: of this node's placements, to others. taken, lapsed: of others' placements, to this node. */
const leaseEvents = ['granted', 'renewed', 'refused', 'taken', 'lapsed'] as const;

export const metricTable = {
  s3accel_gateway_requests_total: counter('Requests answered to clients.', {
    operation: 'open',
    status: 'open',
  }),
  s3accel_gateway_sent_bytes_total: counter('Bytes of bodies sent to clients.', noLabels),
  s3accel_gateway_received_bytes_total: counter('Bytes of bodies received from clients.', noLabels),
  s3accel_gateway_loops: gauge('Event loops that serve clients.'),
  s3accel_gateway_loops_standing_still: gauge(
    'Those among them, but for the first, that have not turned for three seconds.',
  ),
  s3accel_gateway_connections: gauge('Open connections from clients.'),
  s3accel_gateway_accepted_connections_total: counter('Connections that clients made.', noLabels),
  s3accel_gateway_client_lookups_total: counter(
    'Questions about clients sent to the metadata service.',
    noLabels,
  ),
  s3accel_gateway_client_lookup_failures_total: counter(
    'Questions about clients that the metadata service gave no answer to.',
    noLabels,
  ),
  s3accel_gateway_clients_known: gauge(
    'Clients of the metadata service that are known, by key, day and region.',
  ),
  s3accel_gateway_reads_total: counter('Client reads that went through the cache.', noLabels),
  s3accel_gateway_reads_without_body_total: counter(
    'Client reads answered from metadata alone.',
    noLabels,
  ),
  s3accel_gateway_metadata_hits_total: counter(
    'Client reads whose metadata the gateway knew.',
    noLabels,
  ),
  s3accel_gateway_metadata_entries: gauge('Objects in the metadata cache of the gateway.'),
  s3accel_gateway_metadata_bytes: gauge('Memory that those objects take, roughly.'),
  s3accel_gateway_node_reads_total: counter(
    'Reads sent to nodes: lookups of metadata, and pieces of objects.',
    { kind: ['lookup', 'piece'] },
  ),
  s3accel_gateway_client_reads: gauge('Client reads under way.'),
  s3accel_gateway_reads_in_flight: gauge('Reads sent to nodes and not yet answered.'),
  s3accel_gateway_retries_total: counter(
    'Reads sent to a second node after the first one failed.',
    noLabels,
  ),
  s3accel_gateway_resumed_total: counter(
    'Pieces that broke off in the middle and went on from another node.',
    noLabels,
  ),
  s3accel_gateway_untaken_bytes: gauge(
    'Bytes of objects asked for that clients have not taken yet.',
  ),
  s3accel_gateway_spread_reads_total: counter(
    'Reads sent to a node that holds a lease, in place of the owner of a hot placement.',
    noLabels,
  ),
  s3accel_gateway_hot_hints: gauge(
    'Hot placements whose reads are spread over several nodes, or were lately.',
  ),
  s3accel_gateway_suspects: gauge('Nodes that reads go round because they just failed.'),
  s3accel_gateway_restarts_total: counter(
    'Client reads that started over because their object changed.',
    noLabels,
  ),
  s3accel_gateway_pass_throughs_total: counter(
    'Client reads whose object kept changing until S3 was asked directly, uncached.',
    noLabels,
  ),
  s3accel_gateway_cut_answers_total: counter(
    'Answers cut short after their head was sent.',
    noLabels,
  ),

  s3accel_node_block_reads_total: counter('Blocks read from the node, by where they came from.', {
    source: blockSources,
  }),
  s3accel_node_block_read_bytes_total: counter(
    'Bytes read from the node, by where they came from.',
    { source: blockSources },
  ),
  s3accel_node_lookups_total: counter('Lookups of object metadata at its home.', noLabels),
  s3accel_node_metadata_hits_total: counter(
    'Lookups answered from metadata that was still good.',
    noLabels,
  ),
  s3accel_node_metadata_entries: gauge('Objects whose metadata the node keeps.'),
  s3accel_node_metadata_bytes: gauge('Memory that those objects take, roughly.'),
  s3accel_node_waiting_reads: gauge('Reads that wait for S3.'),
  s3accel_node_lookups_in_flight: gauge('Objects that S3 is being asked about.'),
  s3accel_node_fetches_total: counter(
    'Fetches from S3: first fetches, revalidations, fills, and streams past the fill memory.',
    { kind: ['first', 'revalidation', 'fill', 'direct'] },
  ),
  s3accel_node_fetched_bytes_total: counter('Bytes that fetches from S3 brought.', noLabels),
  s3accel_node_handovers_total: counter(
    'What moves between nodes after a ring change, or on a lease.',
    {
      event: handoverEvents,
    },
  ),
  s3accel_node_taken_over_bytes_total: counter(
    'Bytes that previous owners and lenders brought.',
    noLabels,
  ),
  s3accel_node_leases_total: counter('What happens to leases of hot placements.', {
    event: leaseEvents,
  }),
  s3accel_node_leases_granted: gauge('Placements that the node lends to others.'),
  s3accel_node_leases_held: gauge('Placements of other nodes that are lent to this one.'),
  s3accel_node_writes_heard_of_total: counter(
    'Writes of lent objects that their homes told of.',
    noLabels,
  ),
  s3accel_node_fetches_in_flight: gauge('Fetches from S3 that are under way.'),
  s3accel_node_cancelled_fetches_total: counter('Fetches that nobody wanted any more.', noLabels),
  s3accel_node_confirmations_total: counter('Revalidations answered with 304.', noLabels),
  s3accel_node_writes_seen_total: counter('Writes that passed through and ended.', noLabels),
  s3accel_node_changes_total: counter('Fills that found their version gone.', noLabels),
  s3accel_node_restarts_total: counter(
    'Reads that started over because what they waited for ended without them.',
    noLabels,
  ),
  s3accel_node_fill_bytes: gauge('Fill memory in use, of the fill budget.'),
  s3accel_node_admissions_total: counter('Blocks let in to be stored.', noLabels),
  s3accel_node_blocks_stored_total: counter('Blocks that reached the disk.', noLabels),
  s3accel_node_evictions_total: counter('Blocks that made room for others.', noLabels),
  s3accel_node_emptied_total: counter(
    'Evicted blocks that only stood in an extent which changed its class.',
    noLabels,
  ),
  s3accel_node_ghost_hits_total: counter(
    'Blocks stored that had been evicted not long ago.',
    noLabels,
  ),
  s3accel_node_duplicates_total: counter(
    'Blocks dropped because the same block had been stored meanwhile.',
    noLabels,
  ),
  s3accel_node_blocks: gauge('Blocks on disk.'),
  s3accel_node_stored_bytes: gauge('Bytes of the blocks on disk.'),
  s3accel_node_capacity_bytes: gauge('Disk space for blocks.'),
  s3accel_node_slots_reserved: gauge('Slots reserved for blocks that are being written.'),
  s3accel_node_slots_pinned: gauge('Slots that answers are being sent from.'),
  s3accel_node_restored_blocks: gauge('Blocks of earlier runs that were back at the start.'),
  s3accel_node_restored_trusted_blocks: gauge(
    'Those of them that are served without being verified first.',
  ),
  s3accel_node_refused_rows: gauge('Rows of the slot table that were of no use at the start.'),
  s3accel_node_restored_objects: gauge('Entries read from the metadata log at the start.'),
  s3accel_node_verified_blocks_total: counter(
    'Stored blocks that were compared with their row, by what came of it.',
    { verdict: ['intact', 'damaged', 'unreadable'] },
  ),
  s3accel_node_scrubbed_blocks_total: counter(
    'Those of them that nobody waited for: the scrub.',
    noLabels,
  ),
  s3accel_node_lost_blocks_total: counter(
    'Stored blocks dropped because of the disk: not durable when a sync failed, or past the end of a slab that was cut.',
    { cause: ['unsynced', 'truncated'] },
  ),
  s3accel_node_slot_writes: gauge('Writes of slots under way.'),
  s3accel_node_waiting_slot_writes: gauge(
    'Writes of slots that wait for the slot table to forget what was there.',
  ),
  s3accel_node_unrecorded_blocks: gauge('Blocks stored whose row is not durable yet.'),
  s3accel_node_uncleared_rows: gauge('Rows of blocks that left which are not durably empty yet.'),
  s3accel_node_syncs_total: counter('Times that a file was made durable.', {
    file: ['slab', 'slots'],
  }),
  s3accel_node_rows_total: counter('Rows of the slot table written durably.', {
    kind: ['recorded', 'cleared'],
  }),
  s3accel_node_links: gauge('Open links from gateways and other nodes.'),

  s3accel_ring_version: gauge(
    'Version of the ring that the process places by; 0 before it has one.',
  ),
  s3accel_ring_members: gauge('Nodes in that ring.'),
  s3accel_cluster_nodes_alive: gauge('Nodes that run, as far as this one knows.'),
  s3accel_cluster_nodes_suspect: gauge('Nodes that did not answer and may still contradict.'),
  s3accel_cluster_nodes_down: gauge('Nodes that are down, whether they still have a place or not.'),
  s3accel_cluster_probes_total: counter('Probes of other nodes.', noLabels),
  s3accel_cluster_failed_probes_total: counter(
    'Probes that nobody answered, not even by way of others.',
    noLabels,
  ),
  s3accel_cluster_refutations_total: counter(
    'How often this node contradicted that it be suspect, down or out of the ring.',
    noLabels,
  ),
  s3accel_cluster_downs_total: counter('Nodes that were found down here.', noLabels),
  s3accel_cluster_removals_total: counter(
    'Places in the ring taken here from nodes that stayed down for the grace.',
    noLabels,
  ),
  s3accel_cluster_table_pulls_total: counter(
    'Tables of members asked of others because they differ.',
    noLabels,
  ),
  s3accel_cluster_late_ticks_total: counter(
    'Ticks of membership so late that the process must have stood still.',
    noLabels,
  ),
  s3accel_gossip_packets_total: counter('Packets of gossip.', { direction: ['received', 'sent'] }),
  s3accel_gossip_sent_bytes_total: counter('Bytes of the packets sent.', noLabels),
  s3accel_gossip_dropped_total: counter(
    'Datagrams dropped: no gossip at all, without budget to check it, not vouched for by the cluster secret, of another version; or not sent.',
    { reason: ['foreign', 'unchecked', 'bad-mac', 'malformed', 'unsent'] },
  ),

  s3accel_s3_requests_total: counter('Requests sent to origins, by the status answered.', {
    operation: 'open',
    status: 'open',
  }),
  s3accel_s3_received_bytes_total: counter('Bytes of bodies received from origins.', noLabels),
  s3accel_s3_sent_bytes_total: counter('Bytes of bodies sent to origins.', noLabels),
  s3accel_s3_requests_in_flight: gauge('Requests to origins that are under way.'),
  s3accel_s3_retries_total: counter('Requests to origins that were sent again.', noLabels),
  s3accel_s3_held_total: counter(
    'Waits of fetches because their origin had said that it is overloaded.',
    noLabels,
  ),

  s3accel_errors_total: counter('Faults, by who caused them and their code.', {
    source: ['client', 'peer', 'origin', 'disk'],
    code: 'open',
  }),
  s3accel_limits_reached_total: counter('How often a limit was reached, by its name.', {
    limit: 'open',
  }),

  s3accel_reactor_rounds_total: counter('Turns of receiving, deciding and sending.', noLabels),
  s3accel_reactor_batches_total: counter('Batches of events handed to TypeScript.', noLabels),
  s3accel_reactor_events_total: counter('Events in those batches.', noLabels),
  s3accel_reactor_commands_total: counter('Commands that came back.', noLabels),
  s3accel_reactor_receives_total: counter('System calls that received.', noLabels),
  s3accel_reactor_sends_total: counter('System calls that sent from memory.', noLabels),
  s3accel_reactor_send_files_total: counter('sendfile calls.', noLabels),
  s3accel_reactor_splices_total: counter('splice calls.', noLabels),
  s3accel_reactor_file_reads_total: counter('Reads of file ranges to send.', noLabels),
  s3accel_reactor_cold_reads_total: counter(
    'File ranges that were not in the page cache and went to a reader thread.',
    noLabels,
  ),
  s3accel_reactor_would_block_total: counter('Sends that a full socket held up.', noLabels),
  s3accel_reactor_copied_bytes_total: counter('Bytes copied to wait for a full socket.', noLabels),
  s3accel_reactor_disk_writes_total: counter('Writes of slots.', noLabels),
  s3accel_reactor_refused_total: counter('Connections reset for being too many.', noLabels),
  s3accel_reactor_connections: gauge('Open connections of every kind.'),
  s3accel_reactor_pipes: gauge('Pipes open for splice.'),
  s3accel_reactor_queued_bytes: gauge('Bytes waiting in write queues.'),
} as const satisfies Readonly<Record<string, MetricRow>>;

export type MetricTable = typeof metricTable;
export type MetricName = keyof MetricTable;
export type CounterName = {
  [N in MetricName]: MetricTable[N]['kind'] extends 'counter' ? N : never;
}[MetricName];

/** The value types of a metric's labels, in the table's order of names. */
export type LabelValues<N extends MetricName> = {
  readonly [
    L in keyof MetricTable[N]['labels']
  ]: MetricTable[N]['labels'][L] extends readonly (infer V)[] ? V : string;
};
