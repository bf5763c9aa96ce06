/**
 * A server over real sockets for tests: its handler does by path what the test says, its clients send and receive text.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { ExchangeId, HttpHandler } from '../exchange.ts';
import { HttpServer } from '../http-server.ts';
import type { RequestHead } from '../request-head.ts';
import type { ServerLimits } from '../server-limits.ts';

/** What is done about a request, or about its body's bytes and end: by `PATH`, `PATH:body` and `PATH:end`. */
export type Behaviour = (exchange: ExchangeId, bench: HttpBench) => void;

/**
 * A server whose handler looks up what to do by path: the double for a gateway driver. It also keeps a log of what the
 * handler heard, one line for each call.
 */
export class HttpBench implements HttpHandler {
  readonly reactor = new Reactor({ inputBytes: 1 << 20, outputBytes: 1 << 20 });
  readonly server: HttpServer;
  readonly port: number;
  readonly log: string[] = [];
  readonly bodies = new Map<ExchangeId, Buffer[]>();
  readonly paths = new Map<ExchangeId, string>();
  readonly behaviours: Readonly<Record<string, Behaviour>>;

  constructor(
    context: TestContext,
    behaviours: Readonly<Record<string, Behaviour>>,
    limits: Partial<ServerLimits> = {},
  ) {
    this.behaviours = behaviours;
    this.server = new HttpServer(this.reactor, this, { sweepMs: 20, ...limits });
    this.port = this.server.listen('127.0.0.1', 0);
    context.after(async () => {
      await this.server.close(0);
      this.reactor.stop();
    });
  }

  onRequest(exchange: ExchangeId, head: RequestHead): void {
    const path = head.path();
    this.paths.set(exchange, path);
    this.log.push(`request ${head.methodText()} ${path}`);
    this.#behave(exchange, path);
  }
  onBody(exchange: ExchangeId, bytes: Uint8Array): void {
    const body = this.bodies.get(exchange) ?? [];
    body.push(Buffer.from(bytes));
    this.bodies.set(exchange, body);
    this.#behave(exchange, `${this.#path(exchange)}:body`);
  }
  onBodyEnd(exchange: ExchangeId): void {
    this.log.push(`end ${this.#path(exchange)}`);
    this.#behave(exchange, `${this.#path(exchange)}:end`);
  }
  onGone(exchange: ExchangeId): void {
    this.log.push(`gone ${this.#path(exchange)}`);
  }
  onSent(_exchange: ExchangeId, token: number, errno: number): void {
    this.log.push(`sent ${token} ${errno}`);
  }

  #path(exchange: ExchangeId): string {
    return this.paths.get(exchange) ?? 'unknown';
  }
  #behave(exchange: ExchangeId, key: string): void {
    this.behaviours[key]?.(exchange, this);
  }

  answer(exchange: ExchangeId, text: string, status = 200): void {
    this.server.beginAnswer(exchange, status, text.length);
    this.server.sendHead(exchange);
    this.server.sendBody(exchange, Buffer.from(text));
    this.server.finish(exchange);
  }

  body(exchange: ExchangeId): Buffer {
    return Buffer.concat(this.bodies.get(exchange) ?? []);
  }

  connect(options: { allowHalfOpen?: boolean } = {}): Client {
    return new Client(connect({ port: this.port, host: '127.0.0.1', ...options }));
  }

  async until(line: string): Promise<void> {
    for (let tries = 0; !this.log.includes(line); tries += 1) {
      assert.ok(tries < 500, `no "${line}" in: ${this.log.join(', ')}`);
      await sleep(10);
    }
  }
}

/** A raw client that remembers everything it received. */
export class Client {
  readonly socket: Socket;
  received = '';
  closed = false;
  ended = false;
  error: string | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? error.message;
    });
    socket.on('end', () => {
      this.ended = true;
    });
    socket.on('close', () => {
      this.closed = true;
    });
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    for (let tries = 0; !condition(); tries += 1) {
      assert.ok(tries < 800, `${what}; received: ${this.received.slice(-300)}`);
      await sleep(5);
    }
  }

  async untilReceived(text: string, times = 1): Promise<void> {
    await this.until(() => this.received.split(text).length > times, `waited for ${text}`);
  }

  async untilClosed(): Promise<void> {
    await this.until(() => this.closed || this.ended, 'waited for the end');
    this.socket.destroy();
  }
}

export const get = (path: string, ...lines: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: h', ...lines, '', ''].join('\r\n');
export const put = (path: string, body: string, ...lines: string[]): string =>
  [`PUT ${path} HTTP/1.1`, 'Host: h', `Content-Length: ${body.length}`, ...lines, '', body].join(
    '\r\n',
  );

export const chunkedPut = (path: string, body: string): string =>
  `PUT ${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n` +
  `${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`;

export const echo: Readonly<Record<string, Behaviour>> = {
  '/echo': (exchange, { server }) => server.readBody(exchange),
  '/echo:end': (exchange, bench) => bench.answer(exchange, bench.body(exchange).toString('latin1')),
  '/now': (exchange, bench) => bench.answer(exchange, 'now'),
  '/never': () => undefined,
  '/later': (exchange, bench) => {
    setTimeout(() => bench.answer(exchange, 'later'), 30);
  },
  '/refuse': (exchange, { server }) =>
    server.answerError(exchange, 'AccessDenied', '/refuse', [['Region', 'r']]),
};
