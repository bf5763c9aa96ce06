/**
 * The suite against an origin that it starts for itself, then once more through the accelerator in front of it.
 *
 * What an origin does in its own way shows on the direct route; what differs on the other one is the accelerator's doing, so both
 * are told case by case.
 */
import { runConformance, type CaseResult, type ConformanceReport } from './conformance.ts';
import type { Route } from './known-deviations.ts';
import { startAccelerator } from './origins/accelerator.ts';
import { startOrigin } from './origins/start-origin.ts';
import type { StartedOrigin } from './origins/started-origin.ts';

export interface BothRoutesOptions {
  readonly origin: string;
  readonly without: readonly string[];
  readonly only?: string;
  readonly onRoute: (route: Route, endpoint: string) => void;
  readonly onResult: (result: CaseResult) => void;
}

/** One case that went another way on each route. */
export interface Difference {
  readonly name: string;
  readonly direct: CaseResult;
  readonly through: CaseResult;
}

export interface BothRoutesReport {
  readonly direct: ConformanceReport;
  readonly through: ConformanceReport;
  readonly differences: readonly Difference[];
}

/** @throws when the origin or the accelerator doesn't start */
export async function runBothRoutes(options: BothRoutesOptions): Promise<BothRoutesReport> {
  const origin = await startOrigin(options.origin);
  try {
    const direct = await runOn('direct', origin, options);
    const accelerator = await startAccelerator(origin);
    try {
      const through = await runOn('through', accelerator, options);
      return { direct, through, differences: differencesOf(direct, through) };
    } finally {
      await accelerator.stop();
    }
  } finally {
    await origin.stop();
  }
}

function runOn(
  route: Route,
  { endpoint, region, credentials, name }: StartedOrigin,
  { only, onResult, onRoute, without }: BothRoutesOptions,
): Promise<ConformanceReport> {
  onRoute(route, endpoint);
  return runConformance({
    ...{ endpoint, region, credentials, origin: name, route, without, onResult },
    ...(only === undefined ? {} : { only }),
  });
}

function differencesOf(direct: ConformanceReport, through: ConformanceReport): Difference[] {
  const byName = new Map(through.results.map((result) => [result.name, result]));
  return direct.results.flatMap((result) => {
    const other = byName.get(result.name);
    return other === undefined || other.outcome === result.outcome
      ? []
      : [{ name: result.name, direct: result, through: other }];
  });
}
