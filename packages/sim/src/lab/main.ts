/**
 * `npm run hit-rates`: plays traces to cache policies, prints what each did, and holds ours against its targets.
 *
 * Exit code 0 when all targets are met, 1 when one isn't, 2 for arguments or traces that can't be used.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import { endWithReader } from '../command/unread-output.ts';
import { LabError, optionsFrom, usage, type LabOptions } from './lab-options.ts';
import { measureTrace, type TraceResult } from './measure.ts';
import { renderPlot } from './plot.ts';
import { recordedTrace } from './recorded/recorded-trace.ts';
import { TraceError } from './recorded/trace-error.ts';
import { asJson, renderTargets, renderTrace } from './report.ts';
import { judge } from './targets.ts';
import { FIXED_TRACES } from './traces/fixed-traces.ts';

const DEFAULT_RECORDED_CAPACITY = 16 * 2 ** 30;

function options(): LabOptions {
  const { values } = parseArgs({
    options: {
      trace: { type: 'string' },
      policy: { type: 'string' },
      capacity: { type: 'string' },
      json: { type: 'boolean', default: false },
      plot: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  return optionsFrom(values);
}

function run({ trace, policies, capacityBytes, json, plot }: LabOptions): number {
  const traces = trace === null ? FIXED_TRACES : [recordedTrace(trace, DEFAULT_RECORDED_CAPACITY)];
  const results = traces.map((each) => {
    const result = measureTrace(each, policies, capacityBytes ?? each.capacityBytes);
    if (!json) process.stdout.write(`${renderTrace(result)}\n\n`);
    return result;
  });
  // Another capacity makes another experiment than the targets are about.
  const targets = trace === null && capacityBytes === null ? judge(results) : [];
  if (plot !== null) writePlot(plot, results);
  const text = json ? asJson(results, targets) : renderTargets(targets);
  if (text !== '') process.stdout.write(`${text}\n`);
  return targets.every(({ pass }) => pass) ? 0 : 1;
}

function writePlot(path: string, results: readonly TraceResult[]): void {
  try {
    writeFileSync(path, renderPlot(results));
  } catch (error) {
    throw new LabError(`--plot can't be written: ${(error as Error).message}`);
  }
}

function fail(error: unknown): number {
  if (error instanceof TraceError) {
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  const isArgument = error instanceof TypeError && 'code' in error;
  if (!isArgument && !(error instanceof LabError)) throw error;
  process.stderr.write(`${argumentError(error)}\n\n${usage}`);
  return 2;
}

endWithReader();
try {
  process.exitCode = run(options());
} catch (error) {
  process.exitCode = fail(error);
}
