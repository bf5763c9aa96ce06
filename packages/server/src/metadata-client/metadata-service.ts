/**
 * Asks the metadata service over HTTP, a bounded time and a bounded number of bytes for each question.
 *
 * The bearer token goes into one header and nowhere else. Failures throw an Error whose message is fit for a log.
 */
import { Pool } from 'undici';
import type { ClaimedScope } from '../auth/signing-keys.ts';
import { readCaFile } from '../config/ca-file.ts';
import type { Secret } from '../config/secret.ts';
import {
  BadAnswer,
  readClient,
  readOrigins,
  type ClientFacts,
  type ServedOrigins,
} from './answers.ts';

const timeoutMs = 2000;
const connections = 16;
const maxClientBytes = 1 << 20;
/** Some ten thousand buckets with origins of their own. */
const maxOriginsBytes = 8 << 20;

export interface ServiceAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Secret;
  /** Of certificates to trust, for `https`; those that Node trusts if absent. */
  readonly caFile: string | undefined;
}

export class MetadataService {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #token: Secret;

  /** Throws when the file of certificates can't be used. */
  constructor({ caFile, url, token }: ServiceAddress) {
    const { origin, pathname } = new URL(url);
    const ca = caFile === undefined ? {} : { ca: readCaFile(caFile) };
    this.#pool = new Pool(origin, { connections, connect: { timeout: timeoutMs, ...ca } });
    this.#path = pathname.replace(/\/+$/, '');
    this.#token = token;
  }

  /** What is known of a client in one scope; null when the service knows no such key. */
  async client(claimed: ClaimedScope): Promise<ClientFacts | null> {
    const { accessKeyId, day, region } = claimed;
    const query = new URLSearchParams({ date: day, region }).toString();
    const path = `/v1/clients/${encodeURIComponent(accessKeyId)}?${query}`;
    const { status, body } = await this.#get(path, maxClientBytes);
    if (status === 404) return null;
    if (status !== 200) throw new BadAnswer(`it answered with status ${status}`);
    return readClient(body, claimed);
  }

  async origins(): Promise<ServedOrigins> {
    const { status, body } = await this.#get('/v1/origins', maxOriginsBytes);
    if (status !== 200) throw new BadAnswer(`it answered with status ${status}`);
    return readOrigins(body);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #get(path: string, maxBytes: number): Promise<{ status: number; body: string }> {
    const { statusCode, body } = await this.#pool.request({
      path: this.#path + path,
      method: 'GET',
      headers: { authorization: `Bearer ${this.#token.reveal()}`, accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      length += part.length;
      // Leaving the loop destroys the connection.
      if (length > maxBytes) throw new BadAnswer(`its answer is longer than ${maxBytes} bytes`);
      parts.push(part);
    }
    return { status: statusCode, body: Buffer.concat(parts).toString('utf8') };
  }
}
