/**
 * The reactor as the rest of the program sees it: connections with owners, commands as methods.
 *
 * Everything that happens on a connection reaches its owner through one of the owner's methods, inside of a batch;
 * commands may be given from anywhere. Those given outside of a batch (a timer, a promise) leave in a microtask.
 *
 * Invariants
 *  - Nothing is allocated for an event or a command. Owners sit in a plain array by the connection's slot.
 *  - Bytes in `input` are valid until the batch ends, bytes reserved in `output` until their command was executed.
 *  - An exception in an owner is a bug and ends the process: it is never swallowed here.
 */
import { getSystemErrorName } from 'node:util';

import { FileWork } from './file-work.ts';
import {
  Arena,
  CommandType,
  EventType,
  Stat,
  commandStride,
  eventStride,
  native,
  statCount,
} from './native.ts';
import type { NativeReactor, ReactorLimits } from './native.ts';

/** Names one connection for its whole life and nothing afterwards. */
export type ConnectionId = number & { readonly __connection: unique symbol };
/** Names one listening socket. */
export type ListenerId = number & { readonly __listener: unique symbol };

/** What happens on a connection. Called from a batch; see native.ts for the meaning of each event. */
export interface ConnectionOwner {
  onConnected(id: ConnectionId, errno: number): void;
  /** `length` bytes at `start` of the input arena, valid until the batch ends: retain what isn't used. */
  onReceived(id: ConnectionId, start: number, length: number): void;
  onEnded(id: ConnectionId): void;
  onClosed(id: ConnectionId, reason: number, errno: number): void;
  onRelayed(id: ConnectionId, token: number, status: number, missing: number): void;
  onSent(id: ConnectionId, token: number, errno: number): void;
}

export interface ReactorOptions extends Partial<ReactorLimits> {
  /** Size of the input arena. */
  readonly inputBytes?: number;
  /** Size of the output arena; the largest head that can be reserved. */
  readonly outputBytes?: number;
  /** Events of one batch. */
  readonly maxEvents?: number;
  /** Commands that wait for execution at most; more are executed early. */
  readonly maxCommands?: number;
}

/** What the reactor counts, by name. */
export type ReactorStats = Readonly<Record<keyof typeof Stat, number>>;

/** A system call of the reactor failed: `code` is the errno's name, as in Node's own errors. */
export class ReactorError extends Error {
  readonly code: string;
  readonly errno: number;

  constructor(what: string, errno: number) {
    const code = getSystemErrorName(-errno);
    super(`${what}: ${code}`);
    this.name = 'ReactorError';
    this.code = code;
    this.errno = errno;
  }
}

const defaultLimits: ReactorLimits = {
  maxConnections: 16384,
  receiveBytes: 65536,
  maxPipes: 512,
  pipeBytes: 1048576,
  maxRounds: 4,
  readThreads: 4,
  writeThreads: 2,
  syncThreads: 2,
};

const indexMask = (1 << 18) - 1;
const twoTo32 = 4294967296;

/** Owns connections whose events nobody waits for. */
export const nobody: ConnectionOwner = {
  onConnected: () => undefined,
  onReceived: () => undefined,
  onEnded: () => undefined,
  onClosed: () => undefined,
  onRelayed: () => undefined,
  onSent: () => undefined,
};

export class Reactor {
  readonly input: Uint8Array;
  readonly output: Uint8Array;
  /** The same memory as Buffers, for latin1Slice, utf8Write and their like. */
  readonly inputBuffer: Buffer;
  readonly outputBuffer: Buffer;
  /** What its threads do with files. */
  readonly files: FileWork;
  /**
   * Runs after all events of a batch were dispatched, and before commands that were given outside of a batch leave:
   * drivers flush their queues here.
   */
  onBatchEnd: (() => void) | null = null;

