/**
 * Who may send requests: access keys, what proves them, and what they are granted.
 *
 * A secret lives in a private field only. It takes part in deriving signing keys and in comparisons, and can't get into
 * a log, an error or a serialised form. The table is immutable: a reload makes a new one.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { GrantSet, type Grant } from './grants.ts';

export interface ClientSettings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token that requests must carry when the credential is a temporary one. */
  readonly sessionToken?: string | undefined;
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAtMs?: number | undefined;
  readonly grants: readonly Grant[];
}

function hmac(key: Uint8Array | string, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

/** A credential that requests are signed with, and what it may do. */
export interface Client {
  readonly accessKeyId: string;
  readonly grants: GrantSet;
  /** In milliseconds since 1970; Infinity when it has no end. */
  readonly expiresAtMs: number;
  /** SigV4's signing key for a day (`YYYYMMDD`) and region. */
  signingKey(day: string, region: string): Uint8Array;
  /** Whether the token of a request, null when it has none, is the one this credential needs. In constant time. */
  acceptsToken(token: string | null): boolean;
}

/** Who knows clients. What it says of one may change: see SigningKeys.forget. */
export interface ClientSource {
  /** The client with this key, for requests signed in this scope; null when there is none, or none that is known yet. */
  find(accessKeyId: string, day: string, region: string): Client | null;
}

/** What a session token is kept as, and compared by. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token, 'latin1').digest();
}

/** `expected` is null when there must be no token. */
export function tokenMatches(token: string | null, expected: Uint8Array | null): boolean {
  if (expected === null || token === null) return expected === null && token === null;
  return timingSafeEqual(tokenDigest(token), expected);
}

/** SigV4's signing key of a secret, for a day (`YYYYMMDD`) and region. */
export function signingKeyOf(secretAccessKey: string, day: string, region: string): Buffer {
  const dayKey = hmac(`AWS4${secretAccessKey}`, day);
  return hmac(hmac(hmac(dayKey, region), 's3'), 'aws4_request');
}

/** A client whose secret this process knows. */
export class LocalClient implements Client {
  readonly accessKeyId: string;
  readonly grants: GrantSet;
  readonly expiresAtMs: number;
  readonly #secretAccessKey: string;
  readonly #tokenDigest: Buffer | null;

  constructor(settings: ClientSettings) {
    this.accessKeyId = settings.accessKeyId;
    this.grants = new GrantSet(settings.grants);
    this.expiresAtMs = settings.expiresAtMs ?? Infinity;
    this.#secretAccessKey = settings.secretAccessKey;
    const { sessionToken } = settings;
    this.#tokenDigest = sessionToken === undefined ? null : tokenDigest(sessionToken);
  }

  signingKey(day: string, region: string): Uint8Array {
    return signingKeyOf(this.#secretAccessKey, day, region);
  }

  acceptsToken(token: string | null): boolean {
    return tokenMatches(token, this.#tokenDigest);
  }
}

/** All clients of a configuration. */
export class ClientTable implements ClientSource {
  readonly #clients: ReadonlyMap<string, Client>;

  constructor(settings: readonly ClientSettings[]) {
    this.#clients = new Map(settings.map((each) => [each.accessKeyId, new LocalClient(each)]));
  }

  find(accessKeyId: string): Client | null {
    return this.#clients.get(accessKeyId) ?? null;
  }
}
