/**
 * A client for tests, down to the bytes: it signs any target and any form of body, can tamper with what it signed, and shows the
 * answer as it came.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { OriginSigner } from '../../origin/origin-signer.ts';
import { RawConnection, type Answer } from '../../testing/raw-connection.ts';

export const clientCredentials = { accessKeyId: 'client', secretAccessKey: 'client-secret' };
export const clientRegion = 'us-east-1';

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
export async function putStreamed(port: number, put: StreamedPut): Promise<Answer> {
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
export async function call(port: number, request: RawCall): Promise<Answer> {
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
export async function readAnswer(socket: Socket, method: string): Promise<Answer> {
  const connection = RawConnection.over(socket);
  try {
    return await connection.answer({ method });
  } finally {
    connection.close();
  }
}
