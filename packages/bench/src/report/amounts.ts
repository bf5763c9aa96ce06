/** A number with as many digits as say something. */
export function amount(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  // A share of a millionth is nothing that a reader should count zeros for.
  if (size < 0.001) return '< 0.001';
  return value.toPrecision(3);
}
