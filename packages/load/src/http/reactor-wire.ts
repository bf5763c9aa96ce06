/** Plain connections over the native reactor: the cheap way, for http endpoints. */
import { getSystemErrorName } from 'node:util';
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import type { ConnectionId, ConnectionOwner, Reactor } from '@s3-accelerator/native/reactor.ts';
import { ReactorError } from '@s3-accelerator/native/reactor.ts';
import type { OpenWire, Wire, WireOwner } from './wire.ts';

const drainToken = 1;

/** `host` is numeric. */
export function openReactorWire(reactor: Reactor, host: string, port: number): OpenWire {
  return (owner) => new ReactorWire(reactor, host, port, owner);
}

const neverOpened = -1 as ConnectionId;

class ReactorWire implements Wire, ConnectionOwner {
  readonly #reactor: Reactor;
  readonly #id: ConnectionId;
  /** Null once the owner has heard the last. */
  #owner: WireOwner | null;

  constructor(reactor: Reactor, host: string, port: number, owner: WireOwner) {
    this.#reactor = reactor;
    this.#owner = owner;
    this.#id = this.#connect(host, port);
  }

  #connect(host: string, port: number): ConnectionId {
    try {
      return this.#reactor.connect(host, port, this);
    } catch (error) {
      if (!(error instanceof ReactorError)) throw error;
      // Such as no descriptor being free: told later, like every other end.
      queueMicrotask(() => this.#gone(error.code));
      return neverOpened;
    }
  }

  write(bytes: Buffer, start: number, end: number, asksDrain: boolean): void {
    if (this.#owner === null) return;
    const piece = bytes.subarray(start, end);
    if (asksDrain) this.#reactor.writeBytes(this.#id, piece, drainToken, CommandFlag.eager);
    else this.#reactor.writeBytes(this.#id, piece);
  }

  destroy(): void {
    if (this.#owner === null) return;
    this.#owner = null;
    if (this.#id !== neverOpened) this.#reactor.reset(this.#id);
  }

  onConnected(_id: ConnectionId, errno: number): void {
    if (errno === 0) this.#owner?.onOpen();
    else this.#gone(getSystemErrorName(-errno));
  }

  onReceived(_id: ConnectionId, start: number, length: number): void {
    this.#owner?.onBytes(this.#reactor.inputBuffer, start, start + length);
  }

  onSent(_id: ConnectionId, _token: number, errno: number): void {
    if (errno === 0) this.#owner?.onDrain();
  }

  onEnded(id: ConnectionId): void {
    if (this.#owner === null) return;
    this.#reactor.close(id);
    this.#gone('');
  }

  onClosed(_id: ConnectionId, _reason: number, errno: number): void {
    this.#gone(errno === 0 ? '' : getSystemErrorName(-errno));
  }

  onRelayed(): void {
    throw new Error('the load generator relays nothing');
  }

  #gone(error: string): void {
    const owner = this.#owner;
    this.#owner = null;
    owner?.onGone(error);
  }
}
