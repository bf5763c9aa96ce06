/**
 * A result as an SVG picture: a band for each step, with the rate by second, the latency to the first byte by second, and the
 * latency by percentile. Latencies have a logarithmic scale: what matters lies orders of magnitude apart.
 */
import { formatBytes, formatCount } from './amounts.ts';
import type { SecondCounts } from '../worker/messages.ts';
import { decode } from './latencies.ts';
import type { RunResult, StepResult } from './result.ts';

const panelWidth = 330;
const panelHeight = 150;
const left = 66;
const gap = 84;
const bandHeight = panelHeight + 92;
const top = 44;
const width = left + 3 * panelWidth + 2 * gap + 24;

const ink = '#24292f';
const faint = '#d0d7de';
const blue = '#0969da';
const orange = '#bc4c00';
const red = '#cf222e';
const colours = [blue, orange, '#1a7f37', '#8250df'];

/** A line through points, in the panel's own scales. */
interface Series {
  readonly name: string;
  readonly colour: string;
  readonly isDashed?: boolean;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Axis {
  /** 0 to 1 along the panel. */
  readonly place: (value: number) => number;
  readonly marks: readonly (readonly [value: number, label: string])[];
}

/** A whole SVG document. */
export function chartOf(result: RunResult): string {
  const height = top + result.steps.length * bandHeight;
  const state = result.isComplete ? '' : ` — partial: ${result.why}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" font-size="15" font-weight="bold">${escaped(`Load on ${result.endpoint}, ${result.startedAt.slice(0, 16)}${state}`)}</text>`,
    ...result.steps.flatMap((step, at) => band(step, top + at * bandHeight)),
    '</svg>',
    '',
  ].join('\n');
}

function band(result: StepResult, y: number): string[] {
  const total = `${formatCount(result.requestsPerSecond)} requests/s, ${formatBytes(result.bytesPerSecond)}/s`;
  const partial = result.isComplete ? '' : ', partial';
  const panelTop = y + 44;
  const x = (column: number): number => left + column * (panelWidth + gap);
  return [
    `<text x="16" y="${y + 14}"><tspan font-size="13" font-weight="bold">${escaped(result.step.name)}</tspan><tspan dx="12">${escaped(total + partial)}</tspan></text>`,
    ...ratePanel(wholeSeconds(result), x(0), panelTop),
    ...latencyPanel(wholeSeconds(result), x(1), panelTop),
    ...percentilePanel(result, x(2), panelTop),
  ];
}

/** Without the last answers, which came in a second that wasn't measured to its end. */
function wholeSeconds({ timeline, seconds }: StepResult): readonly SecondCounts[] {
  const whole = timeline.filter(({ second }) => second + 1 <= seconds);
  return whole.length === 0 ? timeline : whole;
}

function ratePanel(timeline: readonly SecondCounts[], x: number, y: number): string[] {
  const series: Series[] = [
    {
      name: 'requests/s',
      colour: blue,
      points: timeline.map(({ second, requests }) => [second, requests]),
    },
  ];
  if (timeline.some(({ errors }) => errors > 0)) {
    const points = timeline.map(({ second, errors }) => [second, errors] as const);
    series.push({ name: 'errors/s', colour: red, points });
  }
  const most = Math.max(1, ...series.flatMap(({ points }) => points.map(([, value]) => value)));
  return panel('by second', x, y, secondsAxis(timeline.length), linearAxis(most), series);
}

function latencyPanel(timeline: readonly SecondCounts[], x: number, y: number): string[] {
  const answered = timeline.filter(({ requests }) => requests > 0);
  const series: Series[] = [
    { name: 'first byte p50', colour: blue, points: answered.map((s) => [s.second, s.p50Us]) },
    { name: 'p99', colour: orange, points: answered.map((s) => [s.second, s.p99Us]) },
  ];
  const axis = logarithmicAxis(answered.flatMap(({ p50Us, p99Us }) => [p50Us, p99Us]));
  return panel('by second', x, y, secondsAxis(timeline.length), axis, series);
}

const percentiles = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99];

