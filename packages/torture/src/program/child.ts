/** One process of the program: started, watched, and ended by its pid. */
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const main = join(import.meta.dirname, 'main.ts');
/** Of what it printed, this much is kept for a finding. */
const keptCharacters = 4000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Child {
  readonly #child: ChildProcess;
  readonly #adminPort: number;
  readonly #ended: Promise<Exit>;
  #exit: Exit | null = null;
  #output = '';

  /** Starts it on a configuration text, which goes to `file`. */
  constructor(
    file: string,
    config: string,
    adminPort: number,
    environment: Readonly<Record<string, string>>,
  ) {
    writeFileSync(file, config);
    this.#adminPort = adminPort;
    const child = spawn(process.execPath, [main, file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-keptCharacters);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.#child = child;
    // Should the test itself be ended, nothing of it stays behind. First of all: whoever removes its files comes later.
    const endToo = (): void => void child.kill('SIGKILL');
    process.prependOnceListener('exit', endToo);
    child.once('exit', () => process.off('exit', endToo));
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  /** How it ended, null while it runs. */
  get exit(): Exit | null {
    return this.#exit;
  }

  /** The end of what it printed. */
  get output(): string {
    return this.#output;
  }

  /** Sends a signal; nothing happens when it has ended. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(name);
  }

  async ended(withinMs: number): Promise<Exit | null> {
    const abort = new AbortController();
    const timeout = sleep(withinMs, null, { signal: abort.signal }).catch(() => null);
    const exit = await Promise.race([this.#ended, timeout]);
    abort.abort();
    return exit;
  }

  /** Whether it serves within this time; false when it ended before, or takes longer. */
  async ready(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (this.#exit === null && performance.now() < deadline) {
      if ((await this.#get('readyz'))?.ok === true) return true;
      await sleep(15);
    }
    return false;
  }

  /** Each sample of /metrics, by its name and labels as they stand there; null when it doesn't answer. */
  async metrics(): Promise<ReadonlyMap<string, number> | null> {
    const answer = await this.#get('metrics');
    const text = answer === null ? null : await answer.text().catch(() => null);
    if (text === null) return null;
    const samples = new Map<string, number>();
    for (const line of text.split('\n')) {
      const end = line.lastIndexOf(' ');
      if (!line.startsWith('#') && end > 0)
        samples.set(line.slice(0, end), Number(line.slice(end)));
    }
    return samples;
  }

  async #get(page: string): Promise<Response | null> {
    try {
      const signal = AbortSignal.timeout(5000);
      return await fetch(`http://127.0.0.1:${this.#adminPort}/${page}`, { signal });
    } catch {
      return null;
    }
  }
}
