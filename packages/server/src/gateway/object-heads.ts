/**
 * The heads of answers that the gateway makes itself: of objects, out of what their origin said about them, and of errors.
 */
import { errorXml, type ErrorDetail } from '@s3-accelerator/core/s3/error-xml.ts';
import { s3Errors, type ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { ObjectMetadata, OriginError } from '@s3-accelerator/core/read.ts';
import type { ExchangeId } from '../http/exchange.ts';
import type { HttpServer } from '../http/http-server.ts';
import { noBody } from '../http/response-writer.ts';
import { writeReport, type CacheNote } from './cache-report.ts';
import { writeOverridden, type ResponseOverride } from './response-overrides.ts';

const checksumPrefix = Buffer.from('x-amz-checksum-', 'latin1');
const LF = 0x0a;

/** Where the lines of checksums, which stand first, end: S3 sends them only with whole objects, to those who ask. */
function checksumLinesEnd(lines: Uint8Array): number {
  let start = 0;
  for (;;) {
    for (let at = 0; at < checksumPrefix.length; at += 1) {
      const byte = lines[start + at] ?? 0;
      if ((byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte) !== checksumPrefix[at]) return start;
    }
    start = lines.indexOf(LF, start) + 1;
  }
}

export class ObjectHeads {
  readonly #server: HttpServer;

  constructor(server: HttpServer) {
    this.#server = server;
  }

  /** Where the last rendered head lies in the output arena. */
  get offset(): number {
    return this.#server.writer.offset;
  }

  /**
   * Renders the head of an answer that serves `length` bytes from `first` of an object; returns its length, 0 when the exchange is
   * over. Send it before the next command buffer is executed.
   */
  render(
    exchange: ExchangeId,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
    withChecksums: boolean,
    overrides: readonly ResponseOverride[],
    note: CacheNote | null,
  ): number {
    const writer = this.#server.beginAnswer(exchange, status, status === 304 ? noBody : length);
    if (writer === null) return 0;
    const { headerLines } = metadata;
    const start = withChecksums && status === 200 ? 0 : checksumLinesEnd(headerLines);
    const lines = start === 0 ? headerLines : headerLines.subarray(start);
    if (overrides.length === 0 || status === 304) writer.lines(lines);
    else writeOverridden(writer, lines, overrides);
    if (note !== null) writeReport(writer, note);
    if (status === 206) writer.contentRange(first, first + length - 1, metadata.size);
    return writer.end();
  }

  /** Answers with one of S3's errors. A range that can't be satisfied is told how long the object is. */
  answerError(
    exchange: ExchangeId,
    code: ErrorCode,
    resource: string,
    metadata: ObjectMetadata | null,
  ): void {
    const server = this.#server;
    if (code !== 'InvalidRange' || metadata === null) {
      server.answerError(exchange, code, resource);
      return;
    }
    const size = String(metadata.size);
    const details: ErrorDetail[] = [['ActualObjectSize', size]];
    const document = errorXml(code, resource, server.requestId(exchange), details);
    const body = Buffer.from(document, 'latin1');
    const writer = server.beginAnswer(exchange, s3Errors[code].status, body.length);
    if (writer === null) return;
    writer.header('Content-Range', `bytes */${size}`);
    writer.header('Content-Type', 'application/xml');
    server.sendHead(exchange);
    server.sendBody(exchange, body);
    server.finish(exchange);
  }

  /** Answers with the origin's own words: status, headers and document. */
  answerOriginError(exchange: ExchangeId, error: OriginError): void {
    const writer = this.#server.beginAnswer(exchange, error.status, error.body.length);
    if (writer === null) return;
    writer.lines(error.headerLines);
    this.#server.sendHead(exchange);
    this.#server.sendBody(exchange, error.body);
    this.#server.finish(exchange);
  }
}
