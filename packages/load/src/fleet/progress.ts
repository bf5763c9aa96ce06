/** One line a second about a running step: rewritten on a terminal, elsewhere now and then. */
import type { StepPlan } from '../plan/plan.ts';
import { formatBytes, formatCount, formatLatency } from '../result/amounts.ts';
import type { SecondCounts } from '../worker/messages.ts';

/** Off a terminal. */
const everySeconds = 10;

export class Progress {
  readonly #out: NodeJS.WriteStream | null;
  #isOpen = false;

  /** Null shows nothing. */
  constructor(out: NodeJS.WriteStream | null) {
    this.#out = out;
  }

  show(step: StepPlan, counts: SecondCounts): void {
    const { second, requests, errors, bytes, p50Us, p99Us } = counts;
    const isTerminal = this.#out?.isTTY ?? false;
    if (!isTerminal && second % everySeconds !== 0) return;
    const until = step.durationS === null ? '' : `/${step.durationS}`;
    const when = second < 0 ? 'warm-up' : `${second + 1}${until} s`;
    const line =
      `${step.name}  ${when}  ${formatCount(requests)} requests/s  ${formatBytes(bytes)}/s  ` +
      `first byte p50 ${formatLatency(p50Us)} p99 ${formatLatency(p99Us)}  ${formatCount(errors)} errors`;
    this.#out?.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    this.#isOpen = isTerminal;
  }

  /** The step is over: what follows begins on a line of its own. */
  end(): void {
    if (this.#isOpen) this.#out?.write('\n');
    this.#isOpen = false;
  }
}
