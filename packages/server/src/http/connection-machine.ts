/**
 * What moves a client connection from one stage to the next: bytes, the end of an answer, time.
 *
 * | stage | on | goes to | function |
 * | idle | a complete head | exchange | head |
 * | idle | a bad head, or one that takes too long | exchange, answered at once | refuse |
 * | exchange | bytes, while the body is read | exchange | body |
 * | exchange | broken framing | exchange, answered or cut | breakOff |
 * | exchange | answer finished | idle, draining, lingering, closed | settle |
 * | draining | the body's last byte | idle | body, settle |
 * | lingering | the client's end, too much, too long | closed | ended, received, sweep |
 *
 * The handler is called from `feed`, `closed` and `goneThenCut` only, and never while one of the server's methods runs:
 * those set the stage and leave the rest to the loop in `feed`, at once or in a microtask.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { ConnectionId, Reactor } from '@s3-accelerator/native/reactor.ts';
import type { ClientConnection, ConnectionEvents } from './client-connection.ts';
import { exchangeId, type HttpHandler } from './exchange.ts';
import { RequestHead } from './request-head.ts';
import type { RequestIds } from './request-ids.ts';
import { RequestParser } from './request-parser.ts';
import type { ServerLimits } from './server-limits.ts';

const nothing = Buffer.alloc(0);

/** Counted since the server began. */
export interface ServerCounters {
  accepted: number;
  refusedConnections: number;
  requests: number;
  badRequests: number;
  headTimeouts: number;
  aborted: number;
  bodyBytesReceived: number;
  /** By `sendBody`; what drivers queue on connections themselves, they count themselves. */
  bodyBytesSent: number;
}

/** What the machine asks of the server around it. */
export interface MachinePort {
  /** The server is shutting down: connections end with their current exchange. */
  isClosing(): boolean;
  /** Answers the current exchange with an error and finishes it. */
  refuse(connection: ClientConnection, code: ErrorCode): void;
  /** The connection is gone; its record may be used again. */
  released(connection: ClientConnection): void;
}

export class ConnectionMachine implements ConnectionEvents {
  readonly #reactor: Reactor;
  readonly #handler: HttpHandler;
  readonly #limits: ServerLimits;
  readonly #ids: RequestIds;
  readonly #counters: ServerCounters;
  readonly #port: MachinePort;
  readonly #parser = new RequestParser(new RequestHead());
  #ready: ClientConnection[] = [];

  constructor(
    reactor: Reactor,
    handler: HttpHandler,
    limits: ServerLimits,
    ids: RequestIds,
    counters: ServerCounters,
    port: MachinePort,
  ) {
    this.#reactor = reactor;
    this.#handler = handler;
    this.#limits = limits;
    this.#ids = ids;
    this.#counters = counters;
    this.#port = port;
  }

  sent(connection: ClientConnection, token: number, errno: number): void {
    this.#handler.onSent(connection.exchange, token, errno);
  }

  received(connection: ClientConnection, start: number, length: number): void {
    if (connection.stage === 'closed') return;
    if (connection.stage === 'lingering') {
      connection.lingerBytes += length;
      if (connection.lingerBytes > this.#limits.maxLingerBytes) this.cut(connection);
      return;
    }
    const { input, inputBuffer } = this.#reactor;
    const end = start + length;
    if (connection.pendingLength > 0) {
      connection.keep(input, start, end);
      this.#goOn(connection);
      return;
    }
    const at = this.#feed(connection, input, inputBuffer, start, end);
    if (at < end) connection.keep(input, at, end);
    this.#afterFeeding(connection);
  }

  /** Works off the bytes that were kept, as far as they go. */
  #goOn(connection: ClientConnection): void {
    const { pending, pendingLength } = connection;
    if (pending === null) this.#feed(connection, nothing, nothing, 0, 0);
    else {
      const at = this.#feed(connection, pending, pending, 0, pendingLength);
      // Closing has dropped everything already.
      if (connection.pending === pending) connection.drop(at);
    }
    this.#afterFeeding(connection);
  }

  /** Goes on with a connection outside of the caller's stack. */
  goOnLater(connection: ClientConnection): void {
    if (connection.feeding || connection.isQueued) return;
    connection.isQueued = true;
    if (this.#ready.push(connection) > 1) return;
    queueMicrotask(() => {
      const ready = this.#ready;
      this.#ready = [];
      for (const next of ready) {
        next.isQueued = false;
        if (next.stage !== 'closed' && next.stage !== 'lingering') this.#goOn(next);
      }
    });
  }

  /** Feeds bytes to the connection's state machine; returns the position of the first that it can't take yet. */
  #feed(
    connection: ClientConnection,
    bytes: Uint8Array,
    text: Buffer,
    start: number,
    end: number,
  ): number {
    let at = start;
    connection.feeding = true;
    for (;;) {
      if (connection.stage === 'idle') {
        if (at === end) break;
        const next = this.#head(connection, bytes, text, at, end);
        if (next === at) break;
        at = next;
      } else if (connection.stage === 'exchange' || connection.stage === 'draining') {
        if (connection.answer === 'finished' && connection.stage === 'exchange') {
          this.settle(connection);
          continue;
        }
        if (connection.stage === 'exchange' && connection.body !== 'reading') break;
        const next = this.#body(connection, bytes, at, end);
        if (next === at && connection.body !== 'complete') break;
        at = next;
      } else {
        // Closed, or lingering: whatever else was sent isn't looked at.
        at = end;
        break;
      }
    }
    connection.feeding = false;
    return at;
  }

