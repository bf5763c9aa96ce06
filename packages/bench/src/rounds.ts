/** Rounds of several systems in turn, so that whatever else the machine does meets all of them alike. */
import { median } from './load/percentiles.ts';
import type { Comparison, FigureResult } from './figure.ts';
import type { Measured } from './measure.ts';
import type { Progress } from './progress.ts';

export interface Contender {
  readonly name: string;
  /** One round. */
  run(): Promise<Measured>;
}

/** Measures each contender once a round, in turn; the result has a list of rounds for each. */
export async function alternate(
  what: {
    readonly title: string;
    readonly rounds: number;
    readonly progress: Pick<Progress, 'say'>;
  },
  contenders: readonly Contender[],
): Promise<Measured[][]> {
  const { title, rounds, progress } = what;
  // Code is compiled and queues find their sizes in a round that doesn't count.
  progress.say(`${title}: warm-up`);
  for (const contender of contenders) await contender.run();
  const measured: Measured[][] = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    progress.say(`${title}: round ${round + 1} of ${rounds}`);
    for (const [index, contender] of contenders.entries()) {
      measured[index]?.push(await contender.run());
    }
  }
  return measured;
}

export const cpuOf = (rounds: readonly Measured[]): number[] => rounds.map(({ cpuUs }) => cpuUs);

/** A figure in CPU microseconds a request: the median of the rounds, with the ratio to the peer's median. */
export function cpuFigure(
  head: Pick<FigureResult, 'id' | 'title' | 'target' | 'peerName'>,
  ours: readonly Measured[],
  peer: readonly Measured[] | null,
  limits: { readonly absolute: number; readonly ratio: number } | null,
): FigureResult {
  const cpu = cpuOf(ours);
  const value = median(cpu);
  const peerValue = peer === null ? null : median(cpuOf(peer));
  const ratio = peerValue === null ? null : value / peerValue;
  const used =
    limits === null ? null : Math.max(value / limits.absolute, (ratio ?? 0) / limits.ratio);
  const rate = Math.round(median(ours.map((round) => round.requestsPerSecond)));
  const p99 = median(ours.map((round) => round.firstByteMs.p99));
  return {
    ...head,
    value,
    unit: 'us/request',
    peer: peerValue,
    ratio,
    spread: [Math.min(...cpu), Math.max(...cpu)],
    used,
    pass: used === null || used <= 1,
    note: `${rate} requests/s, first byte p99 ${p99.toFixed(2)} ms`,
  };
}

/** The same rounds as one bar among other systems'. */
export function comparisonOf(
  head: Pick<Comparison, 'system' | 'isOurs' | 'what' | 'note'>,
  rounds: readonly Measured[],
): Comparison {
  const cpu = cpuOf(rounds);
  return {
    ...head,
    cpuUs: median(cpu),
    spread: [Math.min(...cpu), Math.max(...cpu)],
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
  };
}
