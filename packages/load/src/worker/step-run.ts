/**
 * One worker's part of a step: its connections, its pace, its counts.
 *
 *   connect() ──▶ every connection opened or failed ──▶ start() ──▶ sending ──▶ nothing due ──▶ last answer ──▶ done
 *
 * Invariants
 *  - A request that was due is answered, failed, or counted as never sent.
 *  - A closed connection is opened again as long as requests are due; after a failure to connect at the next tick.
 */
import { contentHash } from '../dataset/content-hash.ts';
import { Dataset } from '../dataset/dataset.ts';
import type { ConnectionHost } from '../http/client-connection.ts';
import { ClientConnection, isWrong } from '../http/client-connection.ts';
import { RequestWriter, emptyHash, maxHeadBytes, unsignedPayload } from '../http/request-writer.ts';
import type { OpenWire } from '../http/wire.ts';
import type { StepPlan } from '../plan/plan.ts';
import type { Exchange } from '../workload/exchange.ts';
import { shareOf } from '../workload/order.ts';
import { Workload } from '../workload/workload.ts';
import { Ledger } from './ledger.ts';
import type { SecondCounts, StepJob, WorkerShare } from './messages.ts';
import { Pace } from './pace.ts';

const tickMs = 50;
/** A timer may be late by more than a millisecond: the rest before a request is due is waited for awake. */
const awakeMs = 2;

export class StepRun implements ConnectionHost {
  readonly openWire: OpenWire;
  readonly dataset: Dataset;
  readonly verify: StepPlan['verify'];
  readonly #job: StepJob;
  readonly #writer: RequestWriter;
  readonly #workload: Workload;
  readonly #head = Buffer.alloc(maxHeadBytes);
  readonly #connections: ClientConnection[];
  readonly #idle: ClientConnection[] = [];
  readonly #connected = Promise.withResolvers<{ opened: number; failure: string }>();
  readonly #done = Promise.withResolvers<undefined>();
  /** Connections that neither were opened nor have failed yet, the first time. */
  readonly #waiting: Set<ClientConnection>;
  #ticks: NodeJS.Timeout | null = null;
  #isStopped = false;
  #failure = '';
  #run: { readonly pace: Pace; readonly ledger: Ledger; readonly drainBy: number } | null = null;
  #isPumpDue = false;
  #wasWrong = false;
  readonly #onWrong: () => void;

  /** `onWrong` hears of the first answer that was wrong. */
  constructor(job: StepJob, openWire: OpenWire, onWrong: () => void) {
    const { step, part } = job;
    this.#job = job;
    this.openWire = openWire;
    this.#onWrong = onWrong;
    this.verify = step.verify;
    this.dataset = new Dataset(job.dataset);
    this.#writer = new RequestWriter(job.endpoint);
    this.#workload = new Workload(step, this.dataset, part, job.seed);
    const count = shareOf(step.connections, part);
    this.#connections = Array.from({ length: count }, () => new ClientConnection(this));
    this.#waiting = new Set(this.#connections);
  }

