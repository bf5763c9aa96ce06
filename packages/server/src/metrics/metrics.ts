/**
 * The metrics of one process: the figures of its first loop and of all further ones, as Prometheus text.
 *
 * prom-client writes the text and brings what it knows of any Node process. Counters live in `Counter`s and are copied
 * into it at a scrape; gauges are never pushed, they are read then. The same series of several loops are added up.
 */
import {
  Registry,
  Counter as PromCounter,
  Gauge as PromGauge,
  collectDefaultMetrics,
} from 'prom-client';
import { Figures, metricRows, type AllSamples, type Sample } from './figures.ts';
import type { MetricName, MetricRow } from './table.ts';
import { metricTable } from './table.ts';

export interface MetricDescription {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export class Metrics extends Figures {
  readonly #registry = new Registry();
  /** What further loops said when they were asked for the scrape that is under way. */
  #elsewhere: readonly AllSamples[] = [];
  #ask: () => Promise<readonly AllSamples[]> = () => Promise.resolve([]);

  constructor(version: string) {
    super();
    for (const [name, row] of metricRows) {
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

  /** Further loops are asked for their figures at each scrape. `ask` never fails. */
  addLoops(ask: () => Promise<readonly AllSamples[]>): void {
    this.#ask = ask;
  }

  /** Everything as Prometheus text. */
  async scrape(): Promise<string> {
    this.#elsewhere = await this.#ask();
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
    const samplesOf = (): Sample[] => this.#samplesOfAll(name);
    new PromCounter({
      name,
      help: row.help,
      labelNames: Object.keys(row.labels),
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of samplesOf()) this.inc(labels, value);
      },
    });
  }

  #publishGauge(name: MetricName, row: MetricRow): void {
    const samplesOf = (): Sample[] => this.#samplesOfAll(name);
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

  #samplesOfAll(name: MetricName): Sample[] {
    return [this.samples(name), ...this.#elsewhere.map((all) => all.get(name) ?? [])].flat();
  }
}
