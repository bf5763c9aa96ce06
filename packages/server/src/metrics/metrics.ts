/**
 * The metrics of one process: hands out counters, asks for levels when scraped, and publishes all as Prometheus text.
 *
 * prom-client writes the text and brings what it knows of any Node process. Counters live in `Counter`s and are copied
 * into it at a scrape; gauges are never pushed, they are read then.
 */
import {
  Registry,
  Counter as PromCounter,
  Gauge as PromGauge,
  collectDefaultMetrics,
} from 'prom-client';
import { Counter } from './counters.ts';
import type { CounterName, MetricName, MetricRow } from './table.ts';
import { metricTable } from './table.ts';

export type LabelsByName = Record<string, string>;

export interface Sample {
  readonly labels: LabelsByName;
  readonly value: number;
}

export interface MetricDescription {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter<CounterName>>();
  /** Where figures that live elsewhere are read. */
  readonly #sources = new Map<MetricName, (() => Iterable<Sample>)[]>();

  constructor(version: string) {
    for (const [name, row] of rows()) {
      if (row.kind === 'counter') this.#publishCounter(name, row);
      else this.#publishGauge(name, row);
    }
    const build = new PromGauge({
      name: 's3accel_build_info',
      help: 'Always 1; the label says which version runs.',
      labelNames: ['version'],
      registers: [this.#registry],
    });
    build.set({ version }, 1);
    collectDefaultMetrics({ register: this.#registry });
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

  /** Everything as Prometheus text. */
  scrape(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Every metric as the scrape would show it, also prom-client's own, in the order of the text. */
  async describe(): Promise<MetricDescription[]> {
    const metrics = await this.#registry.getMetricsAsJSON();
    // The declared type of `type` is an enum of numbers; what is there is the word.
    return metrics.map(({ name, help, type, values }) => {
      const row = (metricTable as Readonly<Record<string, MetricRow>>)[name];
      const seen = values.flatMap(({ labels }) => Object.keys(labels));
      const labels = row === undefined ? [...new Set(seen)] : Object.keys(row.labels);
      return { name, help, kind: String(type), labels: labels.filter((label) => label !== 'le') };
    });
  }

  #publishCounter(name: MetricName, row: MetricRow): void {
    const counter = new Counter(name as CounterName);
    this.#counters.set(name, counter);
    const samplesOf = (): Sample[] => this.#samples(name);
    new PromCounter({
      name,
      help: row.help,
      labelNames: Object.keys(row.labels),
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of counter) this.inc(labels, value);
        for (const { labels, value } of samplesOf()) this.inc(labels, value);
      },
    });
  }

  #publishGauge(name: MetricName, row: MetricRow): void {
    const samplesOf = (): Sample[] => this.#samples(name);
    new PromGauge({
      name,
      help: row.help,
      registers: [this.#registry],
      collect() {
        this.reset();
        const samples = samplesOf();
        // Nothing to say is something else than 0.
        if (samples.length === 0) this.remove();
        for (const { value } of samples) this.inc(value);
      },
    });
  }

  #samples(name: MetricName): Sample[] {
    return (this.#sources.get(name) ?? []).flatMap((source) => [...source()]);
  }
}

function rows(): [MetricName, MetricRow][] {
  return Object.entries(metricTable) as [MetricName, MetricRow][];
}
