/** Calls a machine's `onTick` once its deadline has passed on its own clock: late, as timers are, and never early. */
import type { EventQueue } from './event-queue.ts';
import type { ProcessClock } from './process-clock.ts';

/** What a machine says of its deadlines. */
export interface Deadlines {
  nextDeadline(): number;
  onTick(now: number): void;
}

export class Ticker {
  readonly #queue: EventQueue;
  readonly #clock: ProcessClock;
  readonly #machine: Deadlines;
  readonly #latenessMs: () => number;
  /** The deadline that a timer is set for. */
  #armed = Infinity;
  /** Which timer counts: an earlier deadline makes those before it void. */
  #timer = 0;

  constructor(
    queue: EventQueue,
    clock: ProcessClock,
    machine: Deadlines,
    latenessMs: () => number,
  ) {
    this.#queue = queue;
    this.#clock = clock;
    this.#machine = machine;
    this.#latenessMs = latenessMs;
  }

  /** The machine has had an event: its deadline may have become earlier. */
  afterEvent(): void {
    const deadline = this.#machine.nextDeadline();
    if (deadline >= this.#armed) return;
    this.#armed = deadline;
    this.#timer += 1;
    const timer = this.#timer;
    const due = Math.max(this.#queue.now, this.#clock.trueTimeOf(deadline));
    this.#queue.lookAt(due + this.#latenessMs(), () => {
      if (timer === this.#timer) this.#fire();
    });
  }

  /** The process is over: no timer counts any more. */
  stop(): void {
    this.#timer += 1;
    this.#armed = -Infinity;
  }

  #fire(): void {
    this.#armed = Infinity;
    if (this.#machine.nextDeadline() <= this.#clock.now) this.#machine.onTick(this.#clock.now);
    this.afterEvent();
  }
}
