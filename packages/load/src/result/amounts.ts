/** Amounts as a report shows them. */

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatCount(count: number): string {
  return count < 10 && count % 1 !== 0 ? count.toFixed(2) : thousands.format(count);
}

/** 12.3 MiB. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]!}`;
}

/** Microseconds as 850 µs, 1.23 ms, 4.56 s. */
export function formatLatency(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`;
  const [amount, unit] = us < 1e6 ? [us / 1000, 'ms'] : [us / 1e6, 's'];
  return `${amount >= 100 ? Math.round(amount) : amount.toPrecision(3)} ${unit}`;
}

export function formatShare(share: number): string {
  return `${Math.round(share * 100)}%`;
}
