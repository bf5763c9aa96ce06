/**
 * Request heads signed ahead of the run, so that the client's own cost stays small and the server checks a real and
 * different signature for each. One signature serves the 15 minutes that S3's clock rule allows.
 */
import { createHash, createHmac } from 'node:crypto';

const emptyHash = createHash('sha256').digest('hex');
const region = 'us-east-1';

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Makes GET heads for one host, with the dozen headers that an AWS SDK sends. */
export class RequestSigner {
  readonly #scope: string;
  readonly #signingKey: Buffer;
  readonly #time: string;
  readonly #host: string;
  readonly #credential: string;

  constructor(host: string, credentials: Credentials, now: Date) {
    this.#host = host;
    this.#time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
    const day = this.#time.slice(0, 8);
    this.#scope = `${day}/${region}/s3/aws4_request`;
    this.#credential = `${credentials.accessKeyId}/${this.#scope}`;
    const dayKey = hmac(`AWS4${credentials.secretAccessKey}`, day);
    this.#signingKey = hmac(hmac(hmac(dayKey, region), 's3'), 'aws4_request');
  }

  /** The bytes of one GET. `range` is a Range header's value or '' for the whole object. */
  head(method: string, path: string, range: string): Buffer {
    const signed: [string, string][] = [
      ['amz-sdk-invocation-id', '6f1d0f1e-9a0a-4c58-9d0e-2f6bb2a8a001'],
      ['amz-sdk-request', 'attempt=1; max=3'],
      ['host', this.#host],
      ...(range === '' ? [] : [['range', range] satisfies [string, string]]),
      ['x-amz-content-sha256', emptyHash],
      ['x-amz-date', this.#time],
    ];
    const names = signed.map(([name]) => name).join(';');
    const headers = signed.map(([name, value]) => `${name}:${value}\n`).join('');
    const canonical = `${method}\n${path}\n\n${headers}\n${names}\n${emptyHash}`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const toSign = `AWS4-HMAC-SHA256\n${this.#time}\n${this.#scope}\n${digest}`;
    const signature = hmac(this.#signingKey, toSign).toString('hex');
    const authorization =
      `AWS4-HMAC-SHA256 Credential=${this.#credential}, ` +
      `SignedHeaders=${names}, Signature=${signature}`;
    return Buffer.from(
      `${method} ${path} HTTP/1.1\r\n` +
        signed.map(([name, value]) => `${name}: ${value}\r\n`).join('') +
        'user-agent: aws-sdk-js/3.1175.0 ua/2.1 os/linux lang/js md/nodejs\r\n' +
        'accept: */*\r\naccept-encoding: identity\r\nconnection: keep-alive\r\n' +
        `authorization: ${authorization}\r\n\r\n`,
      'latin1',
    );
  }
}
