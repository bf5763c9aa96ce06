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

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest();
}

export class Client {
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
    this.#tokenDigest = settings.sessionToken === undefined ? null : digest(settings.sessionToken);
  }

  /** SigV4's signing key for a day (`YYYYMMDD`) and region. */
  signingKey(day: string, region: string): Uint8Array {
    const dayKey = hmac(`AWS4${this.#secretAccessKey}`, day);
    return hmac(hmac(hmac(dayKey, region), 's3'), 'aws4_request');
  }

  /** Whether the token of a request, null when it has none, is the one this credential needs. In constant time. */
  acceptsToken(token: string | null): boolean {
    if (this.#tokenDigest === null || token === null) {
      return this.#tokenDigest === null && token === null;
    }
    return timingSafeEqual(digest(token), this.#tokenDigest);
  }
}

export class ClientTable {
  readonly #clients: ReadonlyMap<string, Client>;

  constructor(settings: readonly ClientSettings[]) {
    this.#clients = new Map(settings.map((each) => [each.accessKeyId, new Client(each)]));
  }

  find(accessKeyId: string): Client | null {
    return this.#clients.get(accessKeyId) ?? null;
  }
}
