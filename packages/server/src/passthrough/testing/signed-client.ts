/**
 * A client for tests, down to the bytes: it signs any target and any form of body, can tamper with what it signed, and shows the
 * answer as it came.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { OriginSigner } from '../../origin/origin-signer.ts';

export const clientCredentials = { accessKeyId: 'client', secretAccessKey: 'client-secret' };
export const clientRegion = 'us-east-1';

export interface RawAnswer {
  readonly status: number;
  /** Lines as they came, without the status line. */
  readonly headerLines: readonly string[];
  readonly body: Buffer;
  /** The connection ended before the promised body did. */
  readonly isCut: boolean;
  header(name: string): string;
}

export interface RawCall {
  readonly method: string;
  readonly target: string;
  /** Further headers, signed where they are x-amz-…; name, value, … */
  readonly headers?: readonly string[];
  /** x-amz-content-sha256; the body's own hash unless given. */
  readonly payload?: string;
  readonly body?: Uint8Array;
}

const hex = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** A request as bytes: its head, and what the chunks of a streaming body are signed with. */
export function signedHead(call: RawCall, length: number): { head: Buffer; chunks: ChunkSigner } {
  const payload = call.payload ?? hex(call.body ?? '');
  const headers = ['host', 'cache.example', ...(call.headers ?? [])];
  const now = Date.now();
  new OriginSigner().sign(
    call.method,
    call.target,
    headers,
    payload,
    clientCredentials,
    clientRegion,
    now,
  );
  headers.push('content-length', String(length));
  let text = `${call.method} ${call.target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]!}: ${headers[i + 1]!}\r\n`;
  const date = headers[headers.indexOf('x-amz-date') + 1]!;
  const authorization = headers[headers.indexOf('authorization') + 1]!;
  const chunks = new ChunkSigner(date, authorization.slice(-64));
  return { head: Buffer.from(`${text}\r\n`, 'latin1'), chunks };
}

/** Signs the chunks of STREAMING-AWS4-HMAC-SHA256-PAYLOAD bodies. */
export class ChunkSigner {
  readonly #date: string;
  readonly #scope: string;
  readonly #key: Buffer;
  #previous: string;

  constructor(date: string, seed: string) {
    this.#date = date;
    this.#previous = seed;
    const day = date.slice(0, 8);
    this.#scope = `${day}/${clientRegion}/s3/aws4_request`;
    let key: Buffer = Buffer.from(`AWS4${clientCredentials.secretAccessKey}`);
    for (const part of [day, clientRegion, 's3', 'aws4_request']) {
      key = createHmac('sha256', key).update(part).digest();
    }
    this.#key = key;
  }

  /** One chunk with its frame; an empty one is the last. */
  chunk(bytes: Uint8Array): Buffer {
    const signature = this.#sign(`AWS4-HMAC-SHA256-PAYLOAD`, `${hex('')}\n${hex(bytes)}`);
    const size = bytes.length.toString(16);
    const end = bytes.length === 0 ? '' : '\r\n';
    return Buffer.concat([
      Buffer.from(`${size};chunk-signature=${signature}\r\n`),
      bytes,
      Buffer.from(end),
    ]);
  }

  /** The trailer behind the last chunk, with its signature. */
  trailer(name: string, value: string): Buffer {
    const signature = this.#sign('AWS4-HMAC-SHA256-TRAILER', hex(`${name}:${value}\n`));
    return Buffer.from(`${name}:${value}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`);
  }

  #sign(kind: string, rest: string): string {
    const text = `${kind}\n${this.#date}\n${this.#scope}\n${this.#previous}\n${rest}`;
    this.#previous = createHmac('sha256', this.#key).update(text).digest('hex');
    return this.#previous;
  }
}

/** A PUT whose body is framed in the pieces given; `trailer` is name and value of the checksum behind it. */
export interface StreamedPut {
  readonly target: string;
  readonly headers?: readonly string[];
  readonly isSigned: boolean;
  readonly pieces: readonly Buffer[];
  readonly trailer?: readonly [name: string, value: string];
  /** Changes the framed body before it is sent, keeping its length. */
  readonly tamper?: (body: Buffer) => void;
}

