/**
 * Signing keys by credential scope, derived once and kept in the addon as HMAC states.
 *
 * A scope (`AKID/20261129/us-east-1/s3/aws4_request`) is looked up by its text on every request. Only scopes of known
 * clients are kept, at most `maxScopes`; the oldest gives way, so a client that invents days or regions costs time
 * deriving keys but no memory. Memory: about 0.5 KiB a scope.
 */
import type { Client, ClientSource } from './clients.ts';

/** The part of the addon's digester that checks signatures; see native.ts for what each call does. */
export interface SignatureDigester {
  readonly scratch: Uint8Array;
  setKey(slot: number, key: Uint8Array): void;
  verifySigV4(
    slot: number,
    canonicalStart: number,
    canonicalEnd: number,
    prefixStart: number,
    prefixEnd: number,
    signature: number,
  ): boolean;
}

/** A scope whose client is known. Immutable. */
export interface SigningScope {
  readonly client: Client;
  /** Where the digester keeps the key. */
  readonly slot: number;
  /** The key itself, for the chunks of streaming uploads. */
  readonly key: Uint8Array;
  /** `20261129/us-east-1/s3/aws4_request`. */
  readonly text: string;
  /** `\n20261129/us-east-1/s3/aws4_request\n`: what follows the date in a string to sign. */
  readonly suffix: Uint8Array;
  /** `20261129`, in bytes. */
  readonly day: Uint8Array;
}

/** Whose signature a request claims to have, and for when and where. */
export interface ClaimedScope {
  readonly accessKeyId: string;
  /** `20261129` */
  readonly day: string;
  readonly region: string;
}

export type ScopeResult =
  | { readonly ok: true; readonly scope: SigningScope }
  | { readonly ok: false; readonly reason: 'malformed' | 'region' }
  | { readonly ok: false; readonly reason: 'unknownKey'; readonly claimed: ClaimedScope };

const malformed: ScopeResult = { ok: false, reason: 'malformed' };
const wrongRegion: ScopeResult = { ok: false, reason: 'region' };

const scopePattern = /^(.+)\/(\d{8})\/([A-Za-z0-9_.-]{1,64})\/s3\/aws4_request$/;

export class SigningKeys {
  readonly #digester: SignatureDigester;
  readonly #region: string;
  readonly #maxScopes: number;
  #clients: ClientSource;
  readonly #scopes = new Map<string, ScopeResult & { ok: true }>();
  /** Slots that were used and are free again. */
  readonly #freed: number[] = [];

  /** `region` is the one clients must sign for; `auto` takes any. Clients may always sign for `auto`. */
  constructor(
    digester: SignatureDigester,
    clients: ClientSource,
    region: string,
    maxScopes: number,
  ) {
    this.#digester = digester;
    this.#clients = clients;
    this.#region = region;
    this.#maxScopes = maxScopes;
  }

  get region(): string {
    return this.#region;
  }

  /** Takes a new set of clients: what was derived for the old ones is forgotten at once. */
  replaceClients(clients: ClientSource): void {
    this.#clients = clients;
    this.#scopes.clear();
    this.#freed.length = 0;
  }

  /** Forgets what was derived for one scope: the next request in it asks the source of clients again. */
  forget({ accessKeyId, day, region }: ClaimedScope): void {
    const credential = `${accessKeyId}/${day}/${region}/s3/aws4_request`;
    const known = this.#scopes.get(credential);
    if (known === undefined) return;
    this.#scopes.delete(credential);
    this.#freed.push(known.scope.slot);
  }

  find(credential: string): ScopeResult {
    return this.#scopes.get(credential) ?? this.#derive(credential);
  }

  #derive(credential: string): ScopeResult {
    const match = scopePattern.exec(credential);
    if (match === null) return malformed;
    const [, accessKeyId = '', day = '', region = ''] = match;
    if (region !== this.#region && region !== 'auto' && this.#region !== 'auto') return wrongRegion;
    const client = this.#clients.find(accessKeyId, day, region);
    if (client === null) {
      return { ok: false, reason: 'unknownKey', claimed: { accessKeyId, day, region } };
    }
    const slot = this.#freeSlot();
    const key = client.signingKey(day, region);
    this.#digester.setKey(slot, key);
    const text = credential.slice(accessKeyId.length + 1);
    const scope: SigningScope = {
      client,
      slot,
      key,
      text,
      suffix: Uint8Array.from(Buffer.from(`\n${text}\n`, 'latin1')),
      day: Uint8Array.from(Buffer.from(day, 'latin1')),
    };
    const result = { ok: true, scope } as const;
    this.#scopes.set(credential, result);
    return result;
  }

  #freeSlot(): number {
    const freed = this.#freed.pop();
    if (freed !== undefined) return freed;
    if (this.#scopes.size < this.#maxScopes) return this.#scopes.size;
    const [oldest, { scope }] = this.#scopes.entries().next().value!;
    this.#scopes.delete(oldest);
    return scope.slot;
  }
}
