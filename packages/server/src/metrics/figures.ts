/**
 * Everything that one loop counts: hands out counters, and knows where figures are read that live elsewhere.
 *
 * Plain numbers, without a word on how they are published: metrics.ts does that, for all loops of the process together.
 */
import { Counter } from './counters.ts';
import type { CounterName, MetricName, MetricRow } from './table.ts';
import { metricTable } from './table.ts';

export type LabelsByName = Record<string, string>;

export interface Sample {
  readonly labels: LabelsByName;
  readonly value: number;
}

/** What a loop has to say of each metric; of some, nothing. */
export type AllSamples = ReadonlyMap<MetricName, readonly Sample[]>;

export const metricRows = Object.entries(metricTable) as readonly [MetricName, MetricRow][];

export class Figures {
  readonly #counters = new Map<MetricName, Counter<CounterName>>();
  /** Where figures that live elsewhere are read. */
  readonly #sources = new Map<MetricName, (() => Iterable<Sample>)[]>();

  constructor() {
    for (const [name, { kind }] of metricRows) {
      if (kind === 'counter') this.#counters.set(name, new Counter(name as CounterName));
    }
  }

  /** The counter of that name: always the same one. */
  counter<N extends CounterName>(name: N): Counter<N> {
    return this.#counters.get(name) as unknown as Counter<N>;
  }

  /** Where one figure is read from at a scrape. Several sources of a series are added up. */
  readFrom(name: MetricName, source: () => number, labels: LabelsByName = {}): void {
    this.readEach(name, () => [{ labels, value: source() }]);
  }

  /** The same for any number of series. */
  readEach(name: MetricName, source: () => Iterable<Sample>): void {
    const sources = this.#sources.get(name);
    if (sources === undefined) this.#sources.set(name, [source]);
    else sources.push(source);
  }

  /** What there is to say of one metric now. A series may come several times, to be added up. */
  samples(name: MetricName): Sample[] {
    const counted = this.#counters.get(name) ?? [];
    const read = (this.#sources.get(name) ?? []).flatMap((source) => [...source()]);
    return [...counted, ...read];
  }

  /** The same of all metrics. */
  allSamples(): AllSamples {
    return new Map(metricRows.map(([name]) => [name, this.samples(name)]));
  }
}
