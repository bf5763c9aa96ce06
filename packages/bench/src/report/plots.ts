/**
 * The pictures of BENCHMARKS.md, drawn by vega-lite: what a request costs each system, how much of each target is used, and cost
 * over connections. Ours is blue everywhere, others grey; the fewer the better.
 */
import * as vega from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { amount } from './amounts.ts';
import type { BenchRecord } from './record.ts';

export interface Plot {
  /** Of its file, without the ending. */
  readonly name: string;
  readonly svg: string;
}

const ours = '#0969da';
const others = '#8c959f';
const good = '#1a7f37';
const bad = '#cf222e';
const ink = '#24292f';
/** Beyond this share of what a target allows, a bar is cut. */
const mostUsed = 2;

const config: NonNullable<TopLevelSpec['config']> = {
  background: '#ffffff',
  font: 'sans-serif',
  view: { stroke: null },
  axis: { labelColor: ink, titleColor: ink, gridColor: '#eaeef2', domain: false, ticks: false },
  title: { color: ink, anchor: 'start', subtitleColor: '#57606a' },
  header: { labelColor: ink, titleColor: ink },
};

/** Those plots that the record has figures for. */
export async function plotsOf(record: BenchRecord): Promise<Plot[]> {
  const specs: readonly (readonly [name: string, spec: TopLevelSpec | null])[] = [
    ['cpu-a-request', cpuByRequest(record)],
    ['targets', targetsUsed(record)],
  ];
  const drawn: Plot[] = [];
  for (const [name, spec] of specs) {
    if (spec !== null) drawn.push({ name, svg: await svgOf(spec) });
  }
  return drawn;
}

async function svgOf(spec: TopLevelSpec): Promise<string> {
  const view = new vega.View(vega.parse(compile(spec).spec), { renderer: 'none' });
  try {
    return `${await view.toSVG()}\n`;
  } finally {
    view.finalize();
  }
}

/** A panel of bars for each kind of request, the cheapest system first, each panel with its own scale. */
function cpuByRequest({ comparisons }: BenchRecord): TopLevelSpec | null {
  if (comparisons.length === 0) return null;
  const requests = [...new Set(comparisons.map(({ what }) => what))];
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    config,
    title: {
      text: 'CPU time of all server processes a request, cache hits (µs, less is better)',
      subtitle: 's3-accelerator checks a signature on each request, the others check none',
    },
    vconcat: requests.map((what) => ({
      title: { text: what, fontSize: 12 },
      width: 520,
      height: { step: 20 },
      data: {
        values: comparisons
          .filter((each) => each.what === what)
          .map(({ system, isOurs, cpuUs }) => ({ system, isOurs, cpuUs, label: amount(cpuUs) })),
      },
      encoding: {
        y: {
          field: 'system',
          type: 'nominal',
          sort: comparisons
            .filter((each) => each.what === what)
            .sort((a, b) => a.cpuUs - b.cpuUs)
            .map(({ system }) => system),
          title: null,
          axis: { labelLimit: 300, minExtent: 200 },
        },
        x: { field: 'cpuUs', type: 'quantitative', title: null, axis: { tickCount: 5 } },
      },
      layer: [
        {
          mark: { type: 'bar', cornerRadiusEnd: 2 },
          encoding: {
            color: {
              field: 'isOurs',
              type: 'nominal',
              legend: null,
              scale: { domain: [true, false], range: [ours, others] },
            },
          },
        },
        {
          mark: { type: 'text', align: 'left', dx: 5, color: ink },
          encoding: { text: { field: 'label' } },
        },
      ],
    })),
  };
}

/** How much of what each target allows is used: a bar that passes the line is short of its target. */
function targetsUsed({ figures }: BenchRecord): TopLevelSpec | null {
  const rows = figures.flatMap(({ id, title, used, pass }) =>
    used === null
      ? []
      : [
          {
            name: `${id}  ${title}`,
            used: Math.min(used, mostUsed),
            pass,
            label: `${Math.round(100 * used)}%`,
          },
        ],
  );
  if (rows.length === 0) return null;
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    config,
    title: {
      text: 'How much of what each target allows is used (up to 100% passes)',
      subtitle: `bars end at ${100 * mostUsed}%`,
    },
    width: 360,
    height: { step: 20 },
    data: { values: rows },
    layer: [
      {
        mark: { type: 'bar', cornerRadiusEnd: 2 },
        encoding: {
          y: {
            field: 'name',
            type: 'nominal',
            sort: null,
            title: null,
            axis: { labelLimit: 600 },
          },
          x: {
            field: 'used',
            type: 'quantitative',
            title: null,
            scale: { domain: [0, mostUsed] },
            axis: { format: '.0%', tickCount: 4 },
          },
          color: {
            field: 'pass',
            type: 'nominal',
            legend: null,
            scale: { domain: [true, false], range: [good, bad] },
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 5, color: ink },
        encoding: {
          y: { field: 'name', type: 'nominal', sort: null },
          x: { field: 'used', type: 'quantitative' },
          text: { field: 'label' },
        },
      },
      {
        mark: { type: 'rule', color: ink, strokeDash: [4, 3] },
        encoding: { x: { datum: 1 } },
      },
    ],
  };
}
