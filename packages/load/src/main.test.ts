// The command from outside, against an S3 that answers well, badly, slowly, wrongly or not at all.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { StepResult } from './result/result.ts';
import { Workplace } from './testing/command.ts';
import { certificate, startTlsFront } from './testing/tls-front.ts';

const objects = 40;

let s3: MemoryS3;
const place = new Workplace();

before(async () => {
  s3 = await startMemoryS3();
  place.write('plan.toml', planWith('requests = 1'));
  assert.equal((await place.load('seed', 'plan.toml', '--quiet')).code, 0);
});

beforeEach(() => {
  s3.traffic.clear();
});

after(async () => {
  place.remove();
  await s3.close();
});

function planWith(step: string, head = ''): string {
  return `${head}
[endpoint]
url = "${s3.endpoint}"
access_key_id = "local-identity"
secret_access_key = "local-credential"
[datasets.small]
bucket = "load"
prefix = "small/"
objects = ${objects}
sizes = [{ from = "1KiB", to = "32KiB", weight = 3 }, { bytes = "600KiB" }, { bytes = 0 }]
[[steps]]
name = "the step"
dataset = "small"
${step}
`;
}

/** Runs one step and gives its result. */
async function run(step: string, head = '') {
  place.write('plan.toml', planWith(step, head));
  rmSync(join(place.directory, 'plan.result.json'), { force: true });
  const ended = await place.load('run', 'plan.toml');
  const result = place.result();
  return { ...ended, result, step: result.steps[0]! };
}

function count(step: StepResult): number {
  return step.operations.reduce((sum, { requests }) => sum + requests, 0);
}

test('seeding uploads each object once, in several processes', async () => {
  place.write('plan.toml', planWith('requests = 3', 'processes = 3'));
  const { code, out } = await place.load('seed', 'plan.toml');
  assert.equal(code, 0);
  assert.equal(s3.traffic.count('PutObject'), objects);
  assert.match(out, /^small: 40 of 40 objects, /);
});

test('a run of all operations is right in every byte, and counts what the server counted', async () => {
  const { code, out, err, step, result } = await run(
    'requests = 300\nconnections = 6\nverify = "all"\nsign_payload = true\norder = "zipf"\n' +
      'operations = { get = 60, head = 15, put = 15, list = 10 }',
    'processes = 2',
  );
  assert.equal(code, 0, err);
  assert.ok(result.isComplete);
  const counts = Object.fromEntries(step.operations.map((each) => [each.operation, each.requests]));
  // The check before the run reads five objects.
  assert.equal(counts['get'], s3.traffic.count('GetObject') - 5);
  assert.equal(counts['head'], s3.traffic.count('HeadObject'));
  assert.equal(counts['put'], s3.traffic.count('PutObject'));
  assert.equal(counts['list'], s3.traffic.count('ListObjectsV2'));
  assert.equal(count(step), 300);
  const listed = step.timeline.reduce((sum, { requests }) => sum + requests, 0);
  assert.equal(listed, 300);
  assert.match(out, /\| GET first byte +\| \d+ +\|/);
  assert.match(err, /Every answer was right\. The result is in plan\.result\.json\.\n$/);
});

test('ranges are asked for, signed and compared', async () => {
  const { code, err, step } = await run(
    'requests = 100\nverify = "all"\nrange = { bytes = "4KiB", align = 1 }',
  );
  assert.equal(code, 0, err);
  const ranged = s3.traffic.log.filter(({ status }) => status === 206);
  assert.ok(ranged.length > 30, `${ranged.length} ranges`);
  assert.ok(ranged.every(({ bytesSent }) => bytesSent === 4096));
  assert.equal(count(step), 100);
});

