/**
 * One keep-alive connection of the load client: sends a request, counts its answer, sends the next. It checks the status, the
 * length and the count of bytes; the bodies themselves are compared by the tests, not here.
 */
import type { ConnectionId, ConnectionOwner, Reactor } from '@s3-accelerator/native/reactor.ts';

/** Where the connections of a run get their requests and leave their samples. */
export interface RunLedger {
  /** The next request's bytes, or null when the run is over. */
  next(): Buffer | null;
  readonly bodyBytes: number;
  firstByte(milliseconds: number): void;
  answered(): void;
  failed(what: string): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const lengthName = /\r\ncontent-length: *(\d+)/i;

export class ClientConnection implements ConnectionOwner {
  readonly #reactor: Reactor;
  readonly #ledger: RunLedger;
  readonly #input: Buffer;
  #sentAt = 0;
  /** Body bytes still to come; -1 while the head is awaited. */
  #left = -1;
  #open = true;

  constructor(reactor: Reactor, ledger: RunLedger) {
    this.#reactor = reactor;
    this.#ledger = ledger;
    this.#input = Buffer.from(reactor.input.buffer, reactor.input.byteOffset, reactor.input.length);
  }

  onConnected(id: ConnectionId, errno: number): void {
    if (errno !== 0) {
      this.#ledger.failed(`connect: errno ${errno}`);
      return;
    }
    this.#send(id);
  }

  #send(id: ConnectionId): void {
    const request = this.#ledger.next();
    if (request === null) {
      this.#open = false;
      this.#reactor.close(id);
      return;
    }
    this.#left = -1;
    this.#sentAt = performance.now();
    this.#reactor.writeBytes(id, request);
  }

  onReceived(id: ConnectionId, start: number, length: number): void {
    let position = start;
    const end = start + length;
    if (this.#left < 0) {
      const found = this.#input.subarray(position, end).indexOf(headEnd);
      if (found < 0) {
        this.#reactor.retain(id, start, length);
        return;
      }
      this.#ledger.firstByte(performance.now() - this.#sentAt);
      const head = this.#input.toString('latin1', position, position + found + 2);
      const ok = head.startsWith('HTTP/1.1 20');
      const bytes = Number(lengthName.exec(head)?.[1] ?? -1);
      if (!ok || bytes !== this.#ledger.bodyBytes) {
        this.#ledger.failed(head.slice(0, 200));
        this.#open = false;
        this.#reactor.reset(id);
        return;
      }
      this.#left = bytes;
      position += found + headEnd.length;
    }
    this.#left -= end - position;
    if (this.#left > 0) return;
    if (this.#left < 0) this.#ledger.failed('more bytes than the answer promised');
    this.#ledger.answered();
    this.#send(id);
  }

  onEnded(id: ConnectionId): void {
    if (this.#open) this.#ledger.failed('the server closed the connection');
    this.#open = false;
    this.#reactor.close(id);
  }

  onClosed(): void {
    if (this.#open) this.#ledger.failed('the connection broke');
    this.#open = false;
  }

  onRelayed(): void {
    throw new Error('the load client relays nothing');
  }

  onSent(): void {
    throw new Error('the load client asks for no tokens');
  }
}
