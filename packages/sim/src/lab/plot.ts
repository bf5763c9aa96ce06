/** Results of the lab as an SVG picture: hit ratios above, bytes written below, a group of bars for each trace. */
import { byteHitRatio, writtenPerByte, type PolicyResult, type TraceResult } from './measure.ts';

const GROUP_WIDTH = 150;
const BAR_WIDTH = 28;
const PANEL_HEIGHT = 150;
const LEFT = 60;
const TOP = 56;
const PANEL_GAP = 64;
const COLOURS = ['#1f6feb', '#54aeff', '#8c959f', '#d0d7de'];

interface Panel {
  readonly title: string;
  readonly valueOf: (result: PolicyResult) => number;
  /** The value at the panel's top, and the steps of its grid. */
  readonly most: number;
  readonly step: number;
  readonly labelOf: (value: number) => string;
}

const PANELS: readonly Panel[] = [
  {
    title: 'byte hit ratio (more is better)',
    valueOf: ({ counts }) => byteHitRatio(counts),
    most: 1,
    step: 0.25,
    labelOf: (value) => `${Math.round(100 * value)}%`,
  },
  {
    title: 'bytes written a byte served (less is better)',
    valueOf: ({ counts }) => writtenPerByte(counts),
    most: 0.4,
    step: 0.1,
    labelOf: (value) => value.toFixed(2),
  },
];

/** A whole SVG document. All traces must have been measured with the same policies. */
export function renderPlot(results: readonly TraceResult[]): string {
  const width = LEFT + results.length * GROUP_WIDTH + 20;
  const height = TOP + PANELS.length * (PANEL_HEIGHT + PANEL_GAP);
  const policies = results[0]?.results.map(({ policy }) => policy) ?? [];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...policies.map(renderLegend),
    ...PANELS.flatMap((panel, i) =>
      renderPanel(panel, results, TOP + i * (PANEL_HEIGHT + PANEL_GAP)),
    ),
    '</svg>',
    '',
  ].join('\n');
}

function renderLegend(policy: string, i: number): string {
  const x = LEFT + i * 90;
  return `<rect x="${x}" y="10" width="12" height="12" fill="${COLOURS[i]!}"/><text x="${x + 18}" y="20">${policy}</text>`;
}

function renderPanel(panel: Panel, results: readonly TraceResult[], top: number): string[] {
  const bottom = top + PANEL_HEIGHT;
  const right = LEFT + results.length * GROUP_WIDTH;
  const lines = [`<text x="${LEFT}" y="${top - 12}" font-weight="bold">${panel.title}</text>`];
  for (let value = 0; value <= panel.most + panel.step / 2; value += panel.step) {
    const y = bottom - (value / panel.most) * PANEL_HEIGHT;
    lines.push(
      `<path d="M${LEFT} ${y.toFixed(1)}H${right}" stroke="#eaeef2"/>`,
      `<text x="${LEFT - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${panel.labelOf(value)}</text>`,
    );
  }
  for (const [group, result] of results.entries()) {
    const x = LEFT + group * GROUP_WIDTH;
    lines.push(...result.results.flatMap((each, i) => renderBar(panel, each, i, x, bottom)));
    lines.push(
      `<text x="${x + GROUP_WIDTH / 2}" y="${bottom + 18}" text-anchor="middle">${result.trace}</text>`,
    );
  }
  return lines;
}

function renderBar(
  panel: Panel,
  result: PolicyResult,
  i: number,
  groupX: number,
  bottom: number,
): string[] {
  const value = panel.valueOf(result);
  const height = (Math.min(value, panel.most) / panel.most) * PANEL_HEIGHT;
  const x = groupX + (GROUP_WIDTH - COLOURS.length * BAR_WIDTH) / 2 + i * BAR_WIDTH;
  const y = bottom - height;
  const label = `<text x="${x + BAR_WIDTH / 2}" y="${(y - 3).toFixed(1)}" text-anchor="middle" font-size="9">${panel.labelOf(value)}</text>`;
  const bar = `<rect x="${x + 1}" y="${y.toFixed(1)}" width="${BAR_WIDTH - 2}" height="${height.toFixed(1)}" fill="${COLOURS[i % COLOURS.length]!}"/>`;
  return [bar, label];
}
