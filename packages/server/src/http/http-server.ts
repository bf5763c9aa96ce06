/**
 * The HTTP/1.1 server: from bytes on client connections to requests, and from answers back to bytes.
 *
 * It owns the connections; drivers name exchanges and queue bodies on `connectionOf` directly, so that payload never
 * comes by here. Rules:
 * - One exchange at a time on a connection: the next head is parsed once the answer is fully queued. What arrives before
 *   that is kept, within limits, and receiving stops.
 * - The handler is never called from within a method of the server: what a method sets free is worked off in the loop
 *   that is running, or in a microtask.
 * - A body is read only when asked for; only then 100 Continue is sent.
 * - After a refusal the connection is closed in a way that lets the client see the answer (lingering close).
 * - A late call with an exchange that is over does nothing.
 */
import { errorXml, type ErrorDetail } from '@s3-accelerator/core/s3/error-xml.ts';
import { s3Errors, type ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { Arena } from '@s3-accelerator/native/native.ts';
import {
  nobody,
  type ConnectionId,
  type ConnectionOwner,
  type ListenerId,
  type Reactor,
} from '@s3-accelerator/native/reactor.ts';
import { ClientConnection } from './client-connection.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { ConnectionMachine, type ServerCounters } from './connection-machine.ts';
import { slotMask, type ExchangeId, type HttpHandler } from './exchange.ts';
import { RequestIds } from './request-ids.ts';
import { ResponseWriter, unknownLength } from './response-writer.ts';
import { defaultServerLimits, type ServerLimits } from './server-limits.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const continueLine = ascii('HTTP/1.1 100 Continue\r\n\r\n');
const lineEnd = ascii('\r\n');
const lastChunk = ascii('0\r\n\r\n');
const xmlType = ascii('Content-Type: application/xml\r\n');
const backlog = 4096;

export class HttpServer {
  /** Writes the head of the answer that `beginAnswer` began. */
  readonly writer: ResponseWriter;
  readonly counters: ServerCounters = {
    accepted: 0,
    refusedConnections: 0,
    requests: 0,
    badRequests: 0,
    headTimeouts: 0,
    aborted: 0,
    bodyBytesReceived: 0,
    bodyBytesSent: 0,
  };

  readonly #reactor: Reactor;
  readonly #limits: ServerLimits;
  readonly #budget: ConnectionBudget;
  readonly #onAnswer: (exchange: ExchangeId, status: number) => void;
  readonly #ids = new RequestIds();
  readonly #connections: ClientConnection[] = [];
  readonly #freeSlots: number[] = [];
  readonly #machine: ConnectionMachine;
  readonly #listeners: ListenerId[] = [];
  #open = 0;
  #closing = false;
  #onAllClosed: (() => void) | null = null;
  readonly #sweeper: NodeJS.Timeout;

  /**
   * `onAnswer` hears of the status of each exchange's answer as it begins. `budget` is for servers that count their connections
   * together; without one `limits.maxConnections` is this one's own.
   */
  constructor(
    reactor: Reactor,
    handler: HttpHandler,
    limits: Partial<ServerLimits> = {},
    onAnswer: (exchange: ExchangeId, status: number) => void = () => undefined,
    budget: ConnectionBudget | null = null,
  ) {
    this.#reactor = reactor;
    this.#limits = { ...defaultServerLimits, ...limits };
    this.#budget = budget ?? new ConnectionBudget(this.#limits.maxConnections);
    this.#onAnswer = onAnswer;
    this.writer = new ResponseWriter(reactor, this.#ids);
    this.#machine = new ConnectionMachine(
      reactor,
      handler,
      this.#limits,
      this.#ids,
      this.counters,
      {
        isClosing: () => this.#closing,
        refuse: (connection, code) => this.answerError(connection.exchange, code, '/'),
        released: (connection) => this.#released(connection),
      },
    );
    this.#sweeper = setInterval(
      () => this.#machine.sweep(this.#connections, performance.now()),
      this.#limits.sweepMs,
    );
    this.#sweeper.unref();
  }

  /** Listens on a numeric address; port 0 lets the kernel pick. Returns the port. Throws ReactorError. */
  listen(host: string, port: number): number {
    const accept = (id: ConnectionId): ConnectionOwner => this.#accept(id);
    const listening = this.#reactor.listen(host, port, backlog, accept);
    this.#listeners.push(listening.listener);
    return listening.port;
  }

  /** Connections that are open. */
  get openConnections(): number {
    return this.#open;
  }

  /** The connection to queue an answer's body on; null when the exchange is over. */
  connectionOf(exchange: ExchangeId): ConnectionId | null {
    return this.#find(exchange)?.id ?? null;
  }

  /** Numeric address and port of the client, '' when the exchange is over. */
  peerAddress(exchange: ExchangeId): string {
    const connection = this.#find(exchange);
    return connection === null ? '' : this.#reactor.peerAddress(connection.id);
  }

  /** The id that the answer carries as `x-amz-request-id`; '' when the exchange is over. */
  requestId(exchange: ExchangeId): string {
    const connection = this.#find(exchange);
    return connection === null ? '' : this.#ids.text(connection.request);
  }

  /** Asks for the body: `onBody` and `onBodyEnd` follow. Sends 100 Continue when the client waits for it. */
  readBody(exchange: ExchangeId): void {
    const connection = this.#find(exchange);
    if (connection === null) return;
    // A body that is complete before anyone asks for it is an empty one.
    if (connection.body !== 'waiting' && connection.framing !== 'none') return;
    connection.body = 'reading';
    if (connection.expectsContinue) {
      connection.expectsContinue = false;
      if (connection.pendingLength === 0) this.#reactor.writeBytes(connection.id, continueLine);
    }
    this.#machine.deadline(connection, this.#limits.bodyIdleMs);
    this.#machine.goOnLater(connection);
  }

  /** Stops `onBody` for a while. What was received already may still come. */
  pauseBody(exchange: ExchangeId): void {
    const connection = this.#find(exchange);
    if (connection?.body !== 'reading') return;
    connection.body = 'paused';
    this.#machine.pauseReceiving(connection);
  }

  resumeBody(exchange: ExchangeId): void {
    const connection = this.#find(exchange);
    if (connection?.body !== 'paused') return;
    connection.body = 'reading';
    this.#machine.deadline(connection, this.#limits.bodyIdleMs);
    this.#machine.goOnLater(connection);
  }

  /**
   * Begins the answer: `writer` stands behind status, Date, request id, length and connection headers. Add lines, end the
   * head, and send it from `writer.offset`, by `sendHead` or together with the body. `length` is the body's, or
   * `unknownLength` or `noBody` of response-writer.ts. `requestId` is the origin's, of an answer that is relayed. Null when the
   * exchange is over.
   */
  beginAnswer(
    exchange: ExchangeId,
    status: number,
    length: number,
    requestId = '',
  ): ResponseWriter | null {
    const connection = this.#find(exchange);
    if (connection === null) return null;
    if (connection.answer !== 'none') throw new Error('an exchange is answered once');
    connection.answer = 'begun';
    this.#onAnswer(exchange, status);
    const isUnframed = length === unknownLength && connection.http10;
    connection.answerIsChunked =
      length === unknownLength && !connection.http10 && !connection.isHead;
    if (isUnframed || this.#closing || !this.#bodyCanBeSkipped(connection)) {
      connection.keepAlive = false;
    }
    if (connection.deadlineMs === 0) {
      this.#machine.deadline(connection, this.#limits.bodyIdleMs);
    }
    this.writer.begin(
      status,
      connection.request,
      length,
      connection.keepAlive ? (connection.http10 ? 'keepAlive' : 'none') : 'close',
      connection.http10,
      requestId,
    );
    return this.writer;
  }

  /** Ends the head begun by `beginAnswer` and queues it alone. */
  sendHead(exchange: ExchangeId, token = 0, flags = 0): void {
    const length = this.writer.end();
    const connection = this.#find(exchange);
    if (connection === null) return;
    this.#reactor.write(connection.id, Arena.output, this.writer.offset, length, token, flags);
  }

  /** Queues a copy of bytes of the body, framed as the head announced. */
  sendBody(exchange: ExchangeId, bytes: Uint8Array, token = 0, flags = 0): void {
    const connection = this.#find(exchange);
    if (connection === null) return;
    if (connection.isHead || bytes.length === 0) {
      if (token !== 0) this.#reactor.mark(connection.id, token, flags);
      return;
    }
    this.counters.bodyBytesSent += bytes.length;
    if (connection.answerIsChunked) {
      this.#reactor.writeBytes(connection.id, ascii(`${bytes.length.toString(16)}\r\n`));
      this.#reactor.writeBytes(connection.id, bytes);
      this.#reactor.writeBytes(connection.id, lineEnd, token, flags);
    } else {
      this.#reactor.writeBytes(connection.id, bytes, token, flags);
    }
  }

  /** The answer is fully queued: the connection goes on to its next request, or closes. */
  finish(exchange: ExchangeId): void {
    const connection = this.#find(exchange);
    if (connection === null) return;
    if (connection.answer !== 'begun') throw new Error('an answer is begun before it is finished');
    if (connection.answerIsChunked) this.#reactor.writeBytes(connection.id, lastChunk);
    connection.answer = 'finished';
    if (!connection.feeding) this.#machine.settle(connection);
  }

  /** Cuts the connection: promised bytes won't come, and the client must not take the answer for whole. */
  abort(exchange: ExchangeId): void {
    const connection = this.#find(exchange);
    if (connection === null) return;
    this.counters.aborted += 1;
    this.#machine.cut(connection);
  }

  /** Answers with one of S3's errors and finishes. `resource` is the raw path; on HEAD the body stays empty. */
  answerError(
    exchange: ExchangeId,
    code: ErrorCode,
    resource: string,
    details: readonly ErrorDetail[] = [],
  ): void {
    const connection = this.#find(exchange);
    if (connection === null) return;
    const xml = connection.isHead
      ? new Uint8Array(0)
      : ascii(errorXml(code, resource, this.#ids.text(connection.request), details));
    const writer = this.beginAnswer(exchange, s3Errors[code].status, xml.length);
    writer?.lines(xmlType);
    this.sendHead(exchange);
    if (xml.length > 0) this.#reactor.writeBytes(connection.id, xml);
    this.finish(exchange);
  }

  /**
   * Stops listening. Exchanges under way are answered, with `Connection: close`; what is left after `graceMs` is cut.
   * Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const listener of this.#listeners.splice(0)) this.#reactor.stopListening(listener);
    for (const connection of this.#connections) {
      if (connection.stage === 'idle' && connection.pendingLength === 0)
        this.#machine.closeGently(connection);
    }
    const cut = setTimeout(() => {
      for (const connection of this.#connections) {
        if (connection.isAnswering) this.#machine.goneThenCut(connection);
        else if (connection.id !== 0) this.#machine.cut(connection);
      }
    }, graceMs);
    return new Promise((resolve) => {
      this.#onAllClosed = () => {
        clearTimeout(cut);
        clearInterval(this.#sweeper);
        resolve();
      };
      if (this.#open === 0) this.#onAllClosed();
    });
  }

  #find(exchange: ExchangeId): ClientConnection | null {
    const connection = this.#connections[exchange & slotMask];
    return connection?.exchange === exchange && connection.isAnswering ? connection : null;
  }

  #accept(id: ConnectionId): ConnectionOwner {
    this.counters.accepted += 1;
    if (this.#closing) {
      this.#reactor.reset(id);
      return nobody;
    }
    if (!this.#budget.take()) {
      this.counters.refusedConnections += 1;
      this.#turnAway(id);
      return nobody;
    }
    this.#open += 1;
    const slot = this.#freeSlots.pop() ?? this.#connections.length;
    const connection = (this.#connections[slot] ??= new ClientConnection(slot, this.#machine));
    connection.open(id);
    this.#machine.deadline(connection, this.#limits.keepAliveMs);
    return connection;
  }

  #released(connection: ClientConnection): void {
    this.#open -= 1;
    this.#budget.giveBack();
    this.#freeSlots.push(connection.slot);
    if (this.#open === 0) this.#onAllClosed?.();
  }

  /** Answers a connection that is one too many, without reading from it. */
  #turnAway(id: ConnectionId): void {
    const request = this.#ids.next();
    const xml = ascii(errorXml('SlowDown', '/', this.#ids.text(request)));
    this.writer.begin(s3Errors.SlowDown.status, request, xml.length, 'close', false);
    this.writer.lines(xmlType);
    const length = this.writer.end();
    this.#reactor.write(id, Arena.output, this.writer.offset, length);
    this.#reactor.writeBytes(id, xml);
    this.#reactor.deadline(id, this.#limits.lingerMs);
    this.#reactor.close(id);
  }

  /** Whether the connection can carry another request although the body wasn't read. */
  #bodyCanBeSkipped(connection: ClientConnection): boolean {
    if (connection.body === 'complete') return true;
    return (
      connection.framing === 'length' &&
      !connection.expectsContinue &&
      connection.bodyLeft <= this.#limits.maxDrainBytes
    );
  }
}
