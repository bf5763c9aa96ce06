// An S3 in memory, for tests, examples and benchmarks: one object to start, watch and trip up.
//
// It judges the accelerator, so it shares no code with it. It is strict where S3 is strict (signatures,
// digests, preconditions) and keeps everything in memory; `putSynthetic` and discarding buckets stand in
// for data that wouldn't fit.
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import type { Credential } from './auth/sigv4.ts';
import { bytesFromText } from './byte-string.ts';
import { Faults } from './faults.ts';
import type { FaultRates } from './faults.ts';
import { createListener } from './http/listener.ts';
import { checkBucketName } from './operations/bucket.ts';
import { keptHeaders } from './operations/object-headers.ts';
import { syntheticBytes } from './operations/put-object.ts';
import { contentFrom } from './store/content.ts';
import { Store } from './store/store.ts';
import type { StoredObject } from './store/store.ts';
import { Traffic } from './traffic.ts';

export interface MemoryS3Options extends Partial<FaultRates> {
  /** 0, the default, lets the kernel pick. */
  readonly port?: number;
  readonly host?: string;
  readonly region?: string;
  /** Whose signatures are accepted; `local-identity` with `local-credential` if absent. */
  readonly credentials?: readonly Credential[];
  /** Created at the start. */
  readonly buckets?: readonly string[];
  /** Host names below it name buckets; `localhost` if absent. */
  readonly domain?: string;
  /** Of the drawn faults. */
  readonly seed?: number;
  /** Milliseconds since 1970; Date.now if absent. */
  readonly clock?: () => number;
  /** Called once a request is answered. */
  readonly onRequest?: (line: string) => void;
}

export const defaultCredential: Credential = {
  accessKey: 'local-identity',
  secretKey: 'local-credential',
};

export class MemoryS3 {
  readonly faults: Faults;
  readonly traffic: Traffic;
  readonly region: string;
  readonly credentials: readonly Credential[];
  readonly endpoint: string;
  readonly port: number;
  readonly #server: Server;
  readonly #store: Store;
  readonly #clock: () => number;

  /** Use `startMemoryS3`. */
  constructor(
    server: Server,
    store: Store,
    faults: Faults,
    traffic: Traffic,
    settings: { region: string; credentials: readonly Credential[]; clock: () => number },
  ) {
    const address = server.address() as AddressInfo;
    this.#server = server;
    this.#store = store;
    this.#clock = settings.clock;
    this.faults = faults;
    this.traffic = traffic;
    this.region = settings.region;
    this.credentials = settings.credentials;
    this.port = address.port;
    this.endpoint = `http://${address.address}:${address.port}`;
  }

  /** Creates a bucket, or leaves an existing one alone. @throws S3Error InvalidBucketName */
  createBucket(name: string, options: { discard?: boolean } = {}): void {
    checkBucketName(name);
    if (!this.#store.has(name)) this.#store.create(name, this.#clock(), options.discard ?? false);
  }

  /**
   * Writes an object directly, behind the back of everything that watches requests.
   * @param headers as a PUT would send them.
   * @param answered further headers of every read: what S3 says of an object because of its bucket, such as a version.
   * @returns the ETag, without quotes.
   */
  put(
    bucket: string,
    key: string,
    bytes: Uint8Array | string,
    headers: Readonly<Record<string, string>> = {},
    answered: Readonly<Record<string, string>> = {},
  ): string {
    const body = typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes;
    const etag = createHash('md5').update(body).digest('hex');
    const record = this.#record(key, headers);
    this.#store.bucket(bucket).put({
      ...record,
      headers: [...record.headers, ...Object.entries(answered)],
      content: contentFrom(body),
      etag,
    });
    return etag;
  }

  /** Writes an object of `size` computed bytes, as SyntheticContent makes them. @returns the bare ETag */
  putSynthetic(bucket: string, key: string, size: number, seed = 0): string {
    const target = this.#store.bucket(bucket);
    const bytes = syntheticBytes(target, bytesFromText(key), size, seed);
    target.put({ ...this.#record(key, {}), ...bytes });
    return bytes.etag;
  }

  /** Removes an object directly; nothing happens if there is none. */
  delete(bucket: string, key: string): void {
    this.#store.bucket(bucket).delete(bytesFromText(key));
  }

  /** What is stored, for comparison; null if there is no such object. */
  get(bucket: string, key: string): { bytes: Buffer; etag: string } | null {
    const object = this.#store.bucket(bucket).get(bytesFromText(key));
    if (object === null) return null;
    const slices = [...object.content.slices(0, object.content.size)];
    return { bytes: Buffer.concat(slices), etag: object.etag };
  }

  /** Ends every connection and frees the port. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #record(
    key: string,
    headers: Readonly<Record<string, string>>,
  ): Omit<StoredObject, 'content' | 'etag'> {
    const lowered = Object.entries(headers).map(([name, value]) => {
      return [name.toLowerCase(), value] as const;
    });
    return {
      key: bytesFromText(key),
      lastModifiedMs: this.#clock(),
      headers: keptHeaders(new Map(lowered)),
      tags: [],
      checksum: null,
      parts: null,
      customerKeyMd5: null,
    };
  }
}

/** Starts one. @throws the socket's error if the port can't be had. */
export async function startMemoryS3(options: MemoryS3Options = {}): Promise<MemoryS3> {
  const credentials = options.credentials ?? [defaultCredential];
  const region = options.region ?? 'us-east-1';
  const clock = options.clock ?? Date.now;
  const byAccessKey = new Map(credentials.map((one) => [one.accessKey, one]));
  const store = new Store();
  const traffic = new Traffic();
  const faults = new Faults(
    {
      delayMs: options.delayMs ?? 0,
      bandwidthBytesPerSecond: options.bandwidthBytesPerSecond ?? Infinity,
      errorRate: options.errorRate ?? 0,
      shortBodyRate: options.shortBodyRate ?? 0,
    },
    options.seed ?? 1,
  );
  const server = createListener({
    store,
    traffic,
    faults,
    region,
    clock,
    domain: options.domain ?? 'localhost',
    credential: (accessKey) => byAccessKey.get(accessKey) ?? null,
    onRequest: options.onRequest ?? null,
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const memoryS3 = new MemoryS3(server, store, faults, traffic, { region, credentials, clock });
  for (const bucket of options.buckets ?? []) memoryS3.createBucket(bucket);
  return memoryS3;
}
