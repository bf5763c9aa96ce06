/** How long a step takes. For benchmarks alone: what decides has no clock. */

/** Nanoseconds of a step, over `times` of them. */
export function nanoseconds(times: number, step: (i: number) => void): number {
  const start = performance.now();
  for (let i = 0; i < times; i++) step(i);
  return ((performance.now() - start) * 1e6) / times;
}

/** Prints figures, a line each: times in nanoseconds, and the result hash as it is. */
export function printFigures(figures: object): void {
  for (const [name, figure] of Object.entries(figures) as [string, number][]) {
    console.log(`${name.padEnd(18)}${name === 'resultHash' ? figure : `${figure.toFixed(1)} ns`}`);
  }
}
