// The HTTP side: a request's whole life, from its head to the last byte of its answer.
//
//   read → authenticate → route → (fault before) → operation → (hold, delay) → (fault in the answer) → log
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { authenticate } from '../auth/sigv4.ts';
import type { Authentication, Credential } from '../auth/sigv4.ts';
import { textFromBytes } from '../byte-string.ts';
import type { FaultKind, Faults } from '../faults.ts';
import type { Context } from '../operations/context.ts';
import { route } from '../operations/routes.ts';
import { S3Error } from '../s3-error.ts';
import { DiscardSink, MemorySink } from '../store/content.ts';
import type { Store } from '../store/store.ts';
import type { Traffic } from '../traffic.ts';
import { errorAnswer, errorBody, newRequestId, pause, send } from './answer.ts';
import type { Answer } from './answer.ts';
import { receiveDocument, receiveUpload } from './receive-body.ts';
import { readRequest } from './request.ts';
import type { S3Request } from './request.ts';

export interface ListenerOptions {
  readonly store: Store;
  readonly traffic: Traffic;
  readonly faults: Faults;
  readonly region: string;
  /** Below it, host names name buckets. */
  readonly domain: string;
  readonly clock: () => number;
  readonly credential: (accessKey: string) => Credential | null;
  readonly onRequest: ((line: string) => void) | null;
}

const maxHeaderBytes = 64 * 1024;
// Longer than the pools of clients and load balancers keep an idle connection.
const keepAliveMs = 75_000;
const whitespacePauseMs = 20;

/** The server, not listening yet. */
export function createListener(options: ListenerOptions): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    // Uploads may take as long as they move.
    requestTimeout: 0,
  });
  server.on('request', (message, response) => {
    begin(new Exchange(options, message, response, false), response);
  });
  server.on('checkContinue', (message, response) => {
    begin(new Exchange(options, message, response, true), response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuseConnection(error, socket);
  });
  return server;
}

// A bug while an answer is on its way can only end the connection, and must be seen.
function begin(exchange: Exchange, response: ServerResponse): void {
  exchange.run().catch((error: unknown) => {
    process.emitWarning(error instanceof Error ? error : String(error));
    response.destroy();
  });
}

// What node:http can't parse has no request: it is answered by hand and the connection ends.
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const failure = new S3Error(tooLarge ? 'RequestHeaderSectionTooLarge' : 'BadRequest');
  const body = errorBody(failure, null, newRequestId());
  socket.end(
    `HTTP/1.1 ${failure.status} Bad Request\r\nContent-Type: application/xml\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.toString('utf8')}`,
  );
}

/** One request and its answer. */
class Exchange {
  readonly #options: ListenerOptions;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  readonly #requestId = newRequestId();
  #request: S3Request | null = null;
  #operation = 'Refused';

  constructor(
    options: ListenerOptions,
    message: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ) {
    this.#options = options;
    this.#message = message;
    this.#response = response;
    this.#expectsContinue = expectsContinue;
  }

