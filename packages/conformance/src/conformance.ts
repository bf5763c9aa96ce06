// Runs the cases one after the other against an endpoint and reports how each ended.
//
// The suite is a client like any other: it knows S3's rules and nothing of what answers. `origin` names a
// server whose known deviations are then reported as such instead of as failures.
import { randomBytes } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import type { Case } from './case.ts';
import { allGroups } from './cases/all-cases.ts';
import { knownDeviations } from './known-deviations.ts';
import type { Route } from './known-deviations.ts';
import type { Credentials } from './signed-request.ts';
import { Target } from './target.ts';

export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'known';
  readonly ms: number;
  /** What went wrong; for a known deviation, why. Empty for a pass. */
  readonly detail: string;
}

export interface ConformanceOptions {
  readonly endpoint: string;
  readonly credentials: Credentials;
  readonly region: string;
  /** An existing bucket to work in; a fresh one is created and deleted if absent. */
  readonly bucket?: string;
  /** Host names below it name buckets; null leaves those cases out. `localhost` if absent. */
  readonly domain?: string | null;
  /** Groups of cases to leave out, by name: parts of S3 that the server is known to lack. */
  readonly without?: readonly string[];
  /** Only cases whose name contains this. */
  readonly only?: string;
  /** A server whose known deviations are expected. */
  readonly origin?: string;
  /** How it is reached, since a cache before it mends some of its deviations. `direct` if absent. */
  readonly route?: Route;
  /** Called after each case. */
  readonly onResult?: (result: CaseResult) => void;
}

export interface ConformanceReport {
  readonly results: readonly CaseResult[];
  readonly passed: number;
  readonly failed: number;
  /** Deviations that were expected of the named origin. */
  readonly known: number;
  /** Names of groups that did not run. */
  readonly leftOut: readonly string[];
}

/** @throws if `without` names a group that doesn't exist */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { endpoint, region, credentials } = options;
  const domain = options.domain === undefined ? 'localhost' : options.domain;
  const leftOut = namesLeftOut(options.without ?? [], domain);
  const bucket = options.bucket ?? `conformance-${randomBytes(6).toString('hex')}`;
  const target = new Target({ endpoint, region, credentials }, bucket, domain);
  if (options.bucket === undefined) {
    await target.client.send(new CreateBucketCommand({ Bucket: bucket }));
  }
  const deviations = knownDeviations(options.origin ?? '', options.route ?? 'direct');
  const results: CaseResult[] = [];
  try {
    const groups = allGroups.filter(({ name }) => !leftOut.includes(name));
    for (const one of groups.flatMap(({ cases }) => cases)) {
      if (!one.name.includes(options.only ?? '')) continue;
      const result = await runCase(one, target, deviations);
      results.push(result);
      options.onResult?.(result);
    }
  } finally {
    await emptyBucket(target);
    if (options.bucket === undefined) {
      await target.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    }
    target.client.destroy();
  }
  const count = (outcome: CaseResult['outcome']): number => {
    return results.filter((result) => result.outcome === outcome).length;
  };
  return {
    results,
    passed: count('passed'),
    failed: count('failed'),
    known: count('known'),
    leftOut,
  };
}

function namesLeftOut(without: readonly string[], domain: string | null): readonly string[] {
  const names = allGroups.map(({ name }) => name);
  const unknown = without.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`no group is called ${unknown}: ${names.join(', ')}`);
  }
  const needsDomain = domain === null ? ['virtual hosts'] : [];
  return names.filter((name) => without.includes(name) || needsDomain.includes(name));
}

async function runCase(
  one: Case,
  target: Target,
  deviations: ReadonlyMap<string, string>,
): Promise<CaseResult> {
  const started = performance.now();
  const result = (outcome: CaseResult['outcome'], detail: string): CaseResult => {
    return { name: one.name, outcome, ms: performance.now() - started, detail };
  };
  const deviation = deviations.get(one.name);
  try {
    await one.run(target);
  } catch (error) {
    if (deviation !== undefined) return result('known', deviation);
    return result(
      'failed',
      error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    );
  }
  // A deviation that is gone has to leave the list, or it would hide the next one.
  return deviation === undefined
    ? result('passed', '')
    : result('failed', 'listed as a known deviation, but it passes');
}

// One by one and with escaped names: a key may hold what XML can't.
async function emptyBucket(target: Target): Promise<void> {
  const Bucket = target.bucket;
  for (;;) {
    const page = await target.client.send(
      new ListObjectsV2Command({ Bucket, EncodingType: 'url', MaxKeys: 50 }),
    );
    const keys = (page.Contents ?? []).map((object) => {
      return decodeURIComponent((object.Key ?? '').replaceAll('+', ' '));
    });
    if (keys.length === 0) return;
    await Promise.all(
      keys.map((Key) => target.client.send(new DeleteObjectCommand({ Bucket, Key }))),
    );
  }
}
