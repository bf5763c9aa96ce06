/**
 * Writes signed request heads: Signature Version 4 in headers, one signature for each request, by the native digests.
 *
 * What changes once a second (date, scope, the beginning of the string to sign) is kept for that second. Paths hold only
 * characters that need no encoding; queries are given in canonical form.
 */
import { createHmac } from 'node:crypto';
import { Digester } from '@s3-accelerator/native/digester.ts';
import type { Endpoint } from '../plan/plan.ts';

export const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

/** The longest head; keys, prefixes and tokens have limits of their own below it. */
export const maxHeadBytes = 16_384;

const stringAt = 40_000;
const digestAt = 50_000;

export interface HeadParts {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** Below the endpoint's own path, beginning with a slash. */
  readonly path: string;
  /** Canonical and without the question mark; '' for none. */
  readonly query: string;
  /** The value of a Range header; '' for none. */
  readonly range: string;
  /** Hex SHA-256, or one of S3's literals. */
  readonly payloadHash: string;
  /** -1 without a body. */
  readonly bodyBytes: number;
}

export class RequestWriter {
  readonly #endpoint: Endpoint;
  readonly #host: string;
  readonly #basePath: string;
  readonly #digester = new Digester();
  #second = -1;
  #day = '';
  #stringStart = 0;
  #date = '';
  #authorization = '';

  constructor(endpoint: Endpoint) {
    const { host, pathname } = new URL(endpoint.url);
    this.#endpoint = endpoint;
    this.#host = host;
    this.#basePath = pathname.replace(/\/+$/, '');
  }

  /** Writes a head to the beginning of `into`, which has `maxHeadBytes`; returns its length. `now` is in ms since 1970. */
  write(into: Buffer, parts: HeadParts, now: number): number {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) this.#beginSecond(second);
    const { method, query, range, payloadHash, bodyBytes } = parts;
    const { sessionToken } = this.#endpoint;
    const path = this.#basePath + parts.path;
    const ranges = range === '' ? '' : 'range;';
    const tokens = sessionToken === null ? '' : ';x-amz-security-token';
    const names = `host;${ranges}x-amz-content-sha256;x-amz-date${tokens}`;
    const token = sessionToken === null ? '' : `x-amz-security-token:${sessionToken}\n`;
    const rangeLine = range === '' ? '' : `range:${range}\n`;
    const signature = this.#sign(
      `${method}\n${path}\n${query}\nhost:${this.#host}\n${rangeLine}` +
        `x-amz-content-sha256:${payloadHash}\nx-amz-date:${this.#date}\n${token}\n${names}\n${payloadHash}`,
    );
    const target = query === '' ? path : `${path}?${query}`;
    const rest =
      (range === '' ? '' : `range: ${range}\r\n`) +
      (sessionToken === null ? '' : `x-amz-security-token: ${sessionToken}\r\n`) +
      (bodyBytes < 0 ? '' : `content-length: ${bodyBytes}\r\n`);
    return into.write(
      `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\n${rest}` +
        `x-amz-content-sha256: ${payloadHash}\r\nx-amz-date: ${this.#date}\r\n` +
        `authorization: ${this.#authorization}${names}, Signature=${signature}\r\n` +
        'user-agent: s3-accelerator-load\r\naccept-encoding: identity\r\n\r\n',
      0,
      'latin1',
    );
  }

  #beginSecond(second: number): void {
    const { region, accessKeyId } = this.#endpoint;
    this.#second = second;
    this.#date = new Date(second * 1000).toISOString().replace(/[-:]|\.\d{3}/g, '');
    const day = this.#date.slice(0, 8);
    if (day !== this.#day) this.#beginDay(day);
    const scope = `${day}/${region}/s3/aws4_request`;
    const begin = `AWS4-HMAC-SHA256\n${this.#date}\n${scope}\n`;
    this.#stringStart = this.#digester.scratch.write(begin, stringAt, 'latin1');
    this.#authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=`;
  }

  #beginDay(day: string): void {
    this.#day = day;
    let key = Buffer.from(`AWS4${this.#endpoint.secretAccessKey}`);
    for (const part of [day, this.#endpoint.region, 's3', 'aws4_request']) {
      key = createHmac('sha256', key).update(part).digest();
    }
    this.#digester.setKey(0, key);
  }

  #sign(canonical: string): string {
    const digester = this.#digester;
    const { scratch } = digester;
    digester.sha256(0, scratch.write(canonical, 0, stringAt, 'latin1'), digestAt);
    const hash = scratch.toString('hex', digestAt, digestAt + 32);
    const hashAt = stringAt + this.#stringStart;
    const end = hashAt + scratch.write(hash, hashAt, 'latin1');
    digester.hmac(0, stringAt, end, digestAt);
    return scratch.toString('hex', digestAt, digestAt + 32);
  }
}