  async run(): Promise<void> {
    // Without listeners a client's reset would end the process.
    this.#message.on('error', () => undefined);
    this.#response.on('error', () => undefined);
    let fault: FaultKind | null = null;
    let answer: Answer;
    try {
      const request = readRequest(this.#message, this.#options.domain);
      this.#request = request;
      const authentication = this.#authenticate(request);
      const { name, operation } = route(request);
      this.#operation = name;
      this.#options.traffic.began(name);
      fault = this.#options.faults.draw(this.#subject());
      if (fault === 'slow-down') throw new S3Error('SlowDown');
      if (fault === 'internal-error') throw new S3Error('InternalError');
      if (fault === 'reset-before') {
        this.#reset();
        return;
      }
      answer =
        fault === 'late-error'
          ? errorAnswer(new S3Error('InternalError'), request, this.#requestId)
          : await operation(this.#context(request, authentication));
    } catch (error) {
      if (this.#response.destroyed) {
        this.#log(0, 0);
        return;
      }
      // The rest of a refused body is read and dropped, so that the client gets to read the answer.
      this.#message.resume();
      answer = this.#failure(error);
    }
    if (this.#operation === 'Refused') this.#options.traffic.began('Refused');
    await this.#respond(answer, fault);
  }

  #authenticate(request: S3Request): Authentication {
    return authenticate(request, {
      region: this.#options.region,
      nowMs: this.#options.clock(),
      credential: this.#options.credential,
    });
  }

  #context(request: S3Request, authentication: Authentication): Context {
    const { store, clock, region } = this.#options;
    const message = this.#message;
    const allowBody = (): void => {
      if (this.#expectsContinue) this.#response.writeContinue();
    };
    const bucket = (): ReturnType<Store['bucket']> => store.bucket(request.bucket ?? '');
    return {
      request,
      store,
      region,
      nowMs: clock(),
      clock,
      bucket,
      key: request.key ?? '',
      upload: (wanted = null) => {
        const discards = bucket().discards;
        allowBody();
        return receiveUpload(
          message,
          request,
          authentication,
          (expected) => (discards ? new DiscardSink() : new MemorySink(expected)),
          wanted,
        );
      },
      document: () => {
        allowBody();
        return receiveDocument(message, request, authentication);
      },
    };
  }

  #failure(error: unknown): Answer {
    const known =
      error instanceof S3Error ? error : new S3Error('InternalError', `A bug: ${String(error)}`);
    return errorAnswer(known, this.#request, this.#requestId);
  }

  async #respond(answer: Answer, fault: FaultKind | null): Promise<void> {
    const { faults } = this.#options;
    await faults.held(this.#subject());
    if (faults.rates.delayMs > 0) await pause(this.#response, faults.rates.delayMs);
    if (fault === 'reset-after') {
      this.#reset();
      return;
    }
    // A body that was refused unread would be taken for the next request's head.
    if (this.#expectsContinue && !this.#message.complete) {
      this.#response.setHeader('connection', 'close');
    }
    if ((fault === 'late-error' || fault === 'late-answer') && Buffer.isBuffer(answer.body)) {
      this.#log(200, await this.#sendLate(answer.body));
      return;
    }
    const bytesSent = await send(this.#response, answer, this.#requestId, {
      bytesPerSecond: faults.rates.bandwidthBytesPerSecond,
      cutAfter: cutAfter(answer, fault),
      stall: fault === 'stall',
    });
    this.#log(answer.status, bytesSent);
  }

  // S3 sends its 200 and white space while a long copy or completion runs; the outcome comes after.
  async #sendLate(document: Buffer): Promise<number> {
    const text = document.toString('utf8');
    const afterDeclaration = text.indexOf('\n') + 1;
    this.#response.writeHead(200, [
      ...['content-type', 'application/xml', 'x-amz-request-id', this.#requestId],
      ...['transfer-encoding', 'chunked'],
    ]);
    this.#response.write(Buffer.from(text.slice(0, afterDeclaration), 'utf8'));
    for (let spaces = 0; spaces < 3; spaces++) {
      this.#response.write(Buffer.from(' '));
      await pause(this.#response, whitespacePauseMs);
    }
    this.#response.end(Buffer.from(text.slice(afterDeclaration), 'utf8'));
    return document.length + 3;
  }

  #reset(): void {
    this.#log(0, 0);
    const { socket } = this.#response;
    if (socket !== null) socket.resetAndDestroy();
  }

  #subject(): { operation: string; bucket: string | null; key: string | null } {
    const key = this.#request?.key ?? null;
    return {
      operation: this.#operation,
      bucket: this.#request?.bucket ?? null,
      key: key === null ? null : textFromBytes(key),
    };
  }

  #log(status: number, bytesSent: number): void {
    const { bucket, key } = this.#subject();
    const headers = this.#request?.headers ?? new Map<string, string>();
    const method = this.#message.method ?? '';
    const target = this.#message.url ?? '';
    this.#options.traffic.ended({
      method,
      target,
      headers,
      range: headers.get('range') ?? null,
      operation: this.#operation,
      bucket,
      key,
      status,
      bytesSent,
    });
    this.#options.onRequest?.(`${method} ${target} ${this.#operation} ${status} ${bytesSent}`);
  }
}

function cutAfter(answer: Answer, fault: FaultKind | null): number | null {
  if (fault !== 'short-body' && fault !== 'empty-body' && fault !== 'stall') return null;
  const { body } = answer;
  if (body === null) return null;
  const size = Buffer.isBuffer(body) ? body.length : body.end - body.start;
  if (size === 0) return null;
  return fault === 'empty-body' ? 0 : Math.floor(size / 2);
}
