/**
 * Which origin a bucket lives at: one default, and overrides by bucket.
 *
 * An origin's identity is its endpoint and the bucket's real name there. Blocks are kept under it, so pointing a bucket at
 * another origin never serves the old one's bytes. Credentials and region aren't part of it: changing them keeps the cache.
 */
import { defaultOriginLimits } from './origin-limits.ts';
import type { OriginLimits } from './origin-limits.ts';

export type Addressing = 'path' | 'virtual';

export interface OriginCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only with temporary credentials. */
  readonly sessionToken?: string;
}

/** Asked for every request, so it must be quick. */
export type CredentialsOfTheMoment = () => OriginCredentials | null;

/** What the configuration says about one origin. */
export interface OriginSettings {
  /** `http://host:port` or `https://host`, a path below it at most. */
  readonly endpoint: string;
  /** The region that requests are signed for; `auto` where the provider says so. */
  readonly region: string;
  /** Keys that don't change, or whoever knows the ones of the moment: null when there are none. */
  readonly credentials: OriginCredentials | CredentialsOfTheMoment;
  /** The bucket's name at this origin when it isn't the clients' name for it. */
  readonly bucket?: string;
  /** Whether buckets are named in the path or in front of the host; `path` unless said otherwise. */
  readonly addressing?: Addressing;
  /** Certificates of the authorities to trust, as PEM; the system's if absent. */
  readonly ca?: string;
  /** Whether it takes trailing checksums (`STREAMING-UNSIGNED-PAYLOAD-TRAILER`); true unless said otherwise. */
  readonly checksumTrailers?: boolean;
  /** What differs from the default limits. */
  readonly limits?: Partial<OriginLimits>;
}

/** One bucket's origin, ready for use. Immutable. */
export interface Origin {
  /** Scheme and authority, without a path: what connections are pooled by. */
  readonly base: string;
  /** Host and port, as a Host header has them. */
  readonly host: string;
  /** Path below which buckets live, '' for none; never ends in a slash. */
  readonly basePath: string;
  readonly region: string;
  readonly credentials: CredentialsOfTheMoment;
  /** The real bucket, or '' to use the clients' name. */
  readonly bucket: string;
  readonly addressing: Addressing;
  /** PEM; null for the system's. */
  readonly ca: string | null;
  readonly checksumTrailers: boolean;
  readonly limits: OriginLimits;
}

/** Reads an endpoint. Throws a TypeError with a message fit for an operator. */
export function resolveOrigin(settings: OriginSettings): Origin {
  const url = parseEndpoint(settings.endpoint);
  const { credentials } = settings;
  return {
    base: url.origin,
    host: url.host,
    basePath: url.pathname.replace(/\/+$/, ''),
    region: settings.region,
    credentials:
      typeof credentials === 'function' ? credentials : (): OriginCredentials => credentials,
    bucket: settings.bucket ?? '',
    addressing: settings.addressing ?? 'path',
    ca: settings.ca ?? null,
    checksumTrailers: settings.checksumTrailers ?? true,
    limits: { ...defaultOriginLimits, ...settings.limits },
  };
}

function parseEndpoint(endpoint: string): URL {
  const url = URL.parse(endpoint);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(`endpoint must be an http:// or https:// URL: ${endpoint}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('endpoint must have neither credentials, query nor fragment');
  }
  return url;
}

export class Origins {
  /** False while somebody who knows more origins hasn't told them yet: a bucket without one may still have one. */
  readonly isWhole: boolean;
  readonly #default: Origin | null;
  readonly #byBucket = new Map<string, Origin>();

  /** `byBucket` holds the overrides by the clients' bucket names. */
  constructor(
    fallback: OriginSettings | null,
    byBucket: Iterable<[string, OriginSettings]> = [],
    isWhole = true,
  ) {
    this.isWhole = isWhole;
    this.#default = fallback === null ? null : resolveOrigin(fallback);
    for (const [bucket, settings] of byBucket) this.#byBucket.set(bucket, resolveOrigin(settings));
  }

  /** The bucket's origin; '' asks for the default's (ListBuckets). Null when nothing is configured for it. */
  of(bucket: string): Origin | null {
    return this.#byBucket.get(bucket) ?? this.#default;
  }

  /** The identities of all buckets as one text: that of a bucket named '' stands for those without an origin of their own. */
  allIdentities(): string {
    const buckets = ['', ...[...this.#byBucket.keys()].sort()];
    const named = buckets.map((bucket) => [bucket, this.identity(bucket)]);
    return JSON.stringify(named);
  }

  /** What the bucket's blocks are kept under: endpoint and real bucket. '' for a bucket without an origin. */
  identity(bucket: string): string {
    const origin = this.of(bucket);
    if (origin === null) return '';
    return `${origin.base}${origin.basePath}/${realBucket(origin, bucket)}`;
  }
}

/** The bucket's name at the origin. */
export function realBucket(origin: Origin, bucket: string): string {
  return origin.bucket === '' ? bucket : origin.bucket;
}
