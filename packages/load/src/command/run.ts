/** `run`: the steps of a plan, one after the other, into a result. */
import { basename } from 'node:path';
import { EndpointError, checkSeeded, findEndpoint } from '../fleet/check-endpoint.ts';
import { Progress } from '../fleet/progress.ts';
import { runStep } from '../fleet/run-step.ts';
import type { Plan, StepPlan } from '../plan/plan.ts';
import { markdownOf } from '../result/markdown.ts';
import type { RunResult, StepResult } from '../result/result.ts';
import { isClean, resultFormat, writeResult } from '../result/result.ts';
import { thisMachine } from './machine.ts';

export interface RunOptions {
  readonly planFile: string;
  readonly steps: readonly StepPlan[];
  readonly out: string | undefined;
  readonly isQuiet: boolean;
}

/** Returns the exit code. Throws EndpointError when the run can't begin. */
export async function run(plan: Plan, options: RunOptions, stop: AbortSignal): Promise<number> {
  const { planFile, isQuiet } = options;
  const out = options.out ?? `${basename(planFile).replace(/\.toml$/, '')}.result.json`;
  const address = await findEndpoint(plan.endpoint);
  const used = new Set(options.steps.map(({ dataset }) => dataset));
  for (const dataset of plan.datasets.filter(({ name }) => used.has(name))) {
    await checkSeeded(plan.endpoint, address, dataset);
  }
  const progress = new Progress(isQuiet ? null : process.stderr);
  const startedAt = new Date().toISOString();
  const done: StepResult[] = [];
  const keep = (isComplete: boolean, why: string): RunResult => {
    const result: RunResult = {
      format: resultFormat,
      isComplete,
      why,
      planFile,
      endpoint: plan.endpoint.url,
      startedAt,
      machine: thisMachine(),
      datasets: plan.datasets,
      steps: done,
    };
    writeResult(out, result);
    return result;
  };
  let why = '';
  for (const step of options.steps) {
    keep(false, `the run hadn't come further than before step "${step.name}"`);
    why = await oneStep(step, () => runStep(plan, step, address, progress, stop), done);
    if (why !== '') break;
  }
  const result = keep(why === '', why);
  if (!isQuiet) process.stdout.write(markdownOf(result));
  process.stderr.write(`${verdict(result)} The result is in ${out}.\n`);
  if (stop.aborted) return 130;
  return isClean(result) ? 0 : 1;
}

/** Runs a step, keeps what it came to, and returns why the run can't go on, or ''. */
async function oneStep(
  step: StepPlan,
  runIt: () => Promise<StepResult>,
  done: StepResult[],
): Promise<string> {
  try {
    const result = await runIt();
    done.push(result);
    return result.isComplete ? '' : `step "${step.name}": ${result.why}`;
  } catch (error) {
    // Before anything was measured it is an error like any other; later the steps before are worth keeping.
    if (!(error instanceof EndpointError) || done.length === 0) throw error;
    return `step "${step.name}": ${error.message}`;
  }
}

function verdict(result: RunResult): string {
  const errors = result.steps.flatMap((step) => step.errors);
  const total = errors.reduce((sum, { count }) => sum + count, 0);
  const [worst] = [...errors].sort((a, b) => b.count - a.count);
  const failures =
    worst === undefined
      ? 'Every answer was right.'
      : `${total} requests failed, most of them with "${worst.kind}" (${worst.example}).`;
  return result.isComplete ? failures : `Partial: ${result.why}. ${failures}`;
}
