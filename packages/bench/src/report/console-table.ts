/** What was measured as tables for a terminal. */
import CliTable from 'cli-table3';
import type { Comparison, FigureResult } from '../figure.ts';
import { amount } from './amounts.ts';

export function figureTable(figures: readonly FigureResult[]): string {
  const rows = new CliTable({
    head: ['', 'figure', 'value', 'spread', 'peer', 'ratio', 'target', ''],
    style: { head: [], border: [] },
    colWidths: [null, 34, null, null, null, null, 34, null],
    wordWrap: true,
  });
  for (const figure of figures) {
    rows.push([
      figure.id,
      figure.note === '' ? figure.title : `${figure.title} (${figure.note})`,
      `${amount(figure.value)} ${figure.unit}`.trim(),
      figure.spread[0] === figure.spread[1]
        ? '–'
        : `${amount(figure.spread[0])}–${amount(figure.spread[1])}`,
      figure.peer === null ? '–' : amount(figure.peer),
      figure.ratio === null ? '–' : figure.ratio.toFixed(2),
      figure.target,
      verdict(figure),
    ]);
  }
  return rows.toString();
}

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = new CliTable({
    head: ['what', 'system', 'CPU us/request', 'spread', 'requests/s', ''],
    style: { head: [], border: [] },
  });
  for (const { what, system, cpuUs, spread, requestsPerSecond, note } of comparisons) {
    rows.push([
      what,
      system,
      amount(cpuUs),
      `${amount(spread[0])}–${amount(spread[1])}`,
      Math.round(requestsPerSecond),
      note,
    ]);
  }
  return rows.toString();
}

/** A figure that nothing decides on is neither. */
export function verdict({ pass, used, target }: FigureResult): string {
  if (!pass) return 'short';
  return used === null && /report/.test(target) ? '' : 'pass';
}