function percentilePanel({ operations }: StepResult, x: number, y: number): string[] {
  const series = operations.flatMap(({ operation, firstByte, lastByte }, at): Series[] => {
    const colour = colours[at]!;
    const name = operation.toUpperCase();
    return [
      { name, colour, points: pointsOf(firstByte.histogram) },
      { name, colour, isDashed: true, points: pointsOf(lastByte.histogram) },
    ];
  });
  const axis: Axis = {
    // A nine more is as far as the nine before: 90, 99, 99.9.
    place: (percentile) => Math.min(1, -Math.log10(1 - percentile / 100) / 4),
    marks: [0, 50, 90, 99, 99.9, 99.99].map((value) => [value, `p${value}`]),
  };
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  return panel('by percentile (dashed: last byte)', x, y, axis, logarithmicAxis(values), series);
}

function pointsOf(encoded: string): Series['points'] {
  const histogram = decode(encoded);
  // Past as many nines as there are samples for, the maximum would only be repeated.
  const known = percentiles.filter((each) => histogram.totalCount * (1 - each / 100) >= 1);
  return known.map((each) => [each, histogram.getValueAtPercentile(each)]);
}

function secondsAxis(count: number): Axis {
  const last = Math.max(1, count - 1);
  const step = Math.max(1, Math.ceil(last / 6));
  const marks = Array.from({ length: Math.floor(last / step) + 1 }, (_, at) => at * step);
  return { place: (second) => second / last, marks: marks.map((s) => [s, `${s} s`]) };
}

function linearAxis(most: number): Axis {
  const rough = most / 4;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((each) => each * magnitude >= rough)! * magnitude);
  const end = Math.ceil(most / step) * step;
  const marks = Array.from({ length: Math.round(end / step) + 1 }, (_, at) => at * step);
  return { place: (value) => value / end, marks: marks.map((mark) => [mark, formatCount(mark)]) };
}

/** Whole decades around the values. */
function logarithmicAxis(values: readonly number[]): Axis {
  const logs = values.map((value) => Math.log10(Math.max(1, value)));
  const first = logs.length === 0 ? 0 : Math.floor(Math.min(...logs));
  const last = Math.max(first + 1, ...logs.map(Math.ceil));
  const decades = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
  return {
    place: (value) => (Math.log10(Math.max(1, value)) - first) / (last - first),
    marks: decades.map((decade) => [decade, decadeLabel(decade)]),
  };
}

function decadeLabel(us: number): string {
  if (us < 1000) return `${us} µs`;
  return us < 1e6 ? `${us / 1000} ms` : `${us / 1e6} s`;
}

function panel(
  title: string,
  x: number,
  y: number,
  across: Axis,
  up: Axis,
  series: readonly Series[],
): string[] {
  const px = (value: number): string => (x + across.place(value) * panelWidth).toFixed(1);
  const py = (value: number): string => (y + (1 - up.place(value)) * panelHeight).toFixed(1);
  const bottom = y + panelHeight;
  const grid = up.marks.flatMap(([value, label]) => [
    `<path d="M${x} ${py(value)}h${panelWidth}" stroke="${faint}"/>`,
    `<text x="${x - 8}" y="${py(value)}" dy="4" text-anchor="end">${label}</text>`,
  ]);
  const marks = across.marks.map(
    ([value, label]) =>
      `<text x="${px(value)}" y="${bottom + 16}" text-anchor="middle">${label}</text>`,
  );
  return [
    ...legend(title, x, y - 10, series),
    ...grid,
    ...marks,
    ...series.map(({ points, colour, isDashed }) => {
      const path = points.map(([a, b], at) => `${at === 0 ? 'M' : 'L'}${px(a)} ${py(b)}`).join('');
      // A single second is no line yet: a dot of a dash's length.
      const line = points.length === 1 ? `${path}h6` : path;
      const dash = isDashed === true ? ' stroke-dasharray="5 3"' : '';
      return `<path d="${line}" fill="none" stroke="${colour}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"${dash}/>`;
    }),
  ];
}

/** The names in their lines' colours, and what they are drawn by. A dashed line has the name of its solid sister. */
function legend(title: string, x: number, y: number, series: readonly Series[]): string[] {
  const shown = series.filter(({ isDashed }) => isDashed !== true);
  const names = shown.map(
    ({ name, colour }) =>
      `<tspan dx="10" fill="${colour}" font-weight="bold">${escaped(name)}</tspan>`,
  );
  return [`<text x="${x - 10}" y="${y}">${names.join('')}<tspan dx="10">${title}</tspan></text>`];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
