/**
 * The samples of one metric in Prometheus text, added up; `label` narrows it to those whose labels contain that text.
 * NaN when there is no such metric, so that a renamed one shows.
 */
export function metricIn(text: string, name: string, label = ''): number {
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(label));
  if (lines.length === 0) return Number.NaN;
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
