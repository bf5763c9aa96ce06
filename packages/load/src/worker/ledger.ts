/** What one worker counts: latencies by operation, errors by kind, and all of it by second. */
import type { Operation } from '../plan/plan.ts';
import type { Histogram } from '../result/latencies.ts';
import { encode, newHistogram, record } from '../result/latencies.ts';
import type { Exchange } from '../workload/exchange.ts';
import type { ErrorCount, OperationShare, SecondCounts } from './messages.ts';

/** Kinds of errors that are told apart. */
const maxKinds = 100;

interface OperationCounts {
  requests: number;
  bytes: number;
  readonly firstByte: Histogram;
  readonly lastByte: Histogram;
}

class Second {
  readonly second: number;
  requests = 0;
  errors = 0;
  bytes = 0;
  readonly firstByte = newHistogram(2);

  constructor(second: number) {
    this.second = second;
  }

  counts(): SecondCounts {
    const { second, requests, errors, bytes, firstByte } = this;
    const p50Us = firstByte.getValueAtPercentile(50);
    const p99Us = firstByte.getValueAtPercentile(99);
    return { second, requests, errors, bytes, p50Us, p99Us };
  }
}

export class Ledger {
  readonly #recordAt: number;
  readonly #onSecond: (second: SecondCounts) => void;
  readonly #operations = new Map<Operation, OperationCounts>();
  readonly #wait = newHistogram();
  readonly #errors = new Map<string, { count: number; readonly example: string }>();
  readonly #seconds: Second[] = [];
  #current: Second;
  #ended = 0;
  #lastAt: number;

  /** `recordAt`: when the measured part begins, in milliseconds of performance.now. */
  constructor(recordAt: number, now: number, onSecond: (second: SecondCounts) => void) {
    this.#recordAt = recordAt;
    this.#onSecond = onSecond;
    this.#lastAt = recordAt;
    this.#current = new Second(this.#secondAt(now));
  }

  answered(exchange: Exchange, now: number): void {
    this.turn(now);
    const { dueAt, sentAt, firstByteAt, operation } = exchange;
    this.#ended++;
    this.#current.requests++;
    record(this.#current.firstByte, firstByteAt - dueAt);
    if (dueAt < this.#recordAt) return;
    this.#lastAt = now;
    const counts = this.#operation(operation);
    counts.requests++;
    if (operation === 'get' || operation === 'put') counts.bytes += exchange.bytes;
    record(counts.firstByte, firstByteAt - dueAt);
    record(counts.lastByte, now - dueAt);
    record(this.#wait, sentAt - dueAt);
  }

  failed(kind: string, example: string, now: number): void {
    this.turn(now);
    this.#ended++;
    this.#current.errors++;
    this.countError(kind, example, 1);
  }

  /** Counts errors that belong to no second. */
  countError(kind: string, example: string, count: number): void {
    const known = this.#errors.get(kind);
    if (known !== undefined) known.count += count;
    else if (this.#errors.size < maxKinds) this.#errors.set(kind, { count, example });
    else this.countError('other', example, count);
  }

  bodyBytes(count: number, now: number): void {
    this.turn(now);
    this.#current.bytes += count;
  }

  /** Ends the second before this moment, if it hasn't been. */
  turn(now: number): void {
    const second = this.#secondAt(now);
    if (second === this.#current.second) return;
    this.#keep();
    this.#current = new Second(second);
  }

  get ended(): number {
    return this.#ended;
  }

  /** From the beginning of the measured part to its last answer. */
  get measuredMs(): number {
    return this.#lastAt - this.#recordAt;
  }

  close() {
    this.#keep();
    return {
      operations: [...this.#operations].map(
        ([operation, { requests, bytes, firstByte, lastByte }]): OperationShare => ({
          operation,
          requests,
          bytes,
          firstByte: encode(firstByte),
          lastByte: encode(lastByte),
        }),
      ),
      wait: encode(this.#wait),
      errors: [...this.#errors].map(([kind, error]): ErrorCount => ({ kind, ...error })),
      seconds: this.#seconds.map((second) => ({
        ...second.counts(),
        firstByte: encode(second.firstByte),
      })),
    };
  }

  #secondAt(now: number): number {
    return Math.floor((now - this.#recordAt) / 1000);
  }

  #keep(): void {
    if (this.#current.second >= 0) this.#seconds.push(this.#current);
    this.#onSecond(this.#current.counts());
  }

  #operation(operation: Operation): OperationCounts {
    const known = this.#operations.get(operation);
    if (known !== undefined) return known;
    const made = { requests: 0, bytes: 0, firstByte: newHistogram(), lastByte: newHistogram() };
    this.#operations.set(operation, made);
    return made;
  }
}