/** Sends a body in one of S3's streaming forms. */
export async function putStreamed(port: number, put: StreamedPut): Promise<RawAnswer> {
  const { target, pieces, trailer, isSigned } = put;
  const form = isSigned ? 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' : 'STREAMING-UNSIGNED-PAYLOAD';
  const decoded = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const headers = [...(put.headers ?? []), 'x-amz-decoded-content-length', String(decoded)];
  if (trailer !== undefined) headers.push('x-amz-trailer', trailer[0]);
  const payload = trailer === undefined ? form : `${form}-TRAILER`;
  const request = { method: 'PUT', target, headers, payload };
  const frame = (chunks: ChunkSigner): Buffer => {
    const framed = [...pieces, Buffer.alloc(0)].map((piece) =>
      isSigned ? chunks.chunk(piece) : unsignedChunk(piece),
    );
    if (trailer === undefined) framed.push(Buffer.from('\r\n'));
    else if (isSigned) framed.push(chunks.trailer(...trailer));
    else framed.push(Buffer.from(`${trailer[0]}:${trailer[1]}\r\n\r\n`));
    return Buffer.concat(framed);
  };
  // Signatures have one length, so the body's length is known before they are.
  const { length } = frame(new ChunkSigner('20000101T000000Z', ''));
  const { head, chunks } = signedHead(request, length);
  const body = frame(chunks);
  put.tamper?.(body);
  const socket = await open(port);
  socket.write(head);
  socket.write(body);
  return readAnswer(socket, 'PUT');
}

function unsignedChunk(bytes: Buffer): Buffer {
  const end = bytes.length === 0 ? '' : '\r\n';
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from(end)]);
}

/** Sends one request on a connection of its own and reads the answer. */
export async function call(port: number, request: RawCall): Promise<RawAnswer> {
  const body = request.body ?? new Uint8Array(0);
  const socket = await open(port);
  socket.write(signedHead(request, body.length).head);
  socket.write(body);
  return readAnswer(socket, request.method);
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // Cut connections are part of what is tested.
  socket.on('error', () => undefined);
  return socket;
}

/** Reads one answer and closes the connection. */
export async function readAnswer(socket: Socket, method: string): Promise<RawAnswer> {
  const reader = new AnswerReader(method === 'HEAD');
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      if (reader.push(bytes)) resolve();
    });
    socket.on('close', () => resolve());
  });
  socket.destroy();
  return reader.answer();
}

class AnswerReader {
  readonly #isHead: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #parts: Buffer[] = [];
  #status = 0;
  #lines: string[] = [];
  #left = 0;
  #isChunked = false;
  #isWhole = false;

  constructor(isHead: boolean) {
    this.#isHead = isHead;
  }

  /** True once the answer is whole. */
  push(bytes: Buffer): boolean {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    while (this.#status === 0 || this.#status === 100) if (!this.#readHead()) return false;
    if (this.#isChunked) this.#readChunks();
    else this.#readLength();
    return this.#isWhole;
  }

  answer(): RawAnswer {
    const lines = this.#lines;
    return {
      status: this.#status,
      headerLines: lines,
      body: Buffer.concat(this.#parts),
      isCut: !this.#isWhole,
      header: (name) =>
        lines
          .filter((line) => line.toLowerCase().startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join(','),
    };
  }

  #readHead(): boolean {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [first, ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n');
    this.#bytes = this.#bytes.subarray(end + 4);
    this.#status = Number(first?.split(' ')[1]);
    this.#lines = lines;
    const length = lines.find((line) => /^content-length:/i.test(line));
    this.#left = length === undefined ? 0 : Number(length.split(':')[1]);
    this.#isChunked = lines.some((line) => /^transfer-encoding: *chunked/i.test(line));
    if (this.#isHead) {
      this.#isChunked = false;
      this.#left = 0;
    }
    return true;
  }

  #readLength(): void {
    const part = this.#bytes.subarray(0, this.#left);
    this.#parts.push(part);
    this.#left -= part.length;
    this.#bytes = this.#bytes.subarray(part.length);
    this.#isWhole = this.#left === 0;
  }

  #readChunks(): void {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n');
      if (end < 0) return;
      const size = Number.parseInt(this.#bytes.toString('latin1', 0, end), 16);
      if (this.#bytes.length < end + 2 + size + 2) return;
      this.#parts.push(this.#bytes.subarray(end + 2, end + 2 + size));
      this.#bytes = this.#bytes.subarray(end + 2 + size + 2);
      if (size === 0) {
        this.#isWhole = true;
        return;
      }
    }
  }
}
