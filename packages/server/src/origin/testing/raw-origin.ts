/**
 * An origin for tests at the level of bytes: it shows a test each request exactly as it came and sends back whatever the
 * test writes, so that odd, short, slow and broken answers can be played.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** One request as it arrived: its head as binary text, and the socket to answer on. */
export interface RawRequest {
  /** Request line and headers without the empty line. */
  readonly head: string;
  readonly socket: Socket;
  /** Body bytes received so far. */
  body: Buffer;
  /** Connections and requests counted from 1. */
  readonly connection: number;
  readonly number: number;
}

/** Called once a request's head and its whole body (by Content-Length) are there, or at the head with `atHead`. */
export type RawScript = (request: RawRequest) => void;

export class RawOrigin {
  readonly requests: RawRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #script: RawScript;
  readonly #atHead: boolean;
  connections = 0;

  private constructor(script: RawScript, atHead: boolean) {
    this.#script = script;
    this.#atHead = atHead;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(script: RawScript, atHead = false): Promise<RawOrigin> {
    const origin = new RawOrigin(script, atHead);
    origin.#server.listen(0, '127.0.0.1');
    await once(origin.#server, 'listening');
    return origin;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    const connection = ++this.connections;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Tests break connections on purpose.
    socket.on('error', () => undefined);
    let pending = Buffer.alloc(0);
    let current: RawRequest | null = null;
    let bodyLeft = 0;
    socket.on('data', (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      for (;;) {
        if (current === null) {
          const end = pending.indexOf('\r\n\r\n');
          if (end < 0) return;
          const head = pending.toString('latin1', 0, end);
          pending = pending.subarray(end + 4);
          bodyLeft = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
          const number = this.requests.length + 1;
          current = { head, socket, body: Buffer.alloc(0), connection, number };
          this.requests.push(current);
          if (this.#atHead) this.#script(current);
        }
        const part = pending.subarray(0, bodyLeft);
        current.body = Buffer.concat([current.body, part]);
        bodyLeft -= part.length;
        pending = pending.subarray(part.length);
        if (bodyLeft > 0) return;
        const whole = current;
        current = null;
        if (!this.#atHead) this.#script(whole);
      }
    });
  }
}

/** An answer of the given head lines and body, with its Content-Length. */
export function answer(statusLine: string, headers: readonly string[], body: string): string {
  const lines = [`HTTP/1.1 ${statusLine}`, ...headers, `Content-Length: ${body.length}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
