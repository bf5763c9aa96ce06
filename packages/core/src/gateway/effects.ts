/**
 * What a gateway makes happen. Five rules:
 * 1. Every effect returns void and never throws; outcomes come back later as events.
 * 2. Effects never call the core. The driver acts or queues, and calls events after the current one returned.
 * 3. Arguments are ids, numbers and reusable records; the driver encodes them during the call.
 * 4. One implementation a process, so that call sites stay monomorphic; the simulator has its own.
 * 5. The recorded form for traces is derived from this interface.
 */
import type { ObjectMetadata, OriginError, ReadRequest } from '../read.ts';
import type { ErrorCode } from '../s3/errors.ts';
import type { CachedMetadata } from './metadata-cache.ts';

/** The driver's name for one client request; the core only hands it back. */
export type ExchangeId = number;

/** The gateway's name for one read sent to a node: slot and generation. */
export type ReadId = number;

export interface GatewayEffects {
  /** Sends a read to a member of the ring (by node id). Answered by `onAnswer`, always, unless cancelled. */
  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void;
  /**
   * Nobody waits for this read any more. No event follows for it. Also called for an answer whose body isn't wanted, in place
   * of `relayBody`.
   */
  cancelRead(read: ReadId): void;

  /**
   * Queues the head of an answer that serves an object. status 200: `length` is the size; 206: bytes [first, first + length)
   * of `metadata.size`; 304: no body. `length` body bytes follow by relayBody (none on HEAD). `known` says since when S3
   * describes the object so; it changed `restarts` times while it was being read.
   */
  answerHead(
    exchange: ExchangeId,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
    known: CachedMetadata,
    restarts: number,
  ): void;
  /**
   * Moves the body bytes of an answer that `onAnswer` announced to the client, behind what is queued. `onBodyQueued` follows
   * once the whole body is queued on the client's connection, or `onBodyFailed` when it broke off. Called during the
   * `onAnswer` that announced the body when it is that body's turn, else later: until then the driver holds it, and tells
   * what breaks meanwhile only once it is relayed. One body at a time is relayed to a client.
   */
  relayBody(exchange: ExchangeId, read: ReadId): void;
  /** Asks for one `onTaken` once the client's kernel has taken everything queued so far. */
  awaitTaken(exchange: ExchangeId): void;
  /** The answer is complete: the connection may go on to its next request. */
  finish(exchange: ExchangeId): void;
  /** Promised bytes won't come: cuts the connection so that the client can't take the answer for whole. */
  abort(exchange: ExchangeId): void;

  /** Answers with one of S3's errors, nothing sent before. `metadata` gives 416 its size and 412 nothing. Ends the exchange. */
  answerError(exchange: ExchangeId, code: ErrorCode, metadata: ObjectMetadata | null): void;
  /** Answers with what the origin said. Ends the exchange. */
  answerOriginError(exchange: ExchangeId, error: OriginError): void;
  /** Sends the client's own request to S3, uncached. Ends the exchange for the core. */
  passThrough(exchange: ExchangeId): void;
}
