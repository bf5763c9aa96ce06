/**
 * A flame graph as SVG that stands alone: the root below, what it called above, as wide as the time that was spent in it. Each box
 * tells its name and share when the pointer rests on it. Drawn here, as what there is for it needs a browser.
 */
import type { FrameKind, Stacks } from './stacks.ts';

const width = 1200;
const rowHeight = 17;
const top = 58;
const bottom = 8;
/** Boxes that are narrower aren't drawn. */
const leastWidth = 0.4;
const letterWidth = 6.4;

const colours: Readonly<Record<FrameKind, string>> = {
  kernel: '#f0b37e',
  typescript: '#79b8ff',
  addon: '#85d89d',
  node: '#d1d5da',
};
const names: Readonly<Record<FrameKind, string>> = {
  kernel: 'kernel',
  typescript: 'TypeScript',
  addon: 'addon',
  node: 'Node and libraries',
};

interface Box {
  readonly name: string;
  readonly kind: FrameKind;
  weight: number;
  readonly callees: Map<string, Box>;
}

/** A whole SVG document. */
export function flameGraph(title: string, stacks: Stacks): string {
  const root: Box = { name: 'all', kind: 'node', weight: 0, callees: new Map() };
  let depth = 1;
  for (const { frames, weight } of stacks.all) {
    root.weight += weight;
    depth = Math.max(depth, frames.length + 1);
    let box = root;
    for (const { name, kind } of frames) box = calleeOf(box, name, kind, weight);
  }
  const height = top + depth * rowHeight + bottom;
  const boxes: string[] = [];
  draw(root, 0, height - bottom - rowHeight, width / Math.max(1, root.weight), root.weight, boxes);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="20" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    ...legend(stacks),
    ...boxes,
    '</svg>',
    '',
  ].join('\n');
}

function calleeOf(box: Box, name: string, kind: FrameKind, weight: number): Box {
  const key = `${kind} ${name}`;
  let callee = box.callees.get(key);
  if (callee === undefined) {
    callee = { name, kind, weight: 0, callees: new Map() };
    box.callees.set(key, callee);
  }
  callee.weight += weight;
  return callee;
}

function draw(box: Box, x: number, y: number, scale: number, total: number, into: string[]): void {
  const span = box.weight * scale;
  if (span < leastWidth) return;
  const share = `${((100 * box.weight) / Math.max(1, total)).toFixed(1)}%`;
  const letters = Math.floor((span - 6) / letterWidth);
  const shown = box.name.length <= letters ? box.name : `${box.name.slice(0, letters - 1)}…`;
  const label =
    letters < 3 ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(shown)}</text>`;
  into.push(
    `<g><title>${escaped(box.name)}: ${share}</title>` +
      `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(leastWidth, span - 0.5).toFixed(1)}" height="${rowHeight - 1}" fill="${colours[box.kind]}" rx="1"/>` +
      `${label}</g>`,
  );
  let at = x;
  // By name, so that two graphs of the same program look alike.
  for (const [, callee] of [...box.callees].sort(([a], [b]) => (a < b ? -1 : 1))) {
    draw(callee, at, y - rowHeight, scale, total, into);
    at += callee.weight * scale;
  }
}

function legend(stacks: Stacks): string[] {
  const shares = stacks.sharesByKind();
  return (Object.keys(colours) as FrameKind[]).flatMap((kind, index) => {
    const x = 8 + index * 190;
    const share = `${Math.round(100 * shares[kind])}%`;
    return [
      `<rect x="${x}" y="32" width="12" height="12" fill="${colours[kind]}"/>`,
      `<text x="${x + 18}" y="42">${names[kind]} ${share}</text>`,
    ];
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
