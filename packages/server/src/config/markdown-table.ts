/** Markdown tables in the layout that Prettier leaves alone: columns padded to their widest cell. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) =>
    Math.max(3, ...all.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width)).join(' | ')} |\n`;
  const rule = widths.map((width) => '-'.repeat(width));
  return line(all[0]!) + line(rule) + all.slice(1).map(line).join('');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(width - text.length);
}