  #head(
    connection: ClientConnection,
    bytes: Uint8Array,
    text: Buffer,
    start: number,
    end: number,
  ): number {
    const { head } = this.#parser;
    const result = this.#parser.parse(bytes, text, start, end, connection.progress);
    if (result === 'incomplete') {
      if (connection.headSince === 0) connection.headSince = performance.now();
      return start;
    }
    connection.resetHead();
    connection.generation += 1;
    connection.exchange = exchangeId(connection.slot, connection.generation);
    connection.request = this.#ids.next();
    connection.stage = 'exchange';
    connection.answer = 'none';
    if (result === 'bad') {
      this.#refuse(connection, head.error);
      return end;
    }
    this.#counters.requests += 1;
    connection.framing = head.framing;
    connection.bodyLeft = head.contentLength;
    connection.body = head.framing === 'none' ? 'complete' : 'waiting';
    if (head.framing === 'chunked') connection.chunks.reset();
    connection.expectsContinue = head.expectContinue;
    connection.isHead = head.method === 'HEAD';
    connection.http10 = head.minorVersion === 0;
    connection.keepAlive = head.keepAlive;
    connection.sweepsWaited = 0;
    const next = head.end;
    this.#handler.onRequest(connection.exchange, head);
    return next;
  }

  /** Answers a head that can't be understood, and ends the connection: what follows it can't be told from a body. */
  #refuse(connection: ClientConnection, code: ErrorCode): void {
    this.#counters.badRequests += 1;
    connection.framing = 'length';
    connection.bodyLeft = Infinity;
    connection.body = 'waiting';
    connection.expectsContinue = false;
    connection.isHead = false;
    connection.http10 = false;
    connection.keepAlive = false;
    this.#port.refuse(connection, code);
  }

  /** Feeds bytes of a body that is being read or drained; returns the position of the first that it didn't take. */
  #body(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    if (connection.framing === 'chunked') {
      at = connection.chunks.push(bytes, start, end, (from, to) =>
        this.#bodyBytes(connection, bytes, from, to),
      );
      // The handler may have ended the exchange in the meantime.
      if (connection.stage === 'closed') return end;
      if (at < 0) {
        this.#breakOff(connection);
        return end;
      }
      if (!connection.chunks.done) return at;
    } else {
      const take = Math.min(connection.bodyLeft, end - start);
      connection.bodyLeft -= take;
      at += take;
      if (take > 0) this.#bodyBytes(connection, bytes, start, at);
      if (connection.bodyLeft > 0) return at;
    }
    if (connection.stage === 'closed') return end;
    connection.body = 'complete';
    if (connection.isAnswering) this.#handler.onBodyEnd(connection.exchange);
    else if (connection.stage === 'draining') this.settle(connection);
    return at;
  }

  #bodyBytes(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): void {
    if (!connection.isAnswering) return;
    this.#counters.bodyBytesReceived += end - start;
    this.#handler.onBody(connection.exchange, bytes.subarray(start, end));
  }

  /** The body's framing is broken: the exchange can't go on, and neither can the connection. */
  #breakOff(connection: ClientConnection): void {
    const { exchange, answer } = connection;
    connection.keepAlive = false;
    if (!connection.isAnswering || answer !== 'none') {
      if (connection.isAnswering) this.goneThenCut(connection);
      else this.cut(connection);
      return;
    }
    this.#handler.onGone(exchange);
    // The handler has let go of it; the number is still good to answer with.
    this.#counters.badRequests += 1;
    connection.body = 'waiting';
    connection.bodyLeft = Infinity;
    this.#port.refuse(connection, 'BadRequest');
  }

  /** The answer is finished: decides what becomes of the connection. */
  settle(connection: ClientConnection): void {
    if (!connection.keepAlive) {
      if (connection.body === 'complete') this.closeGently(connection);
      else this.#linger(connection);
      return;
    }
    if (connection.body !== 'complete') {
      connection.stage = 'draining';
    } else {
      connection.stage = 'idle';
      if (this.#port.isClosing() && connection.pendingLength === 0) {
        this.closeGently(connection);
        return;
      }
      this.deadline(connection, this.#limits.keepAliveMs);
    }
    if (!connection.feeding) {
      if (connection.pendingLength > 0) this.goOnLater(connection);
      else this.#afterFeeding(connection);
    }
  }

  /** Starts or stops receiving, depending on whether more bytes could be used now. */
  #afterFeeding(connection: ClientConnection): void {
    const { stage } = connection;
    if (stage === 'closed' || stage === 'lingering') return;
    const wantsBytes = stage !== 'exchange' || connection.body === 'reading';
    if (!wantsBytes) {
      if (connection.pendingLength > this.#limits.maxPendingBytes) {
        if (connection.isAnswering) this.goneThenCut(connection);
        else this.cut(connection);
      } else if (connection.pendingLength > 0) {
        this.pauseReceiving(connection);
      }
      return;
    }
    if (connection.receiveIsPaused) {
      connection.receiveIsPaused = false;
      this.#reactor.resume(connection.id);
    }
    if (!connection.ended) return;
    // Nothing more comes, and what was kept has been worked off as far as it goes.
    if (connection.isAnswering) this.goneThenCut(connection);
    else this.closeGently(connection);
  }

  pauseReceiving(connection: ClientConnection): void {
    if (connection.receiveIsPaused) return;
    connection.receiveIsPaused = true;
    this.#reactor.pause(connection.id);
  }

  /** Sets how long the connection may stay without progress; 0 for ever. */
  deadline(connection: ClientConnection, milliseconds: number): void {
    if (connection.deadlineMs === milliseconds) return;
    connection.deadlineMs = milliseconds;
    this.#reactor.deadline(connection.id, milliseconds);
  }

  ended(connection: ClientConnection): void {
    connection.ended = true;
    connection.endedAt = performance.now();
    if (connection.stage === 'lingering') this.closeGently(connection);
    else this.#afterFeeding(connection);
  }

  closed(connection: ClientConnection): void {
    const wasAnswering = connection.isAnswering;
    const { exchange } = connection;
    connection.stage = 'closed';
    connection.pending = null;
    connection.pendingLength = 0;
    connection.id = 0 as ConnectionId;
    if (wasAnswering) this.#handler.onGone(exchange);
    this.#port.released(connection);
  }

  /** Closes once everything queued was sent. */
  closeGently(connection: ClientConnection): void {
    connection.stage = 'closed';
    connection.drop(connection.pendingLength);
    this.deadline(connection, this.#limits.bodyIdleMs);
    this.#reactor.close(connection.id);
  }

  /** Half-closes and reads on for a while: closing on unread bytes would destroy the answer on its way. */
  #linger(connection: ClientConnection): void {
    connection.stage = 'lingering';
    connection.drop(connection.pendingLength);
    connection.lingerBytes = 0;
    connection.lingerUntil = performance.now() + this.#limits.lingerMs;
    this.#reactor.shutdown(connection.id);
    if (connection.receiveIsPaused) {
      connection.receiveIsPaused = false;
      this.#reactor.resume(connection.id);
    }
    if (connection.ended) this.closeGently(connection);
  }

  cut(connection: ClientConnection): void {
    connection.stage = 'closed';
    connection.drop(connection.pendingLength);
    this.#reactor.reset(connection.id);
  }

  goneThenCut(connection: ClientConnection): void {
    const { exchange } = connection;
    this.cut(connection);
    this.#handler.onGone(exchange);
  }

  /** Looks at the times of all connections. */
  sweep(connections: readonly ClientConnection[], nowMs: number): void {
    for (const connection of connections) {
      switch (connection.stage) {
        case 'idle':
          if (connection.headSince > 0 && nowMs - connection.headSince > this.#limits.headMs) {
            this.#timeOutHead(connection);
          }
          break;
        case 'exchange':
          this.#sweepExchange(connection, nowMs);
          break;
        case 'lingering':
          if (nowMs > connection.lingerUntil) this.cut(connection);
          break;
        case 'draining':
        case 'closed':
          break;
      }
    }
  }

  #timeOutHead(connection: ClientConnection): void {
    this.#counters.headTimeouts += 1;
    connection.resetHead();
    connection.generation += 1;
    connection.exchange = exchangeId(connection.slot, connection.generation);
    connection.request = this.#ids.next();
    connection.stage = 'exchange';
    connection.answer = 'none';
    this.#refuse(connection, 'RequestTimeout');
  }

  /** A client that waits for us isn't idle, however long that takes. */
  #sweepExchange(connection: ClientConnection, nowMs: number): void {
    const waitsForUs = connection.answer === 'none' && connection.body !== 'reading';
    if (!waitsForUs) {
      connection.sweepsWaited = 0;
      return;
    }
    if (connection.ended && nowMs - connection.endedAt > this.#limits.halfClosedMs) {
      this.goneThenCut(connection);
      return;
    }
    connection.sweepsWaited += 1;
    if (connection.sweepsWaited === 2) this.deadline(connection, 0);
  }
}
