/**
 * One keep-alive connection with one request at a time. It sends the request, judges the answer as it arrives, and tells
 * its host what came of it.
 *
 *   closed ──open──▶ opening ──▶ idle ──send──▶ busy ──▶ idle
 *      ▲                │          │              │
 *      └────────────────┴──────────┴──────────────┘   failed, or ended by the server
 */
import { writeContent } from '../dataset/content.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { StepPlan } from '../plan/plan.ts';
import type { Exchange } from '../workload/exchange.ts';
import { newExchange } from '../workload/exchange.ts';
import { expectedStatus, lengthFault, listingFault, pieceFault } from '../workload/expectation.ts';
import type { AnswerSink } from './answer-reader.ts';
import { AnswerReader } from './answer-reader.ts';
import type { OpenWire, Wire, WireOwner } from './wire.ts';

/** What a connection needs and whom it tells. */
export interface ConnectionHost {
  readonly openWire: OpenWire;
  readonly dataset: Dataset;
  readonly verify: StepPlan['verify'];
  /** It was opened, or is free again: it may be sent on. */
  onIdle(connection: ClientConnection): void;
  /** Body bytes came or left. */
  onBodyBytes(count: number): void;
  /** The answer is whole and right. Before `onIdle`. */
  onAnswered(exchange: Exchange): void;
  /** A request failed, or connecting did (`exchange` is null). `kind` is a short name that repeats, `detail` says more. */
  onFailed(kind: string, detail: string, exchange: Exchange | null): void;
  /** It is closed, whatever the reason; `wasOpen` unless connecting failed. After `onFailed`. */
  onClosed(connection: ClientConnection, wasOpen: boolean): void;
}

/** Whether this kind of failure means that the endpoint answered something untrue. */
export function isWrong(kind: string): boolean {
  return kind.startsWith('wrong ');
}

/** An upload's body leaves in pieces of so many bytes, each when the one before has left. */
const pieceBytes = 256 * 1024;
const maxErrorBytes = 16 * 1024;
const maxListingBytes = 4 * 1024 * 1024;

const piece = Buffer.alloc(pieceBytes);

export class ClientConnection implements WireOwner, AnswerSink {
  readonly exchange: Exchange = newExchange();
  readonly #host: ConnectionHost;
  readonly #reader = new AnswerReader(this);
  #state: 'closed' | 'opening' | 'idle' | 'busy' = 'closed';
  #wire: Wire | null = null;
  #openedAt = 0;
  #status = 0;
  /** Bytes of the answer's body so far, and of the request's. */
  #received = 0;
  #sent = 0;
  /** The body of an error or a listing. */
  #document: string[] = [];
  #documentBytes = 0;

  constructor(host: ConnectionHost) {
    this.#host = host;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  open(): void {
    this.#state = 'opening';
    this.#openedAt = performance.now();
    this.#wire = this.#host.openWire(this);
  }

  /** Sends what `exchange` describes; `head` is its rendered head. Only while idle. */
  send(head: Buffer, headBytes: number): void {
    const { exchange } = this;
    this.#state = 'busy';
    this.#status = 0;
    this.#received = 0;
    this.#sent = 0;
    exchange.firstByteAt = 0;
    exchange.sentAt = performance.now();
    this.#reader.expect(exchange.operation !== 'head');
    this.#wire!.write(head, 0, headBytes, false);
    if (exchange.operation === 'put') this.onDrain();
  }

  /** Ends it without a word. */
  close(): void {
    this.#reader.stop();
    this.#wire?.destroy();
    this.#wire = null;
    this.#state = 'closed';
  }

  checkTimeout(now: number, timeoutMs: number): void {
    if (this.#state === 'busy' && now - this.exchange.sentAt > timeoutMs) {
      this.#fail('timeout', `no whole answer within ${timeoutMs} ms`);
    } else if (this.#state === 'opening' && now - this.#openedAt > timeoutMs) {
      this.#fail('connect: timeout', `no connection within ${timeoutMs} ms`);
    }
  }

  onOpen(): void {
    this.#state = 'idle';
    this.#host.onIdle(this);
  }

