/** `s3-accelerator-load`: seeds an S3 endpoint, loads it after a plan, reports and draws what came of it. */
import { writeFileSync } from 'node:fs';
import { ConfigError } from 's3-accelerator/config/problems.ts';
import type { Wanted } from './command/arguments.ts';
import { ArgumentError, wantedFrom } from './command/arguments.ts';
import { run } from './command/run.ts';
import { seed } from './command/seed.ts';
import { EndpointError } from './fleet/check-endpoint.ts';
import { loadPlan } from './plan/read-plan.ts';
import { chartOf } from './result/chart.ts';
import { markdownOf } from './result/markdown.ts';
import { ResultError, loadResult } from './result/result.ts';

const stop = new AbortController();

/** The ones of that name, or all of them. Throws ArgumentError when there is none. */
function chosen<T extends { readonly name: string }>(
  what: string,
  all: readonly T[],
  name: string | undefined,
): readonly T[] {
  if (name === undefined) return all;
  const found = all.filter((each) => each.name === name);
  if (found.length > 0) return found;
  const known = all.map((each) => each.name).join(', ');
  throw new ArgumentError(`--${what} ${name}: the plan has none of that name, only ${known}`, '');
}

function put(out: string | undefined, text: string): void {
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(out, text);
}

async function perform(wanted: Wanted): Promise<number> {
  switch (wanted.command) {
    case 'help':
      process.stdout.write(wanted.text);
      return 0;
    case 'seed': {
      const { connections, isQuiet } = wanted;
      const plan = loadPlan(wanted.plan, process.env, wanted.endpoint);
      const datasets = chosen('dataset', plan.datasets, wanted.dataset);
      return seed(plan, { datasets, connections, isQuiet }, stop.signal);
    }
    case 'run': {
      const { out, isQuiet } = wanted;
      const plan = loadPlan(wanted.plan, process.env, wanted.endpoint);
      const steps = chosen('step', plan.steps, wanted.step);
      return run(plan, { planFile: wanted.plan, steps, out, isQuiet }, stop.signal);
    }
    case 'report':
      put(wanted.out, markdownOf(loadResult(wanted.result)));
      return 0;
    case 'chart':
      put(wanted.out, chartOf(loadResult(wanted.result)));
      return 0;
  }
}

async function main(): Promise<number> {
  try {
    return await perform(wantedFrom(process.argv.slice(2)));
  } catch (error) {
    if (error instanceof ArgumentError) {
      process.stderr.write(`${error.message}\n${error.usage === '' ? '' : `\n${error.usage}`}`);
      return 2;
    }
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      return 2;
    }
    if (error instanceof EndpointError || error instanceof ResultError) {
      process.stderr.write(`${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

// More than once: npm and the terminal both pass a Ctrl-C on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
process.exitCode = await main();
