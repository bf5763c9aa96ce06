/**
 * What the service answers from: clients by key id, the document of all origins, and who may ask. Immutable; a reload makes a new
 * one.
 *
 * A client's secret is used here, for deriving the key of one day and region, and never leaves.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { signingKeyOf } from 's3-accelerator/auth/clients.ts';
import type { Settings } from './settings.ts';

type ClientTable = Settings['clients'][number];
type Key = Omit<ClientTable, 'grants' | 'keys'>;
type Origin = NonNullable<Settings['origin']> & { readonly bucket?: string | undefined };

export type Subject = 'clients' | 'origins';

const digestOf = (text: string): Buffer => createHash('sha256').update(text, 'latin1').digest();

export class Directory {
  readonly #tokens: readonly { readonly digest: Buffer; readonly answers: Subject | 'all' }[];
  readonly #keys = new Map<string, { readonly key: Key; readonly client: ClientTable }>();
  /** Everything about origins, as JSON. */
  readonly origins: string;

  constructor(settings: Settings) {
    this.#tokens = settings.tokens.map(({ token, answers }) => ({
      digest: digestOf(token.reveal()),
      answers,
    }));
    for (const client of settings.clients) {
      for (const key of [client, ...client.keys]) this.#keys.set(key.accessKeyId, { key, client });
    }
    this.origins = JSON.stringify({
      origin: settings.origin === undefined ? undefined : originDocument(settings.origin),
      origins: Object.fromEntries(
        [...settings.origins].map(([bucket, origin]) => [bucket, originDocument(origin)]),
      ),
    });
  }

  get clients(): number {
    return this.#keys.size;
  }

  /** What the bearer of a token may ask about; null for a token that isn't known. Takes the same time for all of them. */
  mayAsk(token: string): Subject | 'all' | null {
    const given = digestOf(token);
    let found: Subject | 'all' | null = null;
    for (const { digest, answers } of this.#tokens) {
      if (timingSafeEqual(given, digest)) found = answers;
    }
    return found;
  }

  /** What a gateway needs to check signatures of one day and region, as JSON; null for a key id that isn't known. */
  client(accessKeyId: string, day: string, region: string): string | null {
    const known = this.#keys.get(accessKeyId);
    if (known === undefined) return null;
    const { key, client } = known;
    return JSON.stringify({
      access_key_id: accessKeyId,
      signing_key: signingKeyOf(key.secretAccessKey.reveal(), day, region).toString('hex'),
      session_token_sha256:
        key.sessionToken === undefined
          ? undefined
          : digestOf(key.sessionToken.reveal()).toString('hex'),
      expires_at: key.expiresAt === undefined ? undefined : new Date(key.expiresAt).toISOString(),
      grants: client.grants,
    });
  }
}

function originDocument(origin: Origin): object {
  return {
    endpoint: origin.endpoint,
    region: origin.region,
    access_key_id: origin.accessKeyId,
    secret_access_key: origin.secretAccessKey?.reveal(),
    session_token: origin.sessionToken?.reveal(),
    addressing: origin.addressing,
    ca_file: origin.caFile,
    checksum_trailers: origin.checksumTrailers,
    bucket: origin.bucket,
  };
}
