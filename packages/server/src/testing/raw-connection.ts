/**
 * A client's connection down to its bytes. It takes nothing from the network until an answer is asked for, so a test that holds an
 * answer back simply doesn't ask: what it leaves unread fills the kernel's buffers and no more.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { HeaderLine } from './sign.ts';

export interface Answer {
  readonly status: number;
  /** In their order, names in lower case. */
  readonly headers: readonly HeaderLine[];
  /** Byte for byte. */
  readonly headerLines: readonly string[];
  readonly body: Buffer;
  /** The connection ended before the promised body did. */
  readonly isCut: boolean;
  readonly header: (name: string) => string;
}

export interface AnswerOptions {
  /** Answers to HEAD have no body, whatever they promise. */
  readonly method?: string;
  /** Takes the body's bytes as they come; they aren't kept then. */
  readonly onBody?: (bytes: Buffer) => void;
  /** Returns once so many bytes of the body were taken, with what came. */
  readonly stopAfter?: number;
}

const noBytes = Buffer.alloc(0);

/** What ends the head of an answer. */
const headEnd = Buffer.from('\r\n\r\n');

export class RawConnection {
  readonly socket: Socket;
  #pending: Buffer[] = [];
  #isEnded = false;
  #wake: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.socket = socket;
    // Cut connections are part of what is tested.
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      this.#pending.push(bytes);
      this.#wake?.();
    });
    socket.on('close', () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    socket.on('end', () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    socket.pause();
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RawConnection> {
    const socket = connect(port, host);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    return new RawConnection(socket);
  }

  /** Reads answers on a connection that somebody else opened. */
  static over(socket: Socket): RawConnection {
    return new RawConnection(socket);
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Whether the other side has closed, once everything it sent is read. */
  async closed(): Promise<void> {
    while (!this.#isEnded) {
      this.#pending = [];
      await this.#more();
    }
  }

  close(): void {
    this.socket.destroy();
  }

  /** Leaves as a client does that dies: with a reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** The next answer on this connection; interim answers (100) are skipped. @throws if the connection ends before its head */
  async answer(options: AnswerOptions = {}): Promise<Answer> {
    for (;;) {
      const { status, headers, headerLines } = await this.#head();
      if (status === 100) continue;
      const parts: Buffer[] = [];
      const take = options.onBody ?? ((bytes: Buffer) => parts.push(bytes));
      const hasBody = options.method !== 'HEAD' && status !== 304 && status !== 204;
      const isWhole = !hasBody || (await this.#body(headers, take, options.stopAfter ?? Infinity));
      return {
        status,
        headers,
        headerLines,
        body: Buffer.concat(parts),
        isCut: !isWhole,
        header: (name) => valueOf(headers, name),
      };
    }
  }

  /** Takes what comes until `length` bytes came or the connection ended. */
  async take(length: number, onBytes: (bytes: Buffer) => void): Promise<boolean> {
    let left = length;
    while (left > 0) {
      const bytes = this.#shift(left);
      if (bytes.length > 0) {
        left -= bytes.length;
        onBytes(bytes);
      } else if (this.#isEnded) return false;
      else await this.#more();
    }
    return true;
  }

  async #body(
    headers: readonly HeaderLine[],
    take: (bytes: Buffer) => void,
    stopAfter: number,
  ): Promise<boolean> {
    if (/chunked/i.test(valueOf(headers, 'transfer-encoding'))) return this.#chunks(take);
    const promised = valueOf(headers, 'content-length');
    const length = promised === '' ? Infinity : Number(promised);
    const isWhole = await this.take(Math.min(length, stopAfter), take);
    return isWhole || length === Infinity;
  }

  async #chunks(take: (bytes: Buffer) => void): Promise<boolean> {
    for (;;) {
      const line = await this.#through(Buffer.from('\r\n'));
      if (line === null) return false;
      const size = Number.parseInt(line.toString('latin1'), 16);
      if (!(await this.take(size, take))) return false;
      if ((await this.#through(Buffer.from('\r\n'))) === null) return false;
      if (size === 0) return true;
    }
  }

  async #head(): Promise<Pick<Answer, 'status' | 'headers' | 'headerLines'>> {
    const text = (await this.#through(headEnd))?.toString('latin1');
    if (text === undefined) throw new Error('the connection ended before an answer');
    const [first = '', ...headerLines] = text.slice(0, -headEnd.length).split('\r\n');
    const headers = headerLines.map((line): HeaderLine => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    });
    return { status: Number(first.split(' ')[1]), headers, headerLines };
  }

  /** Bytes up to and with the mark; null if the connection ends before it. */
  async #through(mark: Buffer): Promise<Buffer | null> {
    for (;;) {
      const joined = Buffer.concat(this.#pending);
      this.#pending = [joined];
      const at = joined.indexOf(mark);
      if (at >= 0) return this.#shift(at + mark.length);
      if (this.#isEnded) return null;
      await this.#more();
    }
  }

  #shift(atMost: number): Buffer {
    const first = this.#pending[0];
    if (first === undefined) return noBytes;
    const taken = first.subarray(0, atMost);
    if (taken.length === first.length) this.#pending.shift();
    else this.#pending[0] = first.subarray(taken.length);
    return taken;
  }

  async #more(): Promise<void> {
    if (this.#isEnded) return;
    const woken = Promise.withResolvers<undefined>();
    this.#wake = () => woken.resolve(undefined);
    this.socket.resume();
    await woken.promise;
    this.socket.pause();
    this.#wake = null;
  }
}

function valueOf(headers: readonly HeaderLine[], name: string): string {
  return headers
    .filter(([one]) => one === name)
    .map(([, value]) => value)
    .join(',');
}

/** A request's bytes. */
export function requestBytes(
  method: string,
  target: string,
  headers: readonly HeaderLine[],
  body: Uint8Array = noBytes,
): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
    body,
  ]);
}