  /** Opens the connections. Resolves when each was opened or has failed. */
  connect(): Promise<{ opened: number; failure: string }> {
    for (const connection of this.#connections) connection.open();
    this.#ticks = setInterval(() => this.#tick(), tickMs);
    return this.#connected.promise;
  }

  /** Sends from `start` (of performance.now) on. Resolves when the last request ended. */
  async start(start: number, onSecond: (second: SecondCounts) => void): Promise<WorkerShare> {
    const { step, part } = this.#job;
    const recordAt = start + step.warmUpS * 1000;
    const endAt = step.durationS === null ? Infinity : recordAt + step.durationS * 1000;
    const requests = step.requests === null ? Infinity : shareOf(step.requests, part);
    const rate = step.rate === null ? 0 : shareOf(step.rate, part);
    const intervalMs = rate === 0 ? 0 : 1000 / rate;
    // The workers' requests of a fixed rate come in turn, not together.
    const phase = (intervalMs * part.index) / part.of;
    const options = { start: start + phase, recordAt, endAt, requests, intervalMs };
    const ledger = new Ledger(recordAt, start, onSecond);
    const cpuBefore = process.cpuUsage();
    // More than once: a timer may be early by a part of a millisecond.
    for (let wait = start - performance.now(); wait > 0; wait = start - performance.now()) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    this.#run = { pace: new Pace(options), ledger, drainBy: endAt + step.timeoutMs };
    if (this.#isStopped) this.#run.pace.stop();
    this.#pump();
    await this.#done.promise;
    if (this.#ticks !== null) clearInterval(this.#ticks);
    const cpu = process.cpuUsage(cpuBefore);
    return {
      ...ledger.close(),
      ended: ledger.ended,
      cpuUs: cpu.user + cpu.system,
      measuredMs: ledger.measuredMs,
    };
  }

  /** Sends nothing more; `start` resolves with what there is once the requests under way have ended. */
  stop(): void {
    this.#isStopped = true;
    this.#run?.pace.stop();
  }

  onIdle(connection: ClientConnection): void {
    this.#idle.push(connection);
    if (this.#run === null) this.#settled(connection);
    else this.#pump();
  }

  onBodyBytes(count: number): void {
    this.#run?.ledger.bodyBytes(count, performance.now());
  }

  onAnswered(exchange: Exchange): void {
    this.#run?.ledger.answered(exchange, performance.now());
  }

  onFailed(kind: string, detail: string, exchange: Exchange | null): void {
    this.#failure = kind;
    const example = exchange === null ? detail : `${describe(exchange)}: ${detail}`;
    this.#run?.ledger.failed(kind, example, performance.now());
    if (this.#wasWrong || !isWrong(kind)) return;
    this.#wasWrong = true;
    this.#onWrong();
  }

  onClosed(connection: ClientConnection, wasOpen: boolean): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#run === null) this.#settled(connection);
    else if (wasOpen && !this.#run.pace.isOver(performance.now())) connection.open();
  }

  #settled(connection: ClientConnection): void {
    this.#waiting.delete(connection);
    if (this.#waiting.size > 0) return;
    this.#connected.resolve({ opened: this.#idle.length, failure: this.#failure });
  }

  /** Sends what is due on the connections that are free. */
  #pump(): void {
    const run = this.#run;
    if (run === null) return;
    for (
      let connection = this.#idle.pop();
      connection !== undefined;
      connection = this.#idle.pop()
    ) {
      const dueAt = run.pace.take(performance.now());
      if (Number.isNaN(dueAt)) {
        this.#idle.push(connection);
        this.#pumpLater(run.pace);
        return;
      }
      this.#send(connection, dueAt);
    }
  }

  #pumpLater(pace: Pace): void {
    const now = performance.now();
    if (this.#isPumpDue || pace.isClosedLoop || pace.isOver(now)) return;
    this.#isPumpDue = true;
    const again = (): void => {
      this.#isPumpDue = false;
      this.#pump();
    };
    const wait = pace.nextAt - now - awakeMs;
    if (wait >= 1) setTimeout(again, wait);
    else setImmediate(again);
  }

  #send(connection: ClientConnection, dueAt: number): void {
    const { exchange } = connection;
    const { dataset } = this;
    this.#workload.draw(exchange);
    exchange.dueAt = dueAt;
    const { operation, key, first, bytes, size } = exchange;
    const isPut = operation === 'put';
    const isList = operation === 'list';
    const length = this.#writer.write(
      this.#head,
      {
        method: isPut ? 'PUT' : operation === 'head' ? 'HEAD' : 'GET',
        path: isList ? `/${dataset.bucket}` : `/${dataset.bucket}/${key}`,
        query: isList ? listingQuery(dataset.prefix, key) : '',
        range: bytes < size ? `bytes=${first}-${first + bytes - 1}` : '',
        payloadHash: isPut ? this.#payloadHash(exchange) : emptyHash,
        bodyBytes: isPut ? size : -1,
      },
      Date.now(),
    );
    connection.send(this.#head, length);
  }

  #payloadHash({ identity, size }: Exchange): string {
    return this.#job.step.signPayload ? contentHash(identity, size) : unsignedPayload;
  }

  #tick(): void {
    const now = performance.now();
    for (const connection of this.#connections) {
      connection.checkTimeout(now, this.#job.step.timeoutMs);
    }
    if (this.#run === null) return;
    const { pace, ledger, drainBy } = this.#run;
    ledger.turn(now);
    if (now > drainBy) this.#giveUpOverdue(now);
    const isOver = pace.isOver(now);
    for (const connection of this.#connections) {
      if (connection.isClosed && !isOver) connection.open();
    }
    this.#pump();
    const open = this.#connections.filter((one) => !one.isClosed).length;
    if (!isOver || this.#idle.length < open) return;
    for (const connection of this.#connections) connection.close();
    this.#done.resolve(undefined);
  }

  #giveUpOverdue(now: number): void {
    const { pace, ledger } = this.#run!;
    const overdue = pace.overdue(now);
    if (overdue > 0) {
      const why = 'no connection was free in time: more connections are needed, or a lower rate';
      ledger.countError('due and never sent', why, overdue);
    }
    pace.stop();
  }
}

/** In the canonical order. */
function listingQuery(prefix: string, key: string): string {
  const startAfter = encodeURIComponent(key);
  return `list-type=2&prefix=${encodeURIComponent(prefix)}&start-after=${startAfter}`;
}

function describe({ operation, key, first, bytes, size }: Exchange): string {
  const range = operation === 'get' && bytes < size ? ` bytes ${first}-${first + bytes - 1}` : '';
  return `${operation.toUpperCase()} ${key}${range}`;
}
