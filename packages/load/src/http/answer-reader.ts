/**
 * Reads HTTP/1.1 answers out of pieces of bytes as they arrive, without copying bodies.
 *
 *   between ──expect──▶ head ──▶ fixed ───────────────────────▶ between
 *                        │  └──▶ size ─▶ chunk ─▶ chunk-end ─┐      ▲
 *                        │        ▲──────────────────────────┘      │
 *                        │        └──last──▶ trailers ──────────────┤
 *                        └──▶ until-end (the connection's) ─────────┘
 *
 * A head or a line that is split over pieces is kept until the rest has come, up to `maxKeptBytes`.
 */

export interface AnswerSink {
  /** `bodyBytes` as promised, -1 when only the body's end will tell. `head` is the status line and the headers. */
  onHead(status: number, bodyBytes: number, head: string): void;
  /** A piece of the body, valid during the call. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The answer is whole. `isLast`: the server will close the connection. */
  onEnd(isLast: boolean): void;
}

type Stage =
  | 'between'
  | 'head'
  | 'fixed'
  | 'size'
  | 'chunk'
  | 'chunk-end'
  | 'trailers'
  | 'until-end'
  | 'stopped';

const maxKeptBytes = 65_536;
const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');
const nothing = Buffer.alloc(0);
const statusLine = /^HTTP\/1\.1 (\d{3})[ \r]/;
const lengthHeader = /\r\ncontent-length:[ \t]*(\d{1,16})[ \t]*\r\n/i;
const chunkedHeader = /\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n/i;
const closeHeader = /\r\nconnection:[ \t]*close[ \t]*\r\n/i;
const chunkSize = /^([0-9a-f]{1,12})[ \t]*(;|$)/i;

export class AnswerReader {
  readonly #sink: AnswerSink;
  #stage: Stage = 'between';
  #hasBody = true;
  #isLast = false;
  #left = 0;
  #kept: Buffer = nothing;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** A request was sent: an answer may come. `hasBody` is false for the answer to a HEAD. */
  expect(hasBody: boolean): void {
    this.#stage = 'head';
    this.#hasBody = hasBody;
    this.#isLast = false;
    this.#kept = nothing;
  }

  /** Nothing more is wanted of this connection. */
  stop(): void {
    this.#stage = 'stopped';
  }

  /** Takes what arrived. Returns what is wrong with it in words, '' when nothing is. */
  feed(bytes: Buffer, start: number, end: number): string {
    if (this.#kept.length === 0) return this.#read(bytes, start, end);
    const whole = Buffer.concat([this.#kept, bytes.subarray(start, end)]);
    this.#kept = nothing;
    return this.#read(whole, 0, whole.length);
  }

  /** The server closed the connection. Returns whether that was the answer's proper end. */
  sourceEnded(): boolean {
    if (this.#stage !== 'until-end') return false;
    this.#finish(true);
    return true;
  }

  #read(bytes: Buffer, start: number, end: number): string {
    let at = start;
    while (at < end) {
      switch (this.#stage) {
        case 'stopped':
          return '';
        case 'between':
          return 'bytes that belong to no answer';
        case 'head': {
          const length = bytes.subarray(at, end).indexOf(headEnd);
          if (length < 0) return this.#keep(bytes, at, end);
          const fault = this.#readHead(bytes.toString('latin1', at, at + length + 2));
          if (fault !== '') return fault;
          at += length + 4;
          break;
        }
        case 'fixed':
        case 'chunk': {
          const length = Math.min(this.#left, end - at);
          this.#left -= length;
          this.#sink.onBody(bytes, at, at + length);
          at += length;
          if (this.#left === 0) this.#bodyCame();
          break;
        }
        case 'until-end':
          this.#sink.onBody(bytes, at, end);
          return '';
        case 'size':
        case 'chunk-end':
        case 'trailers': {
          const length = bytes.subarray(at, end).indexOf(lineEnd);
          if (length < 0) return this.#keep(bytes, at, end);
          const fault = this.#readLine(bytes.toString('latin1', at, at + length));
          if (fault !== '') return fault;
          at += length + 2;
          break;
        }
      }
    }
    return '';
  }

  #keep(bytes: Buffer, start: number, end: number): string {
    if (end - start > maxKeptBytes) return `a head or line of more than ${maxKeptBytes} bytes`;
    this.#kept = Buffer.from(bytes.subarray(start, end));
    return '';
  }

  #readHead(head: string): string {
    const status = Number(statusLine.exec(head)?.[1] ?? 0);
    if (status < 100) return `no HTTP/1.1 answer: ${JSON.stringify(head.slice(0, 80))}`;
    if (status < 200) return '';
    const length = lengthHeader.exec(head);
    const isChunked = length === null && chunkedHeader.test(head);
    this.#isLast = closeHeader.test(head);
    const bodyBytes = length === null ? -1 : Number(length[1]);
    const hasBody = this.#hasBody && status !== 204 && status !== 304;
    this.#left = bodyBytes;
    this.#stage = isChunked ? 'size' : bodyBytes < 0 ? 'until-end' : 'fixed';
    this.#sink.onHead(status, bodyBytes, head);
    if (!hasBody || (this.#left === 0 && this.#is('fixed'))) this.#finish(this.#isLast);
    return '';
  }

  #bodyCame(): void {
    if (this.#is('chunk')) this.#stage = 'chunk-end';
    else if (this.#is('fixed')) this.#finish(this.#isLast);
  }

  #readLine(line: string): string {
    if (this.#is('chunk-end')) {
      this.#stage = 'size';
      return line === '' ? '' : 'a chunk longer than it says';
    }
    if (this.#is('trailers')) {
      if (line === '') this.#finish(this.#isLast);
      return '';
    }
    const size = chunkSize.exec(line);
    if (size === null) return `no size of a chunk: ${JSON.stringify(line.slice(0, 80))}`;
    this.#left = parseInt(size[1]!, 16);
    this.#stage = this.#left === 0 ? 'trailers' : 'chunk';
    return '';
  }

  /** The sink may have stopped the reading, or expect the next answer already, when one of its calls returns. */
  #is(stage: Stage): boolean {
    return this.#stage === stage;
  }

  #finish(isLast: boolean): void {
    if (this.#is('stopped')) return;
    this.#stage = 'between';
    this.#sink.onEnd(isLast);
  }
}
