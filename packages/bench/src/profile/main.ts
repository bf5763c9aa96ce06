/** `npm run profile -- PLAN`: where gateway and node spend their time under a plan's load. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import CliTable from 'cli-table3';
import { startAccelerator, type Accelerator, type Part } from '../accelerator/accelerator.ts';
import { credentials } from '../accelerator/config.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { NotMeasurable } from '../figure.ts';
import { clientPrefix, runToEnd, start, stop, type StartedChild } from '../machine/child.ts';
import { cleanUpOnInterrupt } from '../machine/interrupt.ts';
import { Progress } from '../progress.ts';
import { flameGraph } from './flame-graph.ts';
import { optionsOrExit } from '../arguments.ts';
import { optionsFrom, usage, type ProfileOptions } from './options.ts';
import { availableProfiler } from './profiler.ts';
import type { Stacks } from './stacks.ts';
import { assertStrace, countCalls, type CallCount } from './system-calls.ts';

const generator = join(import.meta.dirname, '../../../load/src/main.ts');
const hottestShown = 12;
const cacheGibibytes = 4;
/** From the start of a load until it is at its full rate: starting, and a second of warm-up. */
const settleMs = 2500;
const progress = new Progress();

/** The plan's load: all of it once, then its last step again and again until it is stopped. */
class Load {
  readonly #command: readonly string[];
  readonly #result: string;
  #child: StartedChild | null = null;
  #isStopped = false;

  constructor(plan: string, port: number, result: string) {
    const options = ['--endpoint', `http://127.0.0.1:${port}`, '--quiet', '--out', result];
    this.#command = [process.execPath, generator, 'run', plan, ...options];
    this.#result = result;
  }

  async all(): Promise<void> {
    await runToEnd(clientPrefix, this.#command, '');
  }

  beginLastStep(): void {
    const { steps } = JSON.parse(readFileSync(this.#result, 'utf8')) as LoadResult;
    this.#repeat([...this.#command, '--step', steps.at(-1)?.step.name ?? '']);
  }

  #repeat(command: readonly string[]): void {
    const child = start(clientPrefix, command);
    child.stdout?.resume();
    child.once('exit', () => {
      if (!this.#isStopped) this.#repeat(command);
    });
    this.#child = child;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#child !== null) await stop(this.#child);
  }
}

interface LoadResult {
  readonly steps: readonly { readonly step: { readonly name: string } }[];
}

async function profile(options: ProfileOptions, scratch: string): Promise<void> {
  const { plan, processes, seconds, out } = options;
  process.env['AWS_ACCESS_KEY_ID'] = credentials.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = credentials.secretAccessKey;
  const profiler = availableProfiler(scratch);
  const origin = await startOrigin(0, []);
  let parts: readonly (readonly [name: string, part: Part])[] = [];
  try {
    progress.say(`${basename(plan)}: seed`);
    const seed = ['seed', plan, '--endpoint', `http://127.0.0.1:${origin.port}`, '--quiet'];
    await runToEnd([], [process.execPath, generator, ...seed], '');
    const ours = await startAccelerator({
      directory: join(scratch, 'accelerator'),
      originPort: origin.port,
      cacheGibibytes,
      processes,
      nodeFlags: profiler.nodeFlags,
    });
    parts =
      processes === 1
        ? [['gateway and node', ours.gateway]]
        : [
            ['gateway', ours.gateway],
            ['node', ours.nodes[0]!],
          ];
    const load = new Load(plan, ours.gatewayPort, join(scratch, 'result.json'));
    try {
      progress.say('the plan once, to fill the cache and to warm up');
      await load.all();
      await ours.settled();
      load.beginLastStep();
      await sleep(settleMs);
      progress.say(`${seconds} s under ${profiler.name}`);
      await Promise.all(parts.map(([, { pid }]) => profiler.record(pid, seconds)));
      await tellSystemCalls(ours, parts);
    } finally {
      await load.stop();
      await ours.stop();
    }
  } finally {
    await origin.stop();
  }
  mkdirSync(out, { recursive: true });
  for (const [name, { pid }] of parts) {
    const stacks = profiler.stacks(pid);
    const file = join(out, `${name.replaceAll(' ', '-')}.svg`);
    writeFileSync(file, flameGraph(`${name}: ${basename(plan)}`, stacks));
    process.stdout.write(
      `${hottestTable(name, stacks)}\n${Math.round(stacks.total)} ${profiler.unit}\n${file} written\n`,
    );
  }
}

async function tellSystemCalls(
  ours: Accelerator,
  parts: readonly (readonly [name: string, part: Part])[],
): Promise<void> {
  try {
    assertStrace();
  } catch (error) {
    if (!(error instanceof NotMeasurable)) throw error;
    process.stdout.write(`system calls not counted: ${error.message}\n`);
    return;
  }
  const requests = (): Promise<number> =>
    ours.metric(ours.gateway, 's3accel_gateway_requests_total');
  for (const [name, { pid }] of parts) {
    progress.say(`system calls of the ${name}`);
    const before = await requests();
    const calls = await countCalls(pid, 3000);
    process.stdout.write(`${callTable(name, calls, (await requests()) - before)}\n`);
  }
}

function callTable(name: string, calls: readonly CallCount[], requests: number): string {
  const rows = new CliTable({
    head: [`${name}: system call`, 'a request'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right'],
  });
  const all = calls.reduce((sum, each) => sum + each.calls, 0);
  for (const { name: call, calls: count } of [...calls, { name: 'all', calls: all }]) {
    if (count / requests >= 0.005) rows.push([call, (count / requests).toFixed(2)]);
  }
  return `${rows.toString()}\n${Math.round(requests)} requests under strace`;
}

function hottestTable(name: string, stacks: Stacks): string {
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
  const rows = new CliTable({
    head: [`${name}: most time spent in`, '', 'share'],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'right'],
  });
  for (const [kind, share] of Object.entries(stacks.sharesByKind())) {
    rows.push([`all of ${kind}`, kind, percent(share)]);
  }
  for (const { name: called, kind, share } of stacks.hottest(hottestShown)) {
    rows.push([called.slice(0, 70), kind, percent(share)]);
  }
  return rows.toString();
}

const options = optionsOrExit(optionsFrom, usage);
const scratch = mkdtempSync(join(tmpdir(), 's3-accelerator-profile-'));
cleanUpOnInterrupt(scratch);
try {
  await profile(options, scratch);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
