/** What came of many seeds: which failed, and how often each situation arose. */
import CliTable from 'cli-table3';
import { situationNames, type Situation } from '../situations.ts';
import type { SeedRange } from './many-seeds.ts';
import { renderFailure } from './render-failure.ts';
import type { SeedResult } from './seed-run.ts';

/** In so many seeds every situation arises; one that doesn't can't arise any more, and proves nothing. */
const SEEDS_FOR_ALL_SITUATIONS = 2_000;
/** Failures that are told in full; of more, the seeds are enough. */
const MAX_TOLD = 5;

interface Arisen {
  times: number;
  seeds: number;
}

export class Summary {
  readonly #range: SeedRange;
  readonly #failed: SeedResult[] = [];
  readonly #arisen = new Map<Situation, Arisen>();
  #seeds = 0;
  #requests = 0;
  #simulatedMs = 0;

  constructor(range: SeedRange) {
    this.#range = range;
    for (const situation of situationNames) this.#arisen.set(situation, { times: 0, seeds: 0 });
  }

  get seeds(): number {
    return this.#seeds;
  }

  get failures(): number {
    return this.#failed.length;
  }

  add(result: SeedResult): void {
    const { failure, requests, simulatedMs, situations } = result.outcome;
    this.#seeds += 1;
    this.#requests += requests;
    this.#simulatedMs += simulatedMs;
    if (failure !== null) this.#failed.push(result);
    for (const [situation, times] of situations) {
      const arisen = this.#arisen.get(situation);
      if (arisen === undefined || times === 0) continue;
      arisen.times += times;
      arisen.seeds += 1;
    }
  }

  /** Situations that should have arisen in so many seeds and never did. */
  get missing(): readonly Situation[] {
    if (this.#seeds < SEEDS_FOR_ALL_SITUATIONS) return [];
    return situationNames.filter((situation) => this.#arisen.get(situation)!.times === 0);
  }

  get isGood(): boolean {
    return this.failures === 0 && this.missing.length === 0;
  }

  /** The whole report; its last lines are the verdict and the failing seeds. */
  render(): string {
    const { first } = this.#range;
    const failed = this.#failed.sort((a, b) => a.seed - b.seed);
    const hours = (this.#simulatedMs / 3_600_000).toFixed(1);
    const parts = [
      this.#table(),
      `${this.#requests} requests in ${hours} simulated hours`,
      ...failed.slice(0, MAX_TOLD).map(({ seed, outcome }) => renderFailure(seed, outcome)),
      ...this.missing.map((situation) => `in ${this.#seeds} seeds this never arose: ${situation}`),
      `${this.#seeds} seeds from ${first}: ${failed.length} failed`,
    ];
    if (failed.length > 0) parts.push(`failing seeds: ${failed.map(({ seed }) => seed).join(' ')}`);
    return `${parts.join('\n')}\n`;
  }

  #table(): string {
    const table = new CliTable({
      head: ['situation', 'times', 'seeds'],
      colAligns: ['left', 'right', 'right'],
      style: { head: [], border: [], compact: true },
    });
    for (const [situation, { times, seeds }] of this.#arisen) table.push([situation, times, seeds]);
    return table.toString();
  }
}
