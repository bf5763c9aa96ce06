/** Sizes in bytes as people write them: `10737418240` or `"10GiB"`. */

const units: readonly (readonly [string, number])[] = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['KB', 1e3],
  ['B', 1],
];

/** Bytes of a number or of a text such as "1.5GiB", "64 MiB" or "512"; undefined when it is neither. */
export function parseSize(raw: unknown): number | undefined {
  if (typeof raw === 'number') return raw;
  if (typeof raw !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?i?B)?$/i.exec(raw.trim());
  if (match === null) return undefined;
  const name = (match[2] ?? 'B').toLowerCase();
  const unit = units.find(([known]) => known.toLowerCase() === name);
  return unit === undefined ? undefined : Number(match[1]) * unit[1];
}

/** The shortest exact way to write so many bytes in binary units: 10 GiB, 1536 KiB, 1000 bytes. */
export function formatSize(bytes: number): string {
  const unit = units.find(
    ([name, size]) => name.endsWith('iB') && bytes >= size && bytes % size === 0,
  );
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[1]} ${unit[0]}`;
}

/** The same for amounts that are nobody's choice, rounded down to one decimal: 457.3 GiB. */
export function roundSize(bytes: number): string {
  const unit = units.find(([name, size]) => name.endsWith('iB') && bytes >= size);
  if (unit === undefined) return `${bytes} bytes`;
  return `${Math.floor((bytes / unit[1]) * 10) / 10} ${unit[0]}`;
}
