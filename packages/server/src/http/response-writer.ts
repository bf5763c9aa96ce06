/**
 * Renders the heads of answers straight into the reactor's output arena.
 *
 * `begin` writes the status line, Date and x-amz-request-id from a template that each status keeps and that changes once
 * a second; then come the length, whatever lines the caller adds, and `end`. Nothing is allocated. One head is written at
 * a time, and none may be left open when another begins.
 */
import { STATUS_CODES } from 'node:http';
import { formatHttpDate } from '@s3-accelerator/core/s3/http-date.ts';
import type { RequestIds } from './request-ids.ts';
import { requestIdLength } from './request-ids.ts';

/** Where heads are rendered: the reactor's output arena. */
export interface OutputArena {
  readonly output: Uint8Array;
  reserve(bytes: number): number;
  commit(length: number): void;
}

/** Bytes of an answer's head at most: what the origin may send, and what we add. */
const maxAnswerHeadBytes = 65_536;

/** In place of a length: the body is framed in chunks, or by the connection's end for HTTP/1.0. */
export const unknownLength = -1;
/** In place of a length: the answer has no body and doesn't say so (204, 304). */
export const noBody = -2;

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const contentLength = ascii('Content-Length: ');
const chunked = ascii('Transfer-Encoding: chunked\r\n');
const close = ascii('Connection: close\r\n');
const keepAlive = ascii('Connection: keep-alive\r\n');
const CR = 0x0d;
const LF = 0x0a;

/** The beginning of every head of one status. */
interface Template {
  readonly bytes: Uint8Array;
  readonly dateAt: number;
  readonly requestIdAt: number;
  second: number;
}

const dateLength = 29;

function newTemplate(status: number): Template {
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\nDate: `;
  const text = `${line}${' '.repeat(dateLength)}\r\nx-amz-request-id: `;
  return {
    bytes: ascii(`${text}${' '.repeat(requestIdLength)}\r\n`),
    dateAt: line.length,
    requestIdAt: text.length,
    second: -1,
  };
}

export type ConnectionHeader = 'none' | 'close' | 'keepAlive';

export class ResponseWriter {
  /** Where the head begins in the output arena. */
  offset = 0;
  /** Where its next byte goes. */
  #position = 0;
  readonly #arena: OutputArena;
  readonly #ids: RequestIds;
  readonly #templates: (Template | undefined)[] = [];
  #second = 0;
  #date: Uint8Array = ascii(formatHttpDate(0));

  constructor(arena: OutputArena, ids: RequestIds) {
    this.#arena = arena;
    this.#ids = ids;
  }

  /**
   * Begins the head of the answer to a request (its number). `length` is the body's, or one of the two constants above;
   * `http10` leaves a body of unknown length unframed. `requestId` stands in place of the request's own id: an answer that
   * is relayed keeps the id that its origin knows it by.
   */
  begin(
    status: number,
    request: number,
    length: number,
    connection: ConnectionHeader,
    http10: boolean,
    requestId = '',
  ): void {
    this.offset = this.#arena.reserve(maxAnswerHeadBytes);
    const template = this.#template(status);
    const { output } = this.#arena;
    output.set(template.bytes, this.offset);
    this.#position = this.offset + template.requestIdAt;
    if (requestId === '') {
      this.#ids.write(request, output, this.#position);
      this.#position = this.offset + template.bytes.length;
    } else {
      this.#text(requestId);
      this.#lineEnd();
    }
    if (length >= 0) {
      this.lines(contentLength);
      this.#number(length);
      this.#lineEnd();
    } else if (length === unknownLength && !http10) {
      this.lines(chunked);
    }
    if (connection === 'close') this.lines(close);
    else if (connection === 'keepAlive') this.lines(keepAlive);
  }

  /** Adds complete lines, `Name: value\r\n` each. Throws RangeError when the head would grow beyond its limit. */
  lines(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#arena.output.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** Adds one header; name and value are binary strings without line ends. */
  header(name: string, value: string): void {
    this.#room(name.length + value.length + 4);
    this.#text(name);
    this.#text(': ');
    this.#text(value);
    this.#lineEnd();
  }

  /** Adds `Content-Range: bytes first-last/size`. */
  contentRange(first: number, last: number, size: number): void {
    this.#room(80);
    this.#text('Content-Range: bytes ');
    this.#number(first);
    this.#text('-');
    this.#number(last);
    this.#text('/');
    this.#number(size);
    this.#lineEnd();
  }

  /** Ends the head; returns its length. It lies at `offset` until the next command was executed. */
  end(): number {
    this.#room(2);
    this.#lineEnd();
    const length = this.#position - this.offset;
    this.#arena.commit(length);
    return length;
  }

  #room(bytes: number): void {
    if (this.#position + bytes - this.offset > maxAnswerHeadBytes) {
      throw new RangeError(`the head of an answer is longer than ${maxAnswerHeadBytes} bytes`);
    }
  }

  #text(text: string): void {
    const { output } = this.#arena;
    for (let at = 0; at < text.length; at += 1) output[this.#position + at] = text.charCodeAt(at);
    this.#position += text.length;
  }

  #lineEnd(): void {
    const { output } = this.#arena;
    output[this.#position] = CR;
    output[this.#position + 1] = LF;
    this.#position += 2;
  }

  #number(value: number): void {
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
    const { output } = this.#arena;
    let rest = value;
    for (let at = this.#position + digits - 1; at >= this.#position; at -= 1) {
      const tenth = Math.floor(rest / 10);
      output[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
    this.#position += digits;
  }

  #template(status: number): Template {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = ascii(formatHttpDate(second));
    }
    const template = (this.#templates[status] ??= newTemplate(status));
    if (template.second !== second) {
      template.second = second;
      template.bytes.set(this.#date, template.dateAt);
    }
    return template;
  }
}
