/**
 * The origins of a node as they are now: out of the configuration, with keys of their own or out of AWS's default chain.
 *
 * One chain serves all origins without keys. It is asked when the first such origin appears, and again on each reload.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BucketOriginConfig, Config, OriginConfig } from '../config/config.ts';
import type { FaultLog } from '../log.ts';
import { defaultChain } from '../origin/credentials-chain.ts';
import { RenewedCredentials } from '../origin/credentials.ts';
import { Origins, type OriginCredentials, type OriginSettings } from '../origin/origins.ts';

/** How long a starting node waits for the chain, which may have to wait for an instance's metadata service. */
const firstTryMs = 5000;

export class NodeOrigins {
  /** Replaced on a reload. */
  current: Origins;
  readonly #faults: FaultLog;
  #chain: RenewedCredentials | null = null;
  #chainHadAny = false;

  constructor(config: Config, faults: FaultLog) {
    this.#faults = faults;
    this.current = this.#originsOf(config);
  }

  /** Waits until there are credentials or it is clear that there are none for now. Never fails. */
  async prepare(): Promise<void> {
    if (this.#chain === null) return;
    await Promise.race([this.#chain.firstTried, sleep(firstTryMs, undefined, { ref: false })]);
  }

  /** null when S3 can be asked, or could be at some time since the start; else why not. */
  notReady(): string | null {
    if (this.#chain === null || this.#chainHadAny) return null;
    this.#chainHadAny = this.#chain.current() !== null;
    return this.#chainHadAny ? null : 'no credentials for the origin: none are configured or found';
  }

  reload(config: Config): void {
    const known = this.#chain;
    this.current = this.#originsOf(config);
    void known?.renew();
  }

  stop(): void {
    this.#chain?.stop();
  }

  #originsOf(config: Config): Origins {
    const limits = config.node?.originLimits ?? {};
    const byBucket = [...config.origins].map(([bucket, origin]): [string, OriginSettings] => [
      bucket,
      this.#settingsOf(origin, limits),
    ]);
    const fallback = config.origin === undefined ? null : this.#settingsOf(config.origin, limits);
    return new Origins(fallback, byBucket);
  }

  #settingsOf(
    origin: OriginConfig | BucketOriginConfig,
    limits: NonNullable<OriginSettings['limits']>,
  ): OriginSettings {
    return {
      endpoint: origin.endpoint,
      region: origin.region,
      checksumTrailers: origin.checksumTrailers,
      ...('bucket' in origin && origin.bucket !== undefined ? { bucket: origin.bucket } : {}),
      limits,
      credentials: keysOf(origin) ?? this.#fromChain(origin.region),
    };
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