  /** The next piece of an upload's body. */
  onDrain(): void {
    const { identity, size } = this.exchange;
    if (this.#state !== 'busy' || this.#sent === size) return;
    const length = Math.min(pieceBytes, size - this.#sent);
    writeContent(identity, this.#sent, piece, 0, length);
    this.#sent += length;
    this.#host.onBodyBytes(length);
    this.#wire!.write(piece, 0, length, this.#sent < size);
  }

  onBytes(bytes: Buffer, start: number, end: number): void {
    if (this.exchange.firstByteAt === 0) this.exchange.firstByteAt = performance.now();
    const fault = this.#reader.feed(bytes, start, end);
    if (fault !== '') this.#fail('malformed answer', fault);
  }

  onHead(status: number, bodyBytes: number): void {
    this.#status = status;
    if (!this.#isExpected()) return;
    const fault = lengthFault(this.exchange, bodyBytes);
    if (fault !== '') this.#fail('wrong length', fault);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const isExpected = this.#isExpected();
    if (!isExpected || this.exchange.operation === 'list') {
      this.#documentBytes += end - start;
      const most = isExpected ? maxListingBytes : maxErrorBytes;
      if (this.#documentBytes <= most) this.#document.push(bytes.toString('latin1', start, end));
    } else if (this.exchange.operation === 'get') {
      this.#host.onBodyBytes(end - start);
      const { verify } = this.#host;
      const fault = pieceFault(this.exchange, verify, this.#received, bytes, start, end);
      this.#received += end - start;
      if (fault !== '') this.#fail('wrong bytes', fault);
    }
  }

  onEnd(isLast: boolean): void {
    const { exchange } = this;
    const document = this.#document.join('');
    this.#document = [];
    this.#documentBytes = 0;
    if (!this.#isExpected()) {
      this.#refused(document, isLast);
      return;
    }
    if (exchange.operation === 'get' && this.#received !== exchange.bytes) {
      this.#fail('wrong length', `${this.#received} bytes instead of ${exchange.bytes}`);
      return;
    }
    if (exchange.operation === 'put' && this.#sent < exchange.size) {
      this.#fail('malformed answer', 'a 200 before the body was sent');
      return;
    }
    if (exchange.operation === 'list') {
      const fault = listingFault(exchange, this.#host.dataset, document);
      if (fault !== '') {
        this.#fail('wrong listing', fault);
        return;
      }
    }
    this.#host.onAnswered(exchange);
    this.#next(isLast);
  }

  onGone(error: string): void {
    const wasOpening = this.#state === 'opening';
    this.#wire = null;
    if (this.#state === 'busy' && this.#reader.sourceEnded()) return;
    if (wasOpening) this.#fail(`connect: ${error || 'closed'}`, 'no connection to the endpoint');
    else if (this.#state === 'busy') this.#lost(error);
    else if (this.#state === 'idle') this.#closed();
  }

  #isExpected(): boolean {
    return this.#status === expectedStatus(this.exchange);
  }

  #lost(error: string): void {
    const when = this.exchange.firstByteAt === 0 ? 'before the answer' : 'within the answer';
    this.#fail(error === '' ? `closed ${when}` : `${error} ${when}`, 'the connection ended');
  }

  /** An answer with another status than the one that is right. */
  #refused(document: string, isLast: boolean): void {
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(document)?.[1] ?? '';
    const message = /<Message>([^<]{1,300})<\/Message>/.exec(document)?.[1] ?? '';
    const kind = `${this.#status} ${code}`.trimEnd();
    const detail = message === '' ? 'instead of the object' : message;
    if (this.exchange.operation === 'put' && this.#sent < this.exchange.size) {
      this.#fail(kind, detail);
      return;
    }
    this.#host.onFailed(kind, detail, this.exchange);
    this.#next(isLast);
  }

  #next(isLast: boolean): void {
    if (isLast || this.#wire === null) {
      this.close();
      this.#closed();
      return;
    }
    this.#state = 'idle';
    this.#host.onIdle(this);
  }

  #fail(kind: string, detail: string): void {
    const exchange = this.#state === 'busy' ? this.exchange : null;
    const wasOpen = this.#state !== 'opening';
    this.close();
    this.#document = [];
    this.#documentBytes = 0;
    this.#host.onFailed(kind, detail, exchange);
    this.#host.onClosed(this, wasOpen);
  }

  #closed(): void {
    this.#state = 'closed';
    this.#host.onClosed(this, true);
  }
}
