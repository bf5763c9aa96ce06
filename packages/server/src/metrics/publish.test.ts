import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newGatewayCounters } from '@s3-accelerator/core/gateway/counters.ts';
import { newNodeCounters } from '@s3-accelerator/core/node/counters.ts';
import { OriginCounters } from '../origin/origin-counters.ts';
import { Metrics } from './metrics.ts';
import {
  publishGateway,
  publishLimit,
  publishNode,
  publishOrigin,
  publishReactor,
  publishServer,
} from './publish.ts';
import { numbered, samplesOf } from './testing/samples.ts';

const noGatewayLevels = {
  clientReads: 0,
  outstandingReads: 0,
  untakenBytes: 0,
  suspects: 0,
  hotHints: 0,
  metadataEntries: 0,
  metadataBytes: 0,
};

const noNodeLevels = {
  waitingReaders: 0,
  lookups: 0,
  fetches: 0,
  fillBytes: 0,
  metadataEntries: 0,
  metadataBytes: 0,
  leasesGranted: 0,
  leasesHeld: 0,
};

/** All figures together. */
function totalOf(counters: Readonly<Record<string, number>>): number {
  return Object.values(counters).reduce((sum, value) => sum + value, 0);
}

/** The sum of distinct powers of two tells which figures a set of samples holds, each once. */
function sumOf(samples: Map<string, number>, pattern: RegExp): number {
  return [...samples]
    .filter(([name]) => pattern.test(name) && !name.startsWith('s3accel_build_info'))
    .reduce((sum, [, value]) => sum + value, 0);
}

test("a node's counters and levels are all published, each once", async () => {
  const metrics = new Metrics('1.2.3');
  const counters = numbered(newNodeCounters());
  const levels = numbered(noNodeLevels);
  publishNode(metrics, { counters, levels: () => levels });
  const samples = await samplesOf(metrics);
  assert.equal(sumOf(samples, /./), totalOf(counters) + totalOf(levels));
  assert.equal(samples.get('s3accel_node_fetches_in_flight'), levels.fetches);
  assert.equal(
    samples.get('s3accel_node_block_reads_total{source="disk"}'),
    counters.readsFromDisk,
  );
  assert.equal(samples.get('s3accel_node_block_reads_total{source="s3"}'), counters.readsFromS3);
  assert.equal(
    samples.get('s3accel_limits_reached_total{limit="node_fetches"}'),
    counters.fetchesExhausted,
  );
  assert.equal(
    samples.get('s3accel_errors_total{source="disk",code="write-failed"}'),
    counters.writesFailed,
  );
});

test("a gateway's counters and levels are all published, each once", async () => {
  const metrics = new Metrics('1.2.3');
  const counters = numbered(newGatewayCounters());
  const levels = numbered(noGatewayLevels);
  publishGateway(metrics, { counters, levels: () => levels });
  const samples = await samplesOf(metrics);
  // The server counts the cut ones.
  const published = totalOf(counters) - counters.aborts + totalOf(levels);
  assert.equal(sumOf(samples, /./), published);
  assert.equal(samples.get('s3accel_gateway_reads_in_flight'), levels.outstandingReads);
  assert.equal(samples.get('s3accel_gateway_node_reads_total{kind="piece"}'), counters.pieces);
});

test("an HTTP server's counters are published, but for the requests counted elsewhere", async () => {
  const metrics = new Metrics('1.2.3');
  const counters = numbered({
    accepted: 0,
    refusedConnections: 0,
    requests: 0,
    badRequests: 0,
    headTimeouts: 0,
    aborted: 0,
    bodyBytesReceived: 0,
    bodyBytesSent: 0,
  });
  publishServer(metrics, counters);
  const samples = await samplesOf(metrics);
  assert.equal(sumOf(samples, /./), totalOf(counters) - counters.requests);
  assert.equal(samples.get('s3accel_gateway_cut_answers_total'), counters.aborted);
});

test('a limit that is counted apart is published by its name', async () => {
  const metrics = new Metrics('1.2.3');
  publishLimit(metrics, 'node_links', () => 5);
  const samples = await samplesOf(metrics);
  assert.equal(samples.get('s3accel_limits_reached_total{limit="node_links"}'), 5);
});

test('counters are read at the scrape, not when they are published', async () => {
  const metrics = new Metrics('1.2.3');
  const counters = newNodeCounters();
  publishNode(metrics, { counters, levels: () => noNodeLevels });
  counters.fetchedBytes = 12;
  assert.equal((await samplesOf(metrics)).get('s3accel_node_fetched_bytes_total'), 12);
});

test('what origins answered is published by operation and status', async () => {
  const metrics = new Metrics('1.2.3');
  const counters = new OriginCounters();
  publishOrigin(metrics, counters);
  counters.answered('GetObject', 206);
  counters.answered('GetObject', 206);
  counters.answered('PutObject', 503);
  counters.failed('timeout');
  counters.limitReached = 3;
  const samples = await samplesOf(metrics);
  const requests = 's3accel_s3_requests_total';
  assert.equal(samples.get(`${requests}{operation="GetObject",status="206"}`), 2);
  assert.equal(samples.get(`${requests}{operation="PutObject",status="503"}`), 1);
  assert.equal(samples.get('s3accel_errors_total{source="origin",code="timeout"}'), 1);
  assert.equal(samples.get('s3accel_limits_reached_total{limit="origin_requests"}'), 3);
});

test("a reactor's figures are published, those of two added up", async () => {
  const metrics = new Metrics('1.2.3');
  const stats = {
    rounds: 1,
    batches: 2,
    events: 3,
    commands: 4,
    receives: 5,
    sends: 6,
    sendFiles: 7,
    splices: 8,
    fileReads: 9,
    coldReads: 10,
    wouldBlock: 11,
    copiedBytes: 12,
    diskWrites: 13,
    refused: 14,
    connections: 15,
    pipes: 16,
    queuedBytes: 17,
  };
  publishReactor(metrics, () => stats);
  publishReactor(metrics, () => stats);
  const samples = await samplesOf(metrics);
  assert.equal(samples.get('s3accel_reactor_send_files_total'), 14);
  assert.equal(samples.get('s3accel_reactor_queued_bytes'), 34);
  assert.equal(sumOf(samples, /_reactor_/), 2 * totalOf(stats));
});
