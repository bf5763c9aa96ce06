/**
 * Runs one step: starts the workers, lets them go together, watches them, and adds up what they did.
 *
 * What ends a step early (a Ctrl-C, wrong bytes, an endpoint that stopped answering, a lost worker) leaves a result that says
 * why it is partial.
 */
import type { ServerAddress } from '../http/address.ts';
import type { Plan, StepPlan } from '../plan/plan.ts';
import { HostMeter } from '../result/host-meter.ts';
import type { StepResult } from '../result/result.ts';
import type { SecondCounts, WorkerShare } from '../worker/messages.ts';
import { EndpointError } from './check-endpoint.ts';
import { addUp } from './add-up.ts';
import type { Progress } from './progress.ts';
import type { WorkerListener } from './worker-process.ts';
import { WorkerLost, WorkerProcess } from './worker-process.ts';

/** From the message to go until the first request. */
const leadMs = 100;
/** With errors only, and not one answer, for so long, a step is given up. */
const giveUpSeconds = 10;

/** Throws EndpointError when not one connection could be opened. */
export async function runStep(
  plan: Plan,
  step: StepPlan,
  address: ServerAddress,
  progress: Progress,
  stop: AbortSignal,
): Promise<StepResult> {
  const dataset = plan.datasets.find(({ name }) => name === step.dataset)!;
  const watch = new Watch(step, progress);
  const workers = Array.from({ length: plan.processes }, (_, index) => {
    const part = { index, of: plan.processes };
    const { endpoint, seed } = plan;
    const job = { endpoint, address, dataset, step, part, seed };
    return new WorkerProcess(job, watch);
  });
  const stopAll = (why: string): void => {
    watch.stopped(why);
    for (const worker of workers) worker.stop();
  };
  watch.onTrouble = stopAll;
  const interrupt = (): void => stopAll('interrupted');
  try {
    const ready = await Promise.all(workers.map((worker) => worker.ready));
    if (ready.every(({ opened }) => opened === 0)) {
      const why = ready[0]?.failure ?? '';
      throw new EndpointError(`${plan.endpoint.url} can't be reached: ${why}`);
    }
    if (stop.aborted) interrupt();
    stop.addEventListener('abort', interrupt);
    const startAt = Date.now() + leadMs;
    for (const worker of workers) worker.go(startAt);
    const meter = new HostMeter(startAt + step.warmUpS * 1000);
    const shares = await sharesOf(workers, stopAll);
    const host = meter.end();
    progress.end();
    return addUp(plan, step, startAt, shares, host, watch.why);
  } finally {
    stop.removeEventListener('abort', interrupt);
    for (const worker of workers) worker.kill();
  }
}

/** What each worker did; those that were lost are left out, and end the step for the others. */
async function sharesOf(
  workers: readonly WorkerProcess[],
  stopAll: (why: string) => void,
): Promise<WorkerShare[]> {
  const shares = await Promise.all(
    workers.map(async (worker) => {
      try {
        return await worker.done;
      } catch (error) {
        if (!(error instanceof WorkerLost)) throw error;
        stopAll(error.message);
        return null;
      }
    }),
  );
  return shares.filter((share) => share !== null);
}

/** Adds up the workers' seconds as they come, shows them, and notices when going on makes no sense. */
class Watch implements WorkerListener {
  onTrouble: (why: string) => void = () => undefined;
  /** Why the step ended early, '' when it didn't. */
  why = '';
  readonly #step: StepPlan;
  readonly #progress: Progress;
  #second = Number.NEGATIVE_INFINITY;
  #requests = 0;
  #errors = 0;
  #bytes = 0;
  #p50Us = 0;
  #p99Us = 0;
  #barren = 0;

  constructor(step: StepPlan, progress: Progress) {
    this.#step = step;
    this.#progress = progress;
  }

  stopped(why: string): void {
    if (this.why === '') this.why = why;
  }

  saw(counts: SecondCounts): void {
    if (counts.second > this.#second) this.#turn(counts.second);
    this.#requests += counts.requests;
    this.#errors += counts.errors;
    this.#bytes += counts.bytes;
    this.#p50Us = Math.max(this.#p50Us, counts.p50Us);
    this.#p99Us = Math.max(this.#p99Us, counts.p99Us);
  }

  sawWrong(): void {
    this.onTrouble('an answer was wrong');
  }

  #turn(second: number): void {
    if (Number.isFinite(this.#second)) {
      this.#progress.show(this.#step, {
        second: this.#second,
        requests: this.#requests,
        errors: this.#errors,
        bytes: this.#bytes,
        p50Us: this.#p50Us,
        p99Us: this.#p99Us,
      });
      if (this.#requests > 0 || this.#bytes > 0) this.#barren = 0;
      else if (this.#errors > 0) this.#barren++;
      if (this.#barren >= giveUpSeconds) {
        this.onTrouble(`not one request succeeded in ${giveUpSeconds} s`);
      }
    }
    this.#second = second;
    this.#requests = 0;
    this.#errors = 0;
    this.#bytes = 0;
    this.#p50Us = 0;
    this.#p99Us = 0;
  }
}