  readonly #native: NativeReactor;
  readonly #events: Int32Array;
  readonly #commands: Int32Array;
  readonly #maxCommands: number;
  readonly #owners: ConnectionOwner[] = [];
  readonly #ids: number[] = [];
  readonly #accepts = new Map<number, (id: ConnectionId) => ConnectionOwner>();
  readonly #figures = new Float64Array(statCount);
  /** Where the unused part of the output arena begins. */
  #outputEnd = 0;
  #inBatch = false;
  #scheduled = false;
  #closed = false;

  constructor(options: ReactorOptions = {}) {
    const { inputBytes = 8 << 20, outputBytes = 4 << 20, maxEvents = 4096 } = options;
    this.#maxCommands = options.maxCommands ?? 16384;
    this.inputBuffer = Buffer.from(new ArrayBuffer(inputBytes));
    this.outputBuffer = Buffer.from(new ArrayBuffer(outputBytes));
    this.input = new Uint8Array(this.inputBuffer.buffer, this.inputBuffer.byteOffset, inputBytes);
    this.output = new Uint8Array(
      this.outputBuffer.buffer,
      this.outputBuffer.byteOffset,
      outputBytes,
    );
    this.#events = new Int32Array(maxEvents * eventStride);
    this.#commands = new Int32Array((this.#maxCommands + 1) * commandStride);
    this.#native = native.createReactor(
      (count) => {
        this.#dispatch(count);
      },
      this.input,
      this.output,
      this.#events,
      this.#commands,
      { ...defaultLimits, ...options },
    );
    this.files = new FileWork(this.#native);
  }

