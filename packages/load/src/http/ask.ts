/** One request on a connection of its own, for what has to be known or done before a run. */
import type { Endpoint } from '../plan/plan.ts';
import { AnswerReader } from './answer-reader.ts';
import type { ServerAddress } from './address.ts';
import type { HeadParts } from './request-writer.ts';
import { RequestWriter, maxHeadBytes } from './request-writer.ts';
import { openSocketWire } from './socket-wire.ts';

export interface ShortAnswer {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: Buffer;
}

/** The connection failed, or what came was no answer: `message` says which. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

const timeoutMs = 10_000;

/** Sends a request without a body and waits for its whole answer, 10 s at most. Throws NoAnswer. */
export function ask(
  endpoint: Endpoint,
  address: ServerAddress,
  parts: HeadParts,
): Promise<ShortAnswer> {
  const { host, port, serverName } = address;
  const { promise, resolve, reject } = Promise.withResolvers<ShortAnswer>();
  const head = Buffer.alloc(maxHeadBytes);
  const length = new RequestWriter(endpoint).write(head, parts, Date.now());
  const pieces: Buffer[] = [];
  let status = 0;
  let answerHead = '';
  const reader = new AnswerReader({
    onHead: (code, _bytes, text) => {
      status = code;
      answerHead = text;
    },
    onBody: (bytes, start, end) => pieces.push(Buffer.from(bytes.subarray(start, end))),
    onEnd: () => resolve({ status, head: answerHead, body: Buffer.concat(pieces) }),
  });
  const wire = openSocketWire(
    host,
    port,
    serverName,
  )({
    onOpen: () => {
      reader.expect(parts.method !== 'HEAD');
      wire.write(head, 0, length, false);
    },
    onBytes: (bytes, start, end) => {
      const fault = reader.feed(bytes, start, end);
      if (fault !== '') reject(new NoAnswer(fault));
    },
    onDrain: () => undefined,
    onGone: (error) => {
      if (!reader.sourceEnded()) reject(new NoAnswer(error || 'the connection was closed'));
    },
  });
  const timer = setTimeout(
    () => reject(new NoAnswer(`nothing came within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  return promise.finally(() => {
    clearTimeout(timer);
    wire.destroy();
  });
}
