// Is the generator to be believed? Its counts and latencies are held against what a server counted by its own clock, and,
// where wrk is installed, wrk's against the same server's.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import type { DatasetPlan } from './plan/plan.ts';
import type { StepResult } from './result/result.ts';
import { Workplace } from './testing/command.ts';
import { CountingServer } from './testing/counting-server.ts';

const dataset: DatasetPlan = {
  name: 'same',
  bucket: 'load',
  prefix: 'same/',
  objects: 100,
  seed: 1,
  sizes: [{ firstBytes: 4096, lastBytes: 4096, weight: 1 }],
};
/** Objects that the check before a run reads. */
const checked = 5;
const delayMs = 100;
const connections = 8;

const place = new Workplace();
after(() => place.remove());

async function run(server: CountingServer, step: string): Promise<StepResult> {
  place.write(
    'plan.toml',
    `processes = 2
[endpoint]
url = "${server.endpoint}"
access_key_id = "id"
secret_access_key = "secret"
[datasets.same]
bucket = "load"
prefix = "same/"
objects = 100
sizes = [{ bytes = 4096 }]
[[steps]]
name = "the step"
dataset = "same"
connections = ${connections}
verify = "all"
${step}
`,
  );
  const { code, err } = await place.load('run', 'plan.toml');
  assert.equal(code, 0, err);
  return place.result().steps[0]!;
}

test('as many answers and bytes as the server sent, none faster than the server was', async () => {
  const server = new CountingServer(dataset, delayMs);
  const step = await run(server, 'duration_s = 3');
  server.stop();
  const [get] = step.operations;
  assert.equal(get!.requests, server.requests - checked);
  assert.equal(get!.bytes, server.bytes - checked * 4096);
  const seconds = step.timeline.reduce((sum, { requests }) => sum + requests, 0);
  assert.equal(seconds, get!.requests);
  // HDR histograms keep three digits.
  const meanMs = get!.lastByte.meanUs / 1000;
  assert.ok(meanMs * 1.001 >= server.heldMs / server.requests, `${meanMs} ms`);
  assert.ok(get!.firstByte.p50Us <= get!.lastByte.p50Us);
  // Little's law: that many requests under way, on the average, as there are connections, and never more.
  const underWay = (get!.requests * meanMs) / (step.seconds * 1000);
  const most = connections * (1 + (2 * delayMs) / (step.seconds * 1000));
  assert.ok(underWay <= most * 1.2 && underWay >= connections * 0.7, `${underWay} under way`);
});

test('a fixed rate is kept to the request', async () => {
  const server = new CountingServer(dataset);
  const step = await run(server, 'rate = 150\nduration_s = 2\nwarm_up_s = 1');
  server.stop();
  assert.equal(server.requests - checked, 450);
  assert.equal(step.operations[0]!.requests, 300);
});

test('a count is kept to the request', async () => {
  const server = new CountingServer(dataset);
  const step = await run(server, 'requests = 1001');
  server.stop();
  assert.equal(step.operations[0]!.requests, 1001);
  assert.equal(server.requests - checked, 1001);
});

if (spawnSync('wrk', ['--version']).error === undefined) {
  test('wrk sees the same server as the generator does', async () => {
    const server = new CountingServer(dataset, delayMs);
    const step = await run(server, 'duration_s = 3');
    const ours = server.requests - checked;
    server.clear();
    const wrk = spawn('wrk', [
      ...['-t2', `-c${connections}`, '-d3s', '--latency'],
      `${server.endpoint}/load/same/000000001`,
    ]);
    let out = '';
    wrk.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    await new Promise((resolve) => wrk.on('close', resolve));
    server.stop();
    const theirs = Number(/(\d+) requests in/.exec(out)?.[1]);
    const theirMedianMs = Number(/50%\s+([\d.]+)ms/.exec(out)?.[1]);
    // wrk drops what is under way at its end.
    assert.ok(theirs <= server.requests && theirs >= server.requests - 2 * connections, out);
    const ourMedianMs = step.operations[0]!.lastByte.p50Us / 1000;
    assert.ok(ourMedianMs >= delayMs - 1 && theirMedianMs >= delayMs - 1, out);
    assert.ok(ourMedianMs < 2 * theirMedianMs && theirMedianMs < 2 * ourMedianMs, out);
    assert.ok(ours < 2 * theirs && theirs < 2 * ours, `${ours} of ours, ${theirs} of wrk`);
  });
}