test('a report and a chart are made of a result', async () => {
  await run('requests = 20');
  const report = await place.load('report', 'plan.result.json');
  assert.match(report.out, /^# Load on http:/);
  const chart = await place.load('chart', 'plan.result.json', '--out', 'chart.svg');
  assert.equal(chart.code, 0, chart.err);
  const svg = readFileSync(join(place.directory, 'chart.svg'), 'utf8');
  assert.match(svg, /^<svg .*<\/svg>\n$/s);
  assert.ok(!/NaN|undefined|Infinity/.test(svg));
});

test('no result holds a secret', async () => {
  await run('requests = 1');
  const text = readFileSync(join(place.directory, 'plan.result.json'), 'utf8');
  assert.ok(!text.includes('local-credential'));
});

test('wrong bytes end the run, which says where they were', async () => {
  const key = 'small/000000007';
  const { bytes } = s3.get('load', key)!;
  const wrong = Buffer.from(bytes);
  wrong[wrong.length - 1]! ^= 1;
  s3.put('load', key, wrong);
  try {
    const { code, err, result, step } = await run('order = "sequential"\nduration_s = 60');
    assert.equal(code, 1);
    assert.equal(result.isComplete, false);
    assert.equal(result.why, 'step "the step": an answer was wrong');
    const [error] = step.errors;
    assert.equal(error?.kind, 'wrong bytes');
    const where = `GET ${key}: byte ${bytes.length - 1} of the object is wrong`;
    assert.equal(error.example, where);
    assert.ok(count(step) > 0, 'what was measured until then is kept');
    assert.match(err, /Partial: step "the step": an answer was wrong\. \d+ requests failed/);
  } finally {
    s3.put('load', key, bytes);
  }
});

test('an object of another length is wrong, and a key too many in a listing', async () => {
  const key = 'small/000000010';
  const { bytes } = s3.get('load', key)!;
  s3.put('load', key, Buffer.concat([bytes, Buffer.from('x')]));
  s3.put('load', `${key}x`, 'stranger');
  try {
    const sequential = 'order = "sequential"\nduration_s = 60\nconnections = 1\n';
    const read = await run(sequential);
    assert.equal(read.step.errors[0]?.kind, 'wrong length');
    const listed = await run(`${sequential}operations = { list = 1 }`);
    assert.equal(listed.step.errors[0]?.kind, 'wrong listing');
    assert.equal(listed.code, 1);
  } finally {
    s3.put('load', key, bytes);
    s3.delete('load', `${key}x`);
  }
});

test('errors are counted by kind, and the run goes on', async () => {
  s3.faults.next('slow-down', { operation: 'GetObject', key: 'small/000000001', times: 1 });
  s3.faults.next('slow-down', { operation: 'GetObject', key: 'small/000000002', times: 1 });
  s3.faults.next('reset-before', { operation: 'GetObject', key: 'small/000000003', times: 1 });
  s3.faults.next('short-body', { operation: 'GetObject', key: 'small/000000004', times: 1 });
  const { code, result, step } = await run('order = "sequential"\nrequests = 40\nconnections = 2');
  assert.equal(code, 1);
  assert.ok(result.isComplete);
  const slow = step.errors.find(({ kind }) => kind === '503 SlowDown');
  assert.equal(slow?.count, 2);
  assert.match(slow.example, /^GET small\/00000000[12]: Please reduce/);
  const broken = step.errors.filter(({ kind }) => / (before|within) the answer$/.test(kind));
  assert.equal(
    broken.reduce((sum, error) => sum + error.count, 0),
    2,
    JSON.stringify(step.errors),
  );
  assert.equal(count(step), 36);
});

test('an answer that stalls is given up after its time', async () => {
  s3.faults.next('stall', { operation: 'GetObject', key: 'small/000000001' });
  const { step } = await run('order = "sequential"\nrequests = 40\ntimeout_ms = 700');
  assert.deepEqual(
    step.errors.map(({ kind, count: times }) => [kind, times]),
    [['timeout', 1]],
  );
});

test('at a fixed rate requests wait for a stalled server, and the waiting is in their latency', async () => {
  place.write('plan.toml', planWith('rate = 100\nduration_s = 4\nconnections = 1'));
  // The check before the run takes five answers, so the sixth read is the step's first.
  const { ended } = place.start(['run', 'plan.toml']);
  while (s3.traffic.count('GetObject') < 30) await new Promise((resolve) => setTimeout(resolve, 5));
  const hold = s3.faults.hold({ operation: 'GetObject' });
  await hold.arrived;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  hold.release();
  const { code, err } = await ended;
  assert.equal(code, 0, err);
  const [step] = place.result().steps;
  const [get] = step!.operations;
  assert.equal(get!.requests, 400);
  // A hundred were due in that second; those of its first half waited for more than half a second. A generator that
  // waits along with the server would show one.
  assert.ok(get!.firstByte.p90Us > 450_000, `p90 ${get!.firstByte.p90Us} µs`);
  assert.ok(get!.firstByte.maxUs >= 1_000_000, `max ${get!.firstByte.maxUs} µs`);
  assert.ok(step!.wait.maxUs > 900_000, 'and it is told that they were sent late');
});

test('what was due and never sent is an error', async () => {
  s3.faults.set({ delayMs: 400 });
  try {
    const { code, step } = await run(
      'rate = 50\nduration_s = 1\nconnections = 1\ntimeout_ms = 1000',
    );
    assert.equal(code, 1);
    const never = step.errors.find(({ kind }) => kind === 'due and never sent');
    assert.ok((never?.count ?? 0) >= 40, JSON.stringify(step.errors));
    assert.equal(count(step) + (never?.count ?? 0), 50);
  } finally {
    s3.faults.set({ delayMs: 0 });
  }
});

test('a Ctrl-C keeps what was measured', async () => {
  place.write('plan.toml', planWith('duration_s = 60'));
  const { started, ended } = place.start(['run', 'plan.toml']);
  while (s3.traffic.count('GetObject') < 50) await new Promise((resolve) => setTimeout(resolve, 5));
  started.kill('SIGINT');
  const { code, err } = await ended;
  assert.equal(code, 130);
  const result = place.result();
  assert.equal(result.why, 'step "the step": interrupted');
  assert.ok(count(result.steps[0]!) > 0);
  assert.match(err, /^Partial: /m);
});

test('a worker that is lost leaves a partial result', async () => {
  place.write('plan.toml', planWith('duration_s = 60', 'processes = 2'));
  const { started, ended } = place.start(['run', 'plan.toml']);
  while (s3.traffic.count('GetObject') < 50) await new Promise((resolve) => setTimeout(resolve, 5));
  const { pid } = started;
  const workers = readFileSync(`/proc/${pid!}/task/${pid!}/children`, 'utf8').trim().split(' ');
  assert.equal(workers.length, 2);
  process.kill(Number(workers[0]), 'SIGKILL');
  assert.equal((await ended).code, 1);
  const result = place.result();
  assert.equal(result.why, 'step "the step": a worker ended by SIGKILL');
  assert.ok(count(result.steps[0]!) > 0, 'what the other one counted is kept');
});

test('an endpoint that goes away leaves a partial result', async () => {
  const gone = await startMemoryS3();
  place.write('plan.toml', planWith('duration_s = 60').replace(s3.endpoint, gone.endpoint));
  assert.equal((await place.load('seed', 'plan.toml', '--quiet')).code, 0);
  const { ended } = place.start(['run', 'plan.toml']);
  while (gone.traffic.count('GetObject') < 50) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await gone.close();
  const { code } = await ended;
  assert.equal(code, 1);
  const result = place.result();
  assert.equal(result.why, 'step "the step": not one request succeeded in 10 s');
  assert.ok(result.steps[0]!.errors.some(({ kind }) => kind === 'connect: ECONNREFUSED'));
  assert.ok(count(result.steps[0]!) > 0);
});

test('an endpoint with TLS is loaded the same, and one whose certificate is not trusted is told', async () => {
  const front = await startTlsFront(s3.port);
  const url = `https://localhost:${front.port}`;
  place.write(
    'plan.toml',
    planWith('requests = 60\nverify = "all"\noperations = { get = 5, put = 1 }'),
  );
  place.write('certificate.pem', certificate);
  const distrusted = await place.load('run', 'plan.toml', '--endpoint', url);
  assert.equal(distrusted.code, 1);
  assert.equal(distrusted.err, `${url} can't be reached: DEPTH_ZERO_SELF_SIGNED_CERT\n`);
  place.environment['NODE_EXTRA_CA_CERTS'] = join(place.directory, 'certificate.pem');
  const { code, err } = await place.load('run', 'plan.toml', '--endpoint', url);
  delete place.environment['NODE_EXTRA_CA_CERTS'];
  await new Promise((resolve) => front.server.close(resolve));
  assert.equal(code, 0, err);
  assert.equal(count(place.result().steps[0]!), 60);
});

test('a dataset that is not there is told before anything is measured', async () => {
  place.write('plan.toml', planWith('requests = 1').replace('small/', 'elsewhere/'));
  const { code, err } = await place.load('run', 'plan.toml');
  assert.equal(code, 1);
  assert.equal(
    err,
    "dataset small isn't seeded: load/elsewhere/000000000 is missing; run s3-accelerator-load seed PLAN --dataset small\n",
  );
});

test('a dataset that was seeded by another plan is told', async () => {
  place.write('plan.toml', planWith('requests = 1').replace('objects =', 'seed = 2\nobjects ='));
  const { code, err } = await place.load('run', 'plan.toml');
  assert.equal(code, 1);
  assert.match(err, /^dataset small was seeded otherwise: load\/small\/0000000\d\d has /);
});

test('credentials that are refused are told, without the secret', async () => {
  const wrong = planWith('requests = 1').replace('local-credential', 'not-the-secret');
  place.write('plan.toml', wrong);
  for (const command of ['seed', 'run']) {
    const { code, err } = await place.load(command, 'plan.toml');
    assert.equal(code, 1);
    assert.match(err, /^http:\S+ refuses access key local-identity for .*: 403/);
    assert.ok(!err.includes('not-the-secret'));
  }
});

test('an endpoint that cannot be reached is told', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<unknown>((resolve) => server.close(resolve));
  place.write('plan.toml', planWith('requests = 1'));
  const refused = await place.load('run', 'plan.toml', '--endpoint', `http://127.0.0.1:${port}`);
  assert.equal(refused.code, 1);
  assert.equal(refused.err, `http://127.0.0.1:${port} can't be reached: ECONNREFUSED\n`);
  const nameless = await place.load('run', 'plan.toml', '--endpoint', 'http://nowhere.invalid');
  assert.equal(nameless.code, 1);
  assert.match(nameless.err, /^http:\/\/nowhere\.invalid has no address: E/);
});

test('a plan with faults and arguments that mean nothing end with 2', async () => {
  place.write('plan.toml', planWith('requests = 1\ncolour = 1'));
  const bad = await place.load('run', 'plan.toml');
  assert.equal(bad.code, 2);
  assert.match(
    bad.err,
    /^plan\.toml: 1 problem\n {2}steps\[0\]\.colour: unknown key; known here: /,
  );
  const aimless = await place.load('fly');
  assert.equal(aimless.code, 2);
  assert.match(aimless.err, /^there is no command fly\n\nUsage: s3-accelerator-load COMMAND/);
  place.write('plan.toml', planWith('requests = 1'));
  const none = await place.load('run', 'plan.toml', '--step', 'other');
  assert.equal(none.code, 2);
  assert.equal(none.err, '--step other: the plan has none of that name, only the step\n');
});