  /**
   * Listens on a numeric address; port 0 lets the kernel pick. `accept` gives each new connection its owner.
   * Throws ReactorError (EADDRINUSE, EACCES, EINVAL for a host that is no address, …).
   */
  listen(
    host: string,
    port: number,
    backlog: number,
    accept: (id: ConnectionId) => ConnectionOwner,
  ): { readonly listener: ListenerId; readonly port: number } {
    const listener = this.#native.listen(host, port, backlog);
    if (listener < 0) throw new ReactorError(`listen ${host}:${port}`, -listener);
    this.#accepts.set(listener, accept);
    return { listener: listener as ListenerId, port: this.#native.localPort(listener) };
  }

  stopListening(listener: ListenerId): void {
    this.#native.stopListening(listener);
    this.#accepts.delete(listener);
  }

  /** Starts connecting to a numeric address; the owner hears `onConnected`. Throws ReactorError. */
  connect(host: string, port: number, owner: ConnectionOwner): ConnectionId {
    const id = this.#native.connect(host, port);
    if (id < 0) throw new ReactorError(`connect ${host}:${port}`, -id);
    this.#own(id, owner);
    return id as ConnectionId;
  }

  /** Numeric address and port of the peer, '' when the connection is gone. */
  peerAddress(id: ConnectionId): string {
    return this.#native.peerAddress(id);
  }

  /** TCP_RTO_MIN_US and TCP_DELACK_MAX_US in microseconds, 0 leaves one alone. Returns errno. */
  setTcpTimers(id: ConnectionId, rtoMinUs: number, delackMaxUs: number): number {
    return this.#native.setTcpTimers(id, rtoMinUs, delackMaxUs);
  }

  /** Sizes of the kernel's buffers in bytes, 0 leaves one alone. Returns errno. */
  setBuffers(id: ConnectionId, sendBytes: number, receiveBytes: number): number {
    return this.#native.setBuffers(id, sendBytes, receiveBytes);
  }

  /**
   * Room for `bytes` in the output arena; returns its offset. Render there, `commit` how much was used, then `write`.
   * May execute waiting commands to make room. Throws RangeError when the arena is smaller than that.
   */
  reserve(bytes: number): number {
    if (this.#outputEnd + bytes > this.output.length) {
      if (bytes > this.output.length) {
        throw new RangeError(
          `${bytes} bytes don't fit into an output arena of ${this.output.length}`,
        );
      }
      this.#submit();
    }
    return this.#outputEnd;
  }

  /** Keeps the first `length` bytes of what was reserved. */
  commit(length: number): void {
    this.#outputEnd += length;
  }

  /** Queues bytes of an arena. `token` ≠ 0 comes back through `onSent`. */
  write(
    id: ConnectionId,
    arena: number,
    offset: number,
    length: number,
    token = 0,
    flags = 0,
  ): void {
    const at = this.#row(CommandType.write, id);
    const commands = this.#commands;
    commands[at + 2] = arena;
    commands[at + 3] = offset;
    commands[at + 4] = length;
    commands[at + 5] = token;
    commands[at + 6] = flags;
  }

  /** Queues any bytes, of any length. They are copied, unless they were received in this batch: then they are sent from there. */
  writeBytes(id: ConnectionId, bytes: Uint8Array, token = 0, flags = 0): void {
    if (this.#inBatch && bytes.buffer === this.input.buffer) {
      const offset = bytes.byteOffset - this.input.byteOffset;
      this.write(id, Arena.input, offset, bytes.length, token, flags);
      return;
    }
    let sent = 0;
    do {
      const length = Math.min(bytes.length - sent, this.output.length);
      const offset = this.reserve(length);
      this.output.set(
        length === bytes.length ? bytes : bytes.subarray(sent, sent + length),
        offset,
      );
      this.commit(length);
      sent += length;
      const last = sent === bytes.length;
      this.write(id, Arena.output, offset, length, last ? token : 0, last ? flags : 0);
    } while (sent < bytes.length);
  }

  /** Queues a head from the output arena and a file's range behind it. */
  sendFile(
    id: ConnectionId,
    headOffset: number,
    headLength: number,
    descriptor: number,
    fileOffset: number,
    length: number,
    token = 0,
    flags = 0,
  ): void {
    const at = this.#row(CommandType.sendFile, id);
    const commands = this.#commands;
    commands[at + 2] = headOffset;
    commands[at + 3] = headLength;
    commands[at + 4] = descriptor;
    commands[at + 5] = fileOffset | 0;
    commands[at + 6] = Math.floor(fileOffset / twoTo32);
    commands[at + 7] = length;
    commands[at + 8] = token;
    commands[at + 9] = flags;
  }

  /** Passes the next `length` bytes that arrive on `from` on to `to`; `to` 0 drops them. */
  relay(from: ConnectionId, to: ConnectionId | 0, length: number, token: number, flags = 0): void {
    const at = this.#row(CommandType.relay, from);
    const commands = this.#commands;
    commands[at + 2] = to;
    commands[at + 3] = length | 0;
    commands[at + 4] = Math.floor(length / twoTo32);
    commands[at + 5] = token;
    commands[at + 6] = flags;
  }

  /** Puts bytes of the input arena before the next ones that this connection receives. */
  retain(id: ConnectionId, start: number, length: number): void {
    const at = this.#row(CommandType.retain, id);
    this.#commands[at + 2] = start;
    this.#commands[at + 3] = length;
  }

  /** `onSent` with this token once the kernel took everything queued so far. */
  mark(id: ConnectionId, token: number, flags = 0): void {
    const at = this.#row(CommandType.mark, id);
    this.#commands[at + 2] = token;
    this.#commands[at + 3] = flags;
  }

  pause(id: ConnectionId): void {
    this.#row(CommandType.pause, id);
  }

  resume(id: ConnectionId): void {
    this.#row(CommandType.resume, id);
  }

  /** Half-closes after everything queued was sent. */
  shutdown(id: ConnectionId): void {
    this.#row(CommandType.shutdown, id);
  }

  /** Closes after everything queued was sent; `onClosed` follows. */
  close(id: ConnectionId): void {
    const at = this.#row(CommandType.close, id);
    this.#commands[at + 2] = 0;
  }

  /** Closes at once with a reset; `onClosed` follows. */
  reset(id: ConnectionId): void {
    const at = this.#row(CommandType.close, id);
    this.#commands[at + 2] = 1;
  }

  /** Closes the connection when no byte moves in either direction for this long; 0 never. */
  deadline(id: ConnectionId, milliseconds: number): void {
    const at = this.#row(CommandType.deadline, id);
    this.#commands[at + 2] = milliseconds;
  }

  /**
   * At most so many bytes come with one `onReceived` of this connection; 0 means the reactor's `receiveBytes`. Set to the
   * size of a head, it leaves the body in the kernel for a relay. Throws (at execution) beyond `receiveBytes`.
   */
  receiveLimit(id: ConnectionId, bytes: number): void {
    const at = this.#row(CommandType.receiveLimit, id);
    this.#commands[at + 2] = bytes;
  }

  /** Makes `onBatchEnd` run soon, for whoever queued something without giving a command. */
  schedule(): void {
    if (this.#inBatch || this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (this.#closed) return;
      this.onBatchEnd?.();
      this.#submit();
    });
  }

