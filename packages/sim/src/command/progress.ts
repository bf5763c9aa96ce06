/** One line that tells how far many seeds have come: rewritten on a terminal, now and then a new one elsewhere. */
import type { Summary } from './summary.ts';

const TERMINAL_EVERY_MS = 200;
const ELSEWHERE_EVERY_MS = 10_000;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #count: number;
  readonly #startedMs = performance.now();
  #saidMs = -Infinity;

  /** Writes to `stream`; `count` seeds are to come. */
  constructor(stream: NodeJS.WriteStream, count: number) {
    this.#stream = stream;
    this.#count = count;
  }

  /** Says how it stands, unless it was said just now. */
  tell(summary: Summary): void {
    const now = performance.now();
    const every = this.#stream.isTTY ? TERMINAL_EVERY_MS : ELSEWHERE_EVERY_MS;
    if (now - this.#saidMs < every) return;
    this.#saidMs = now;
    const rate = (summary.seeds / (now - this.#startedMs)) * 1000;
    const left = (this.#count - summary.seeds) / rate;
    const line = `${summary.seeds} of ${this.#count} seeds, ${rate.toFixed(1)} a second, ${Math.ceil(left)} s to go, ${summary.failures} failed`;
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  }

  /** Clears the line. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }
}
