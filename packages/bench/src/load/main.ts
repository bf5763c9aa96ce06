/**
 * The load client: a process of its own, so that its CPU time isn't the server's. Reads a LoadJob as JSON from standard input,
 * runs it in a closed loop, prints a LoadResult as JSON.
 */
import { readFileSync } from 'node:fs';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { ClientConnection } from './client-connection.ts';
import type { LoadJob, LoadResult, Spread } from './job.ts';
import { percentile } from './percentiles.ts';
import { RequestSigner } from './signed-requests.ts';

/** At most this many different signed heads are kept; longer runs go round. */
const maxHeads = 262_144;

function target(job: LoadJob, spread: Spread, index: number): { path: string; range: string } {
  if (spread.kind === 'objects') {
    return { path: `/${job.bucket}/${spread.prefix}${index % spread.count}`, range: '' };
  }
  const rangesPerKey = Math.floor(spread.objectBytes / job.bodyBytes);
  const key = spread.keys[Math.floor(index / rangesPerKey) % spread.keys.length] ?? '';
  const first = (index % rangesPerKey) * job.bodyBytes;
  const whole = job.bodyBytes === spread.objectBytes;
  return {
    path: `/${job.bucket}/${key}`,
    range: whole ? '' : `bytes=${first}-${first + job.bodyBytes - 1}`,
  };
}

function distinctTargets(job: LoadJob): number {
  const { spread } = job;
  if (spread.kind === 'objects') return spread.count;
  return spread.keys.length * Math.floor(spread.objectBytes / job.bodyBytes);
}

/** A shuffled order of 0 … count - 1 from a seed (xorshift32, Fisher-Yates). */
function shuffled(count: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  let state = seed | 1;
  for (let index = count - 1; index > 0; index--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (index + 1);
    const kept = order[index]!;
    order[index] = order[other]!;
    order[other] = kept;
  }
  return order;
}

function signedHeads(job: LoadJob): Buffer[] {
  const signer = new RequestSigner(`127.0.0.1:${job.port}`, job, new Date());
  const count = Math.min(maxHeads, distinctTargets(job), job.requests);
  const all = distinctTargets(job);
  const order = job.sequential
    ? Uint32Array.from({ length: all }, (_, index) => index)
    : shuffled(all, job.seed);
  return Array.from({ length: count }, (_, index) => {
    const { path, range } = target(job, job.spread, order[index]!);
    return signer.head('GET', path, range);
  });
}

function run(job: LoadJob): Promise<LoadResult> {
  const heads = signedHeads(job);
  const samples = new Float64Array(job.requests);
  let sent = 0;
  let sampled = 0;
  let answered = 0;
  let errors = 0;
  let firstError = '';
  let started = 0;
  let cpuBefore = process.cpuUsage();
  return new Promise((resolve) => {
    const reactor = new Reactor({ inputBytes: 32 << 20, receiveBytes: 256 << 10 });
    const end = (): void => {
      const seconds = (performance.now() - started) / 1000;
      const { user, system } = process.cpuUsage(cpuBefore);
      reactor.stop();
      const sorted = samples.subarray(0, sampled).sort();
      resolve({
        requests: answered,
        seconds,
        errors,
        firstError,
        bytes: answered * job.bodyBytes,
        clientCpuSeconds: (user + system) / 1e6,
        firstByteMs: {
          p50: percentile(sorted, 0.5),
          p99: percentile(sorted, 0.99),
          max: percentile(sorted, 1),
        },
      });
    };
    const settle = (): void => {
      if (answered + errors === job.requests || errors >= job.connections) setImmediate(end);
    };
    const ledger = {
      bodyBytes: job.bodyBytes,
      next: () => (sent < job.requests ? heads[sent++ % heads.length]! : null),
      firstByte: (milliseconds: number) => {
        if (sampled < samples.length) samples[sampled++] = milliseconds;
      },
      answered: () => {
        answered++;
        settle();
      },
      failed: (what: string) => {
        errors++;
        if (firstError === '') firstError = what;
        settle();
      },
    };
    cpuBefore = process.cpuUsage();
    started = performance.now();
    for (let index = 0; index < job.connections; index++) {
      reactor.connect('127.0.0.1', job.port, new ClientConnection(reactor, ledger));
    }
  });
}

const job = JSON.parse(readFileSync(0, 'utf8')) as LoadJob;
process.stdout.write(`${JSON.stringify(await run(job))}\n`);
