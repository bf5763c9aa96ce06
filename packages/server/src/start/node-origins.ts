/**
 * The origins of a node as they are now: out of the configuration and, behind them, out of a metadata service, with keys of their
 * own or out of AWS's default chain.
 *
 * One chain serves all origins without keys. It is asked when the first such origin appears, and again on each reload.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readCaFile } from '../config/ca-file.ts';
import type { BucketOriginConfig, Config, MetadataConfig, OriginConfig } from '../config/config.ts';
import type { FaultLog } from '../log.ts';
import type { ServedOrigins } from '../metadata-client/answers.ts';
import { MetadataService } from '../metadata-client/metadata-service.ts';
import { OriginFollower } from '../metadata-client/origin-follower.ts';
import { defaultChain } from '../origin/credentials-chain.ts';
import { RenewedCredentials } from '../origin/credentials.ts';
import { Origins, type OriginCredentials, type OriginSettings } from '../origin/origins.ts';

/** How long a starting node waits for the chain (which may wait for an instance) and for the metadata service. */
const firstTryMs = 5000;

export class NodeOrigins {
  /** Set by the composition: they were replaced. */
  onReplaced: () => void = () => undefined;
  #current: Origins;
  #changes = 0;
  readonly #faults: FaultLog;
  #config: Config;
  #served: ServedOrigins | null = null;
  readonly #service: MetadataService | null;
  readonly #follower: OriginFollower | null;
  #chain: RenewedCredentials | null = null;
  #chainHadAny = false;
  /** By file: the certificates that were last read from it. */
  readonly #caFiles = new Map<string, string>();

  constructor(config: Config, faults: FaultLog) {
    this.#faults = faults;
    this.#config = config;
    this.#current = this.#originsOf();
    const { metadata } = config;
    this.#service = metadata === undefined ? null : new MetadataService(metadata);
    this.#follower =
      metadata === undefined || this.#service === null
        ? null
        : this.#follow(this.#service, metadata);
  }

  /** Replaced on a reload, and when the metadata service tells others. */
  get current(): Origins {
    return this.#current;
  }

  /** How often they were replaced. */
  get changes(): number {
    return this.#changes;
  }

  /** What the bucket's blocks are kept under now. */
  identity(bucket: string): string {
    return this.#current.identity(bucket);
  }

  /** Waits until there are credentials or it is clear that there are none for now. Rejects only once `signal` is aborted. */
  async prepare(signal: AbortSignal): Promise<void> {
    const tried = (async (): Promise<void> => {
      await this.#follower?.firstTried;
      await this.#chain?.firstTried;
    })();
    await Promise.race([tried, sleep(firstTryMs, undefined, { ref: false, signal })]);
  }

  /** null when S3 can be asked, or could be at some time since the start; else why not. */
  notReady(): string | null {
    if (this.#follower?.has === false) return 'the metadata service tells no origins';
    if (this.#chain === null || this.#chainHadAny) return null;
    this.#chainHadAny = this.#chain.current() !== null;
    return this.#chainHadAny ? null : 'no credentials for the origin: none are configured or found';
  }

  reload(config: Config): void {
    const known = this.#chain;
    this.#config = config;
    this.#replace();
    void known?.renew();
  }

  async stop(): Promise<void> {
    this.#chain?.stop();
    this.#follower?.stop();
    await this.#service?.close();
  }

  #follow(service: MetadataService, { refreshS, keepS }: MetadataConfig): OriginFollower {
    return new OriginFollower({
      ask: () => service.origins(),
      onChange: (served) => {
        this.#served = served;
        this.#replace();
      },
      onFailed: ({ message }) => {
        this.#faults.warn('metadata-origins', 'the metadata service gave no answer about origins', {
          reason: message,
        });
      },
      refreshMs: refreshS * 1000,
      keepMs: keepS * 1000,
    });
  }

  #replace(): void {
    this.#current = this.#originsOf();
    this.#changes += 1;
    this.onReplaced();
  }

  #originsOf(): Origins {
    const config = this.#config;
    const served = this.#served;
    const limits = config.node?.originLimits ?? {};
    const tables = [...(served?.origins ?? []), ...config.origins];
    const byBucket = tables.flatMap(([bucket, origin]): [string, OriginSettings][] => {
      const settings = this.#settingsOf(origin, limits);
      return settings === null ? [] : [[bucket, settings]];
    });
    const chosen = config.origin ?? served?.origin;
    const fallback = chosen === undefined ? null : this.#settingsOf(chosen, limits);
    const isTold = config.metadata === undefined || served !== null;
    const isUsable =
      byBucket.length === tables.length && (fallback === null) === (chosen === undefined);
    return new Origins(fallback, byBucket, isTold && isUsable);
  }

  #settingsOf(
    origin: OriginConfig | BucketOriginConfig,
    limits: NonNullable<OriginSettings['limits']>,
  ): OriginSettings | null {
    const { caFile } = origin;
    const ca = caFile === undefined ? undefined : this.#caOf(caFile);
    if (ca === null) return null;
    return {
      endpoint: origin.endpoint,
      region: origin.region,
      addressing: origin.addressing,
      checksumTrailers: origin.checksumTrailers,
      ...(ca === undefined ? {} : { ca }),
      ...('bucket' in origin && origin.bucket !== undefined ? { bucket: origin.bucket } : {}),
      limits,
      credentials: keysOf(origin) ?? this.#fromChain(origin.region),
    };
  }

  /** What the file has now, or had when it could last be read; null for neither: without it nobody may be trusted. */
  #caOf(file: string): string | null {
    try {
      const ca = readCaFile(file);
      this.#caFiles.set(file, ca);
      return ca;
    } catch (error) {
      this.#faults.error('origin-ca', 'the certificates of an origin can not be read', {
        reason: (error as Error).message,
      });
      return this.#caFiles.get(file) ?? null;
    }
  }

  #fromChain(region: string): () => OriginCredentials | null {
    const chain = (this.#chain ??= new RenewedCredentials(defaultChain(region), {
      onFailed: ({ message }, areValid) => {
        if (areValid) {
          this.#faults.warn('origin-credentials', 'credentials could not be renewed yet', {
            reason: message,
          });
          return;
        }
        this.#faults.error(
          'origin-credentials',
          'there are no credentials for origins: S3 can not be asked. Give the origin access_key_id and secret_access_key, or this process a source of AWS credentials',
          { reason: message },
        );
      },
    }));
    return () => chain.current();
  }
}

/** The keys that an origin's table holds; null when it leaves them to the chain. */
function keysOf(origin: OriginConfig): OriginCredentials | null {
  const { accessKeyId, secretAccessKey, sessionToken } = origin;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return {
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  };
}