  stats(): ReactorStats {
    const figures = this.#figures;
    this.#native.stats(figures);
    const named: Record<string, number> = {};
    for (const [name, position] of Object.entries(Stat)) named[name] = figures[position]!;
    return named as unknown as ReactorStats;
  }

  /** Closes everything at once, connections, listeners, threads. Nothing comes back after this. */
  stop(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
  }

  #own(id: number, owner: ConnectionOwner): void {
    this.#owners[id & indexMask] = owner;
    this.#ids[id & indexMask] = id;
  }

  /** Begins a command; returns where its fields are. */
  #row(type: number, id: number): number {
    const commands = this.#commands;
    if (commands[0]! >= this.#maxCommands) this.#submit();
    const count = commands[0]! + 1;
    commands[0] = count;
    const at = count * commandStride;
    commands[at] = type;
    commands[at + 1] = id;
    if (!this.#inBatch && !this.#scheduled) this.schedule();
    return at;
  }

  #submit(): void {
    if (this.#commands[0]! > 0) this.#native.submit();
    this.#outputEnd = 0;
  }

  #dispatch(count: number): void {
    this.#inBatch = true;
    // What was given before has been executed, unless it still waits for its microtask.
    if (this.#commands[0] === 0) this.#outputEnd = 0;
    const events = this.#events;
    try {
      for (let at = 0, end = count * eventStride; at < end; at += eventStride)
        this.#event(at, events);
      this.onBatchEnd?.();
    } finally {
      this.#inBatch = false;
    }
  }

  #event(at: number, events: Int32Array): void {
    const id = events[at + 1]! as ConnectionId;
    const a = events[at + 2]!;
    const b = events[at + 3]!;
    const type = events[at]!;
    if (type === EventType.disk) {
      this.files.owner?.onDisk(a, b, events[at + 4]!, events[at + 5]! >>> 0);
      return;
    }
    if (type === EventType.accepted) {
      this.#accept(id, a);
      return;
    }
    if (this.#ids[id & indexMask] !== id) return;
    const owner = this.#owners[id & indexMask]!;
    if (type === EventType.received) owner.onReceived(id, a, b);
    else if (type === EventType.sent) owner.onSent(id, a, b);
    else if (type === EventType.relayed) {
      const missing = (events[at + 4]! >>> 0) + (events[at + 5]! >>> 0) * twoTo32;
      owner.onRelayed(id, a, b, missing);
    } else if (type === EventType.ended) owner.onEnded(id);
    else if (type === EventType.closed) owner.onClosed(id, a, b);
    else owner.onConnected(id, a);
  }

  #accept(id: ConnectionId, listener: number): void {
    this.#own(id, nobody);
    const accept = this.#accepts.get(listener);
    if (accept === undefined) {
      // It was accepted just before its listener stopped.
      this.reset(id);
    } else {
      this.#owners[id & indexMask] = accept(id);
    }
  }
}
