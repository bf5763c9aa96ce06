// What an operation answers: status, headers and a body that is either small or a stretch of content.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { textFromBytes } from '../byte-string.ts';
import { S3Error } from '../s3-error.ts';
import type { Content } from '../store/content.ts';
import type { Header } from '../store/store.ts';
import { tag, xmlErrorDocument } from '../xml.ts';
import type { S3Request } from './request.ts';

/** Half-open. */
export interface ContentBody {
  readonly content: Content;
  readonly start: number;
  readonly end: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer | ContentBody | null;
}

export function emptyAnswer(status: number, headers: readonly Header[] = []): Answer {
  return { status, headers, body: null };
}

export function xmlAnswer(body: Buffer, headers: readonly Header[] = []): Answer {
  return { status: 200, headers: [['content-type', 'application/xml'], ...headers], body };
}

export function errorAnswer(error: S3Error, request: S3Request | null, requestId: string): Answer {
  const headers: Header[] = [['content-type', 'application/xml'], ...error.headers];
  return {
    status: error.status,
    headers,
    body: request?.method === 'HEAD' ? null : errorBody(error, request, requestId),
  };
}

export function errorBody(error: S3Error, request: S3Request | null, requestId: string): Buffer {
  const key = request?.key ?? null;
  const elements = { ...(key === null ? {} : { Key: textFromBytes(key) }), ...error.elements };
  return xmlErrorDocument(
    tag('Code', error.code),
    tag('Message', error.message),
    ...Object.entries(elements).map(([name, text]) => tag(name, text)),
    ...(request === null ? [] : [tag('Resource', textFromBytes(request.rawPath))]),
    tag('RequestId', requestId),
    tag('HostId', 'memory-s3'),
  );
}

// Unique from process to process by its first half, from request to request by its second.
const processId = randomBytes(4).toString('hex').toUpperCase();
let lastRequest = 0;

export function newRequestId(): string {
  lastRequest = (lastRequest + 1) >>> 0;
  return processId + lastRequest.toString(16).toUpperCase().padStart(8, '0');
}

const maxWriteBytes = 1024 * 1024;

/** How a body is sent: as it should be, or less of it. */
export interface Pace {
  /** Per answer; Infinity for as fast as it goes. */
  readonly bytesPerSecond: number;
  /** Bytes of the body to send before closing; null for all of it. */
  readonly cutAfter: number | null;
  /** Where the body is cut, keep the connection open and silent instead of closing it. */
  readonly stall: boolean;
}

/** Sends an answer. Resolves with the body bytes handed to the socket, also if the client went away. */
export async function send(
  response: ServerResponse,
  answer: Answer,
  requestId: string,
  pace: Pace,
): Promise<number> {
  response.writeHead(answer.status, headerList(answer, requestId));
  if (answer.body === null) {
    response.end();
    return 0;
  }
  if (Buffer.isBuffer(answer.body) && pace.cutAfter === null) {
    response.end(answer.body);
    return answer.body.length;
  }
  const whole = Buffer.isBuffer(answer.body)
    ? [answer.body]
    : answer.body.content.slices(answer.body.start, answer.body.end);
  const sent = await sendSlices(response, whole, pace);
  if (pace.cutAfter === null) response.end();
  else if (!pace.stall) await cutShort(response);
  return sent;
}

function headerList(answer: Answer, requestId: string): string[] {
  const list = ['x-amz-request-id', requestId, 'x-amz-id-2', 'memory-s3', 'server', 'memory-s3'];
  for (const [name, value] of answer.headers) list.push(name, value);
  const { body } = answer;
  if (body !== null) {
    list.push(
      'content-length',
      String(Buffer.isBuffer(body) ? body.length : body.end - body.start),
    );
  }
  return list;
}

async function sendSlices(
  response: ServerResponse,
  slices: Iterable<Buffer>,
  pace: Pace,
): Promise<number> {
  // A paced answer is cut into twenty pieces a second.
  const pieceBytes = Math.max(1, Math.min(maxWriteBytes, Math.ceil(pace.bytesPerSecond / 20)));
  const limit = pace.cutAfter ?? Infinity;
  const started = performance.now();
  let sent = 0;
  for (const slice of slices) {
    for (let at = 0; at < slice.length; at += pieceBytes) {
      if (sent >= limit || response.destroyed) return sent;
      const end = Math.min(slice.length, at + pieceBytes, at + limit - sent);
      const roomLeft = response.write(slice.subarray(at, end));
      sent += end - at;
      if (!roomLeft) await drained(response);
      const dueMs = (sent / pace.bytesPerSecond) * 1000;
      const aheadMs = dueMs - (performance.now() - started);
      if (aheadMs > 1) await pause(response, aheadMs);
    }
  }
  return sent;
}

// What was promised but not sent must reach the client before the connection ends.
async function cutShort(response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  response.flushHeaders();
  await new Promise<void>((resolve) => socket.end(resolve));
  socket.destroy();
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/** Waits, but not for a client that is gone. */
export async function pause(response: ServerResponse, ms: number): Promise<void> {
  if (response.destroyed) return;
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), ms);
  await once(response, 'close', { signal: waiting.signal }).catch(() => undefined);
  clearTimeout(timer);
}
