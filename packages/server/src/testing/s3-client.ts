/** An S3 client for tests: signed requests, each on a connection of its own unless one is given. */
import { RawConnection, requestBytes, type Answer, type AnswerOptions } from './raw-connection.ts';
import { pathOf, presign, sha256, signHeaders, type HeaderLine, type Identity } from './sign.ts';

export interface Call {
  readonly method: string;
  /** Path and query exactly as they go onto the wire. */
  readonly target: string;
  readonly headers?: readonly HeaderLine[];
  readonly body?: Uint8Array | string;
  /** x-amz-content-sha256; the body's own hash if absent. */
  readonly payload?: string;
  readonly identity?: Identity;
  readonly region?: string;
  readonly date?: Date;
  /** Headers that are sent but not signed, in lower case. */
  readonly unsigned?: readonly string[];
}

export class S3Client {
  readonly port: number;
  readonly identity: Identity;
  readonly host: string;

  constructor(port: number, identity: Identity, host = '127.0.0.1') {
    this.port = port;
    this.identity = identity;
    this.host = host;
  }

  /** The same server, seen by somebody else. */
  as(identity: Identity): S3Client {
    return new S3Client(this.port, identity, this.host);
  }

  /** A signed request as it goes onto the wire. */
  bytesOf(call: Call): Buffer {
    const body = typeof call.body === 'string' ? Buffer.from(call.body) : call.body;
    const headers: HeaderLine[] = [...(call.headers ?? [])];
    if (body !== undefined && !headers.some(([name]) => name === 'content-length')) {
      headers.push(['content-length', String(body.length)]);
    }
    const signing = {
      method: call.method,
      target: call.target,
      identity: call.identity ?? this.identity,
      host: `${this.host}:${this.port}`,
      ...(call.region === undefined ? {} : { region: call.region }),
      ...(call.date === undefined ? {} : { date: call.date }),
    };
    const payload = call.payload ?? sha256(body ?? '');
    const signed = signHeaders(signing, payload, headers, [
      'content-length',
      ...(call.unsigned ?? []),
    ]);
    return requestBytes(call.method, call.target, signed, body);
  }

  async call(call: Call, options: AnswerOptions = {}): Promise<Answer> {
    return this.raw(this.bytesOf(call), { method: call.method, ...options });
  }

  /** Sends bytes and reads one answer. */
  async raw(bytes: Uint8Array, options: AnswerOptions = {}): Promise<Answer> {
    const connection = await RawConnection.open(this.port, this.host);
    try {
      connection.write(bytes);
      return await connection.answer(options);
    } finally {
      connection.close();
    }
  }

  /** A connection on which nothing was sent. */
  connect(): Promise<RawConnection> {
    return RawConnection.open(this.port, this.host);
  }

  /** A connection on which a call was sent and nothing was read. */
  async begin(call: Call): Promise<RawConnection> {
    const connection = await this.connect();
    connection.write(this.bytesOf(call));
    return connection;
  }

  get(bucket: string, key: string, range?: string): Promise<Answer> {
    return this.call(getOf(bucket, key, range));
  }

  head(bucket: string, key: string): Promise<Answer> {
    return this.call({ method: 'HEAD', target: pathOf(bucket, key) });
  }

  put(bucket: string, key: string, body: Uint8Array | string): Promise<Answer> {
    return this.call({ method: 'PUT', target: pathOf(bucket, key), body });
  }

  delete(bucket: string, key: string): Promise<Answer> {
    return this.call({ method: 'DELETE', target: pathOf(bucket, key) });
  }

  /** A presigned target, signed over `host` alone. */
  presigned(method: string, target: string, settings: Presigning = {}): string {
    const { expiresSeconds = 300, extra = '', date, identity = this.identity } = settings;
    const host = `${this.host}:${this.port}`;
    const signing = { method, target, identity, host, ...(date === undefined ? {} : { date }) };
    return presign(signing, expiresSeconds, extra);
  }

  /** A request without a signature of its own: for presigned targets. */
  unsigned(
    method: string,
    target: string,
    headers: readonly HeaderLine[] = [],
    body?: Uint8Array,
  ): Promise<Answer> {
    const all: HeaderLine[] = [['host', `${this.host}:${this.port}`], ...headers];
    if (body !== undefined) all.push(['content-length', String(body.length)]);
    return this.raw(requestBytes(method, target, all, body), { method });
  }
}

export interface Presigning {
  readonly expiresSeconds?: number;
  readonly date?: Date;
  readonly identity?: Identity;
  /** Further parameters, encoded. */
  readonly extra?: string;
}

export function getOf(bucket: string, key: string, range?: string): Call {
  const headers: HeaderLine[] = range === undefined ? [] : [['range', range]];
  return { method: 'GET', target: pathOf(bucket, key), headers };
}
