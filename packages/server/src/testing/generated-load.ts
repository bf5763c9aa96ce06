/**
 * Load of the project's own generator on a cluster that runs: a process of its own, so that what the test does meanwhile doesn't slow it.
 *
 * It knows what every object's bytes are, so a wrong answer is found whoever gave it; a PUT writes what is there already. Each load has a
 * dataset of its own. Requests go out at a fixed rate, whatever the answers do.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadResult, type StepResult } from '@s3-accelerator/load/result/result.ts';
import { credentials } from './programs.ts';

const generator = join(import.meta.dirname, '../../../load/src/main.ts');
/** Longer than any test: a load is stopped, it doesn't end. */
const longestSeconds = 3600;

export interface GeneratedLoadOptions {
  /** Of its files, and of its keys. */
  readonly name: string;
  readonly directory: string;
  readonly bucket: string;
  readonly objects: number;
  /** TOML: `sizes` of a dataset. */
  readonly sizes: string;
  /** TOML: `operations` of a step. */
  readonly operations: string;
  readonly requestsPerSecond: number;
  readonly connections: number;
  /** Which bytes of each answer are compared. */
  readonly verify: 'all' | 'edges';
}

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

export class GeneratedLoad {
  readonly #options: GeneratedLoadOptions;
  readonly #plan: string;
  readonly #result: string;
  #stop: () => void = () => undefined;
  #ended: Promise<Ended> | null = null;

  constructor(options: GeneratedLoadOptions) {
    this.#options = options;
    this.#plan = join(options.directory, `${options.name}.toml`);
    this.#result = join(options.directory, `${options.name}.result.json`);
  }

  /** Writes its objects, wherever that is. */
  async seed(port: number): Promise<void> {
    this.#writePlan(port);
    await this.#run(['seed', this.#plan, '--quiet']);
  }

  /** Reads every object, so many times. */
  async warm(port: number, rounds: number): Promise<void> {
    this.#writePlan(port);
    for (let round = 0; round < rounds; round++) {
      await this.#run(['run', this.#plan, '--step', 'each', '--quiet', '--out', this.#result]);
    }
  }

  /** Goes on until it is stopped. */
  start(port: number): void {
    this.#writePlan(port);
    const { ended, stop } = this.#spawn([
      ...['run', this.#plan, '--step', 'load'],
      ...['--quiet', '--out', this.#result],
    ]);
    this.#ended = ended;
    this.#stop = stop;
  }

  /** Lets answers under way finish; what came of all. @throws when it had ended by itself: something was wrong. */
  async stop(): Promise<StepResult> {
    this.#stop();
    const { code, said } = (await this.#ended) ?? { code: null, said: 'it never began' };
    if (code !== 130) throw new Error(`the load ended with ${code}: ${said}`);
    const [step] = loadResult(this.#result).steps;
    if (step === undefined) throw new Error(`the load came to nothing: ${said}`);
    return step;
  }

  async #run(args: readonly string[]): Promise<void> {
    const { code, said } = await this.#spawn(args).ended;
    if (code !== 0) throw new Error(`${args[0] ?? ''} ended with ${code}: ${said}`);
  }

  #spawn(args: readonly string[]): { readonly ended: Promise<Ended>; readonly stop: () => void } {
    const child = spawn(process.execPath, [generator, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const { promise, resolve } = Promise.withResolvers<Ended>();
    child.on('close', (code) => resolve({ code, said }));
    return { ended: promise, stop: () => void child.kill('SIGINT') };
  }

  #writePlan(port: number): void {
    const { name, bucket, objects, sizes, operations, ...step } = this.#options;
    writeFileSync(
      this.#plan,
      `
[endpoint]
url = "http://127.0.0.1:${port}"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[datasets.objects]
bucket = "${bucket}"
prefix = "${name}/"
objects = ${objects}
sizes = ${sizes}
[[steps]]
name = "each"
dataset = "objects"
order = "sequential"
connections = 8
requests = ${objects}
verify = "all"
[[steps]]
name = "load"
dataset = "objects"
operations = ${operations}
connections = ${step.connections}
rate = ${step.requestsPerSecond}
duration_s = ${longestSeconds}
verify = "${step.verify}"
`,
    );
  }
}
