/** `seed`: uploads the objects of a plan's datasets, each once, as a step of PUTs in sequence. */
import { createBucket, findEndpoint } from '../fleet/check-endpoint.ts';
import { Progress } from '../fleet/progress.ts';
import { runStep } from '../fleet/run-step.ts';
import type { DatasetPlan, Plan, StepPlan } from '../plan/plan.ts';
import { formatBytes, formatCount } from '../result/amounts.ts';

export interface SeedOptions {
  readonly datasets: readonly DatasetPlan[];
  readonly connections: number;
  readonly isQuiet: boolean;
}

/** How long one upload may take. */
const uploadTimeoutMs = 10 * 60_000;

/** Returns the exit code. Throws EndpointError when the endpoint can't be used. */
export async function seed(plan: Plan, options: SeedOptions, stop: AbortSignal): Promise<number> {
  const address = await findEndpoint(plan.endpoint);
  const progress = new Progress(options.isQuiet ? null : process.stderr);
  for (const dataset of options.datasets) {
    await createBucket(plan.endpoint, address, dataset.bucket);
    const processes = Math.min(plan.processes, dataset.objects, options.connections);
    const step = uploadsOf(dataset, options.connections);
    const result = await runStep({ ...plan, processes }, step, address, progress, stop);
    const [uploads] = result.operations;
    const count = uploads?.requests ?? 0;
    process.stdout.write(
      `${dataset.name}: ${formatCount(count)} of ${formatCount(dataset.objects)} objects, ` +
        `${formatBytes(uploads?.bytes ?? 0)}, ${formatBytes(result.bytesPerSecond)}/s\n`,
    );
    for (const error of result.errors) {
      process.stderr.write(`${error.count} × ${error.kind}: ${error.example}\n`);
    }
    if (stop.aborted) return 130;
    if (count === dataset.objects) continue;
    process.stderr.write(`${dataset.name} isn't whole: run seed again\n`);
    return 1;
  }
  return 0;
}

function uploadsOf(dataset: DatasetPlan, connections: number): StepPlan {
  return {
    name: `seed ${dataset.name}`,
    dataset: dataset.name,
    operations: { get: 0, head: 0, put: 1, list: 0 },
    range: null,
    order: 'sequential',
    zipfExponent: 1,
    connections,
    rate: null,
    durationS: null,
    requests: dataset.objects,
    warmUpS: 0,
    timeoutMs: uploadTimeoutMs,
    verify: 'none',
    signPayload: false,
  };
}
