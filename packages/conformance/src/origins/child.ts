/** A program that runs beside the suite: its words are kept, it is ended by its pid, and never outlives the suite. */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const stopWithinMs = 20_000;
const pollMs = 100;
/** What is kept of what it said. */
const maxLogLength = 64 * 1024;

export type Environment = Readonly<Record<string, string | undefined>>;

export class Child {
  readonly #name: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #log = '';

  constructor(name: string, command: readonly string[], environment: Environment = process.env) {
    const [program = '', ...args] = command;
    this.#name = name;
    this.#process = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    const keep = (chunk: Buffer): void => {
      this.#log = (this.#log + chunk.toString('latin1')).slice(-maxLogLength);
    };
    this.#process.stdout?.on('data', keep);
    this.#process.stderr?.on('data', keep);
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#log += error.message;
        resolve();
      });
      this.#process.once('exit', () => resolve());
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Waits until `holds`. @throws when the program ends first, or it takes too long */
  async until(holds: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await holds())) {
      if (this.#hasEnded()) throw this.#failure('has ended');
      if (performance.now() > deadline) throw this.#failure(`is not ready within ${withinMs} ms`);
      await sleep(pollMs);
    }
  }

  /** Asks it to stop, and makes it when it doesn't. */
  async stop(): Promise<void> {
    if (this.#hasEnded()) return;
    this.#process.kill('SIGTERM');
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), stopWithinMs);
    await this.#ended;
    clearTimeout(kill);
  }

  #hasEnded(): boolean {
    const { exitCode, pid, signalCode } = this.#process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  #failure(what: string): Error {
    return new Error(`${this.#name} ${what}. Its last words:\n${this.#log.slice(-4096)}`);
  }
}

/** Whether anything answers HTTP there, or only with success. */
export async function answers(url: string, mustBeOk = false): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.ok || !mustBeOk;
  } catch {
    return false;
  }
}

/** Runs a command to its end. @throws with what it said when it fails */
export function run(
  command: readonly string[],
  environment: Environment = process.env,
  withinMs = 120_000,
): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment,
      timeout: withinMs,
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`${command.join(' ')} failed (${code ?? 'killed'}):\n${said}`));
    });
  });
}
