/** Connections over Node's own sockets: for https endpoints, and for the few requests before a run. */
import { connect as connectPlain, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { OpenWire, Wire, WireOwner } from './wire.ts';

/** `host` is numeric; `serverName` is what a certificate has to show, null for a connection without TLS. */
export function openSocketWire(host: string, port: number, serverName: string | null): OpenWire {
  return (owner) => new SocketWire(owner, host, port, serverName);
}

const ALPNProtocols = ['http/1.1'];

/** An address is no server name; the certificate is then checked against `host`. */
function sniOf(serverName: string): string {
  return isIP(serverName) === 0 ? serverName : '';
}

class SocketWire implements Wire {
  readonly #socket: Socket;
  #owner: WireOwner | null;
  #error = '';

  constructor(owner: WireOwner, host: string, port: number, serverName: string | null) {
    this.#owner = owner;
    const opened = (): void => this.#owner?.onOpen();
    this.#socket =
      serverName === null
        ? connectPlain({ host, port, noDelay: true }, opened)
        : connectTls({ host, port, servername: sniOf(serverName), ALPNProtocols }, opened);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes: Buffer) => this.#owner?.onBytes(bytes, 0, bytes.length));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error = error.code ?? error.message;
    });
    this.#socket.on('close', () => {
      const gone = this.#owner;
      this.#owner = null;
      gone?.onGone(this.#error);
    });
  }

  write(bytes: Buffer, start: number, end: number, asksDrain: boolean): void {
    if (this.#owner === null) return;
    const copy = Buffer.from(bytes.subarray(start, end));
    this.#socket.write(copy, (error) => {
      if (asksDrain && !error) this.#owner?.onDrain();
    });
  }

  destroy(): void {
    this.#owner = null;
    this.#socket.destroy();
  }
}
