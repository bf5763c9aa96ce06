/**
 * What a step costs. For benchmarks alone: what decides has no clock. CPU time, not time on the clock, so that others on the
 * machine don't count.
 */

/** CPU nanoseconds of a step, over `times` of them. */
export function nanoseconds(times: number, step: (i: number) => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) step(i);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / times;
}

/** Prints figures, a line each: times in nanoseconds, and the result hash as it is. */
export function printFigures(figures: object): void {
  for (const [name, figure] of Object.entries(figures) as [string, number][]) {
    console.log(`${name.padEnd(18)}${name === 'resultHash' ? figure : `${figure.toFixed(1)} ns`}`);
  }
}
