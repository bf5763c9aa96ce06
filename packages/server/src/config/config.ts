/**
 * The configuration of a process: the settings, completed with what follows from one another.
 *
 * Frozen, in bytes and milliseconds; secrets are `Secret`s. `readConfig` judges a text, `loadConfig` a file. Both
 * throw a `ConfigError` that lists every problem, and touch nothing but the file.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { BucketPolicy } from '@s3-accelerator/core/node/policy.ts';
import { TomlError, parse } from 'smol-toml';
import type { Address } from './address.ts';
import { checkSettings } from './check-settings.ts';
import { ConfigError, Problems } from './problems.ts';
import { readSettings } from './read-settings.ts';
import { mostLoops, type Settings } from './settings.ts';

export type OriginConfig = NonNullable<Settings['origin']>;
/** An origin, with the bucket's name there where that differs. */
export type BucketOriginConfig = OriginConfig & { readonly bucket: string | undefined };
export type MetadataConfig = NonNullable<Settings['metadata']>;
export type ClusterConfig = NonNullable<Settings['cluster']>;
export type ClientConfig = Settings['clients'][number];

/** `listen` and `address` are known, except in a lone process without `[cluster]`, whose node nobody else asks. */
export type NodeConfig = Omit<NonNullable<Settings['node']>, 'listen'> & {
  readonly listen: Address | undefined;
  /** Where others reach the node. */
  readonly address: Address | undefined;
  readonly weight: number;
};

export type GatewayConfig = Omit<NonNullable<Settings['gateway']>, 'region' | 'loops'> & {
  readonly region: string;
  readonly loops: number;
};

/** Each bucket's policy is whole: what its table left out came from the default policy. */
export type CacheConfig = Omit<Settings['cache'], 'defaultPolicy' | 'buckets'> & {
  readonly defaultPolicy: BucketPolicy;
  readonly buckets: ReadonlyMap<string, BucketPolicy>;
};

export interface Config {
  readonly origin: OriginConfig | undefined;
  readonly origins: ReadonlyMap<string, BucketOriginConfig>;
  readonly metadata: MetadataConfig | undefined;
  readonly cluster: ClusterConfig | undefined;
  readonly node: NodeConfig | undefined;
  readonly cache: CacheConfig;
  readonly clients: readonly ClientConfig[];
  readonly gateway: GatewayConfig | undefined;
  readonly admin: NonNullable<Settings['admin']> | undefined;
  readonly log: Settings['log'];
}

export interface LoadedConfig {
  readonly config: Config;
  /** Lines worth logging: nothing that keeps the process from starting. */
  readonly warnings: readonly string[];
}

/** Reads the configuration out of a file. Throws ConfigError, also when the file can't be read. */
export function loadConfig(file: string): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${(error as Error).message}`]);
  }
  return readConfig(text, file);
}

/** Reads the configuration out of TOML text; `file` only names it in messages. Throws ConfigError. */
export function readConfig(text: string, file: string): LoadedConfig {
  const problems = new Problems();
  const settings = readSettings(parseToml(text, file), problems);
  checkSettings(settings, problems);
  if (problems.problems.length > 0) throw new ConfigError(file, problems.problems);
  // Without problems nothing required is missing.
  return { config: complete(settings as Settings), warnings: problems.warnings };
}

/** The parser's own message quotes the line, which may hold a secret: only its first line is kept. */
function parseToml(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new ConfigError(file, [`line ${error.line}, column ${error.column}: ${what}`]);
  }
}

function complete(settings: Settings): Config {
  const { node, gateway, cluster, cache } = settings;
  const own = cluster?.nodes.find((member) => member.id === node?.id);
  return Object.freeze({
    ...settings,
    node:
      node &&
      Object.freeze({
        ...node,
        listen: node.listen ?? own?.address,
        address: own?.address ?? node.listen,
        weight: own?.weight ?? 1,
      }),
    gateway:
      gateway &&
      Object.freeze({
        ...gateway,
        region: gateway.region ?? settings.origin?.region ?? 'us-east-1',
        loops: gateway.loops ?? Math.min(availableParallelism(), mostLoops),
      }),
    cache: Object.freeze({
      ...cache,
      buckets: new Map(
        [...cache.buckets].map(([bucket, policy]) => [bucket, wholePolicy(policy, cache)]),
      ),
    }),
  });
}

function wholePolicy(
  policy: Partial<{ [K in keyof BucketPolicy]: BucketPolicy[K] | undefined }>,
  { defaultPolicy }: Settings['cache'],
): BucketPolicy {
  return Object.freeze({
    immutable: policy.immutable ?? defaultPolicy.immutable,
    ttlMs: policy.ttlMs ?? defaultPolicy.ttlMs,
    admitOnFirstRead: policy.admitOnFirstRead ?? defaultPolicy.admitOnFirstRead,
  });
}
