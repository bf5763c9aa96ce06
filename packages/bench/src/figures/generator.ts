/** P14: what the load generator itself spends on a request: signing it, sending it, comparing every byte of the answer. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAccelerator } from '../accelerator/accelerator.ts';
import { credentials } from '../accelerator/config.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { clientPrefix, runToEnd } from '../machine/child.ts';
import type { Run } from '../run.ts';

const generator = join(import.meta.dirname, '../../../load/src/main.ts');

const plan = (requests: number): string => `
[endpoint]
url = "http://127.0.0.1:1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"

[datasets.objects]
bucket = "load"
objects = 1000
sizes = [{ bytes = "4KiB" }]

[[steps]]
name = "warm"
dataset = "objects"
order = "sequential"
connections = 16
requests = 2000

[[steps]]
name = "measured"
dataset = "objects"
connections = 64
requests = ${Math.round(requests)}
verify = "all"
`;

interface LoadResult {
  readonly steps: readonly {
    readonly generatorCpuUs: number;
    readonly requestsPerSecond: number;
  }[];
}

export async function measureGenerator(run: Run): Promise<FigureResult[]> {
  const { scale, directory, progress } = run;
  const origin = await startOrigin(0, []);
  const ours = await startAccelerator({
    directory: join(directory, 'one'),
    originPort: origin.port,
    cacheGibibytes: 1,
    processes: 1,
  });
  try {
    const file = join(directory, 'plan.toml');
    writeFileSync(file, plan(scale.requests));
    const generate = (command: string, port: number, ...more: string[]): Promise<string> => {
      const options = ['--endpoint', `http://127.0.0.1:${port}`, '--quiet', ...more];
      return runToEnd(clientPrefix, [process.execPath, generator, command, file, ...options], '');
    };
    progress.say('P14: seed');
    await generate('seed', origin.port);
    const cpu: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < scale.rounds; round++) {
      progress.say(`P14: round ${round + 1} of ${scale.rounds}`);
      const out = join(directory, `result-${round}.json`);
      await generate('run', ours.gatewayPort, '--out', out);
      const { steps } = JSON.parse(readFileSync(out, 'utf8')) as LoadResult;
      cpu.push(steps.at(-1)?.generatorCpuUs ?? Number.NaN);
      rates.push(steps.at(-1)?.requestsPerSecond ?? Number.NaN);
    }
    return [
      figureOf(
        {
          id: 'P14',
          title: 'the load generator: signs a GET of 4 KiB, compares every byte',
          unit: 'us/request',
          target: '≤ 20 µs',
        },
        cpu,
        { used: median(cpu) / 20, note: `${Math.round(median(rates))} requests/s` },
      ),
    ];
  } finally {
    await ours.stop();
    await origin.stop();
  }
}
