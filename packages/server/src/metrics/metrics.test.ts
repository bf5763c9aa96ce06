import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Counter, RequestCounter, maxSeries } from './counters.ts';
import { metricsPage } from './documentation.ts';
import { Figures } from './figures.ts';
import { Metrics } from './metrics.ts';
import { metricTable } from './table.ts';

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.scrape();
  return text.split('\n').filter((line) => line.startsWith(name) && /^[^#]/.test(line));
}

test('docs/metrics.md is what the table says', async () => {
  const file = new URL('../../../../docs/metrics.md', import.meta.url);
  const message = 'docs/metrics.md has fallen behind the table: npm run docs';
  assert.equal(readFileSync(file, 'utf8'), await metricsPage(), message);
});

test('names follow the rule, help is a sentence', () => {
  for (const [name, row] of Object.entries(metricTable)) {
    assert.match(
      name,
      /^s3accel_(gateway|node|s3|ring|cluster|gossip|reactor|errors|limits)_[a-z0-9_]+$/,
    );
    assert.equal(name.endsWith('_total'), row.kind === 'counter', name);
    assert.match(row.help, /^[A-Za-z].*\.$/, name);
  }
});

test('series known beforehand are exported as 0 before anything happened', async () => {
  assert.deepEqual(await linesOf(new Metrics('1.2.3'), 's3accel_node_block_reads_total'), [
    's3accel_node_block_reads_total{source="disk"} 0',
    's3accel_node_block_reads_total{source="fill"} 0',
    's3accel_node_block_reads_total{source="s3"} 0',
    's3accel_node_block_reads_total{source="peer"} 0',
  ]);
});

test('what was counted is scraped, again and again', async () => {
  const metrics = new Metrics('1.2.3');
  const reads = metrics.counter('s3accel_node_block_reads_total');
  const fromDisk = reads.series({ source: 'disk' });
  reads.add(fromDisk);
  reads.add(fromDisk, 2);
  const name = 's3accel_node_block_reads_total{source="disk"}';
  assert.deepEqual(await linesOf(metrics, name), [`${name} 3`]);
  assert.deepEqual(await linesOf(metrics, name), [`${name} 3`]);
  reads.add(fromDisk);
  assert.deepEqual(await linesOf(metrics, name), [`${name} 4`]);
  assert.equal(metrics.counter('s3accel_node_block_reads_total'), reads);
});

test('requests are counted by operation and status', async () => {
  const metrics = new Metrics('1.2.3');
  const requests = new RequestCounter(metrics.counter('s3accel_gateway_requests_total'));
  for (let i = 0; i < 3; i++) requests.count('GetObject', 200);
  requests.count('GetObject', 404);
  requests.count('PutObject', 200);
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_requests_total'), [
    's3accel_gateway_requests_total{operation="GetObject",status="200"} 3',
    's3accel_gateway_requests_total{operation="GetObject",status="404"} 1',
    's3accel_gateway_requests_total{operation="PutObject",status="200"} 1',
  ]);
  assert.throws(() => requests.count('GetObject', 600), RangeError);
});

test('label values beyond the limit are counted together', () => {
  const counter = new Counter('s3accel_limits_reached_total');
  for (let i = 0; i < maxSeries + 50; i++) {
    counter.add(counter.series({ limit: `limit ${i}` }));
  }
  const all = [...counter];
  assert.equal(all.length, maxSeries);
  assert.deepEqual(all.at(-1), { labels: { limit: 'other' }, value: 51 });
  assert.deepEqual(all[1], { labels: { limit: 'limit 1' }, value: 1 });
});

test('gauges are read at the scrape, summed over their sources, and left out without any', async () => {
  const metrics = new Metrics('1.2.3');
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_connections'), []);
  let open = 3;
  metrics.readFrom('s3accel_gateway_connections', () => open);
  metrics.readFrom('s3accel_gateway_connections', () => 10);
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_connections'), [
    's3accel_gateway_connections 13',
  ]);
  open = 0;
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_connections'), [
    's3accel_gateway_connections 10',
  ]);
});

test('counters can be read from elsewhere, on top of what was counted here', async () => {
  const metrics = new Metrics('1.2.3');
  const name = 's3accel_limits_reached_total';
  const counter = metrics.counter(name);
  counter.add(counter.series({ limit: 'connections' }), 5);
  metrics.readFrom(name, () => 2, { limit: 'connections' });
  metrics.readEach(name, () => [
    { labels: { limit: 'connections' }, value: 1 },
    { labels: { limit: 'pipes' }, value: 4 },
  ]);
  assert.deepEqual(await linesOf(metrics, name), [
    `${name}{limit="connections"} 8`,
    `${name}{limit="pipes"} 4`,
  ]);
});

test('the process and the version are among the metrics', async () => {
  const text = await new Metrics('1.2.3').scrape();
  assert.match(text, /^s3accel_build_info\{version="1\.2\.3"\} 1$/m);
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_open_fds',
    'nodejs_eventloop_lag_p50_seconds',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_eventloop_lag_max_seconds',
  ]) {
    assert.match(text, new RegExp(`^${name} `, 'm'));
  }
});

test('the figures of further loops are added to those of the first', async () => {
  const metrics = new Metrics('1.2.3');
  const further = [new Figures(), new Figures()];
  metrics.addLoops(() => Promise.resolve(further.map((figures) => figures.allSamples())));
  for (const figures of [metrics, ...further]) {
    const requests = new RequestCounter(figures.counter('s3accel_gateway_requests_total'));
    requests.count('GetObject', 200);
    figures.readFrom('s3accel_gateway_connections', () => 7);
  }
  const onlyThere = new RequestCounter(further[1]!.counter('s3accel_gateway_requests_total'));
  onlyThere.count('PutObject', 200);
  metrics.readFrom('s3accel_ring_version', () => 12);
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_requests_total'), [
    's3accel_gateway_requests_total{operation="GetObject",status="200"} 3',
    's3accel_gateway_requests_total{operation="PutObject",status="200"} 1',
  ]);
  assert.deepEqual(await linesOf(metrics, 's3accel_gateway_connections'), [
    's3accel_gateway_connections 21',
  ]);
  assert.deepEqual(await linesOf(metrics, 's3accel_ring_version'), ['s3accel_ring_version 12']);
});
