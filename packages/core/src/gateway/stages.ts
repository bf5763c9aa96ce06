/**
 * The steps of a client read. Each ends by waiting for one event or by ending the exchange; client-read.ts has the
 * diagram, gateway.ts says which event takes which step.
 */
import { assert } from '../base/assert.ts';
import { copyHash128 } from '../base/hash.ts';
import { IdTable } from '../base/id-table.ts';
import { LinkedList } from '../base/linked-list.ts';
import { SlotPool } from '../base/slot-pool.ts';
import type { ObjectMetadata, OriginError, ReadAnswer, ReadFailure } from '../read.ts';
import { resolveRange } from '../s3/byte-range.ts';
import type { ErrorCode } from '../s3/errors.ts';
import { evaluatePreconditions, noPreconditions } from '../s3/preconditions.ts';
import { ClientRead, newOutstandingRead, noRead, type OutstandingRead } from './client-read.ts';
import type { ClientRequest } from './client-request.ts';
import type { GatewayCounters } from './counters.ts';
import type { ExchangeId, GatewayEffects, ReadId } from './effects.ts';
import type { Knowledge } from './knowledge.ts';
import type { GatewayLimits } from './limits.ts';
import type { Planner } from './plan.ts';

export class Stages {
  readonly #effects: GatewayEffects;
  readonly #knowledge: Knowledge;
  readonly #planner: Planner;
  readonly #limits: GatewayLimits;
  readonly #counters: GatewayCounters;
  readonly #clients: SlotPool<ClientRead>;
  readonly #reads: SlotPool<OutstandingRead>;
  readonly #byExchange: IdTable<ClientRead>;
  /** Client reads that wait for an answer. All wait equally long, so the first one's deadline is the earliest. */
  readonly #waiting = new LinkedList<ClientRead>();

  constructor(
    effects: GatewayEffects,
    knowledge: Knowledge,
    planner: Planner,
    limits: GatewayLimits,
    counters: GatewayCounters,
  ) {
    this.#effects = effects;
    this.#knowledge = knowledge;
    this.#planner = planner;
    this.#limits = limits;
    this.#counters = counters;
    this.#clients = new SlotPool(limits.maxReads, () => new ClientRead());
    this.#reads = new SlotPool(limits.maxReads, newOutstandingRead);
    this.#byExchange = new IdTable(limits.maxReads);
  }

  /** Client reads under way. */
  get active(): number {
    return this.#byExchange.size;
  }

  /** Reads that are out. */
  get outstanding(): number {
    return this.#reads.inUse;
  }

  /** When the oldest waiting read runs out, Infinity when none waits. */
  get deadline(): number {
    return this.#waiting.first?.deadline ?? Infinity;
  }

  clientOf(exchange: ExchangeId): ClientRead | null {
    return this.#byExchange.get(exchange);
  }

  /** The client read that waits for this read, null when nobody does any more. */
  clientWaitingFor(read: ReadId): ClientRead | null {
    return this.#reads.get(read)?.client ?? null;
  }

  /** A client read whose deadline has passed, null when there is none. */
  overdue(now: number): ClientRead | null {
    const first = this.#waiting.first;
    return first !== null && first.deadline <= now ? first : null;
  }

  /** Takes a record for the request; null, and the exchange answered, when all are in use. */
  admit(exchange: ExchangeId, request: ClientRequest): ClientRead | null {
    const id = this.#clients.acquire();
    const client = this.#clients.get(id);
    if (client === null) {
      this.#counters.slowDowns += 1;
      this.#effects.answerError(exchange, 'SlowDown', null);
      return null;
    }
    client.begin(id, exchange, request);
    this.#byExchange.set(exchange, client);
    return client;
  }

  /** From what is known, else through the home. */
  start(now: number, client: ClientRead): void {
    const known = this.#knowledge.usable(now, client.asked.hash);
    if (known === null || (needsChecksums(client) && !known.knowsChecksums)) {
      this.#lookUp(now, client);
      return;
    }
    this.#counters.metadataHits += 1;
    client.metadata = known;
    if (!this.#answersFromMetadata(client, known)) this.#askPiece(now, client);
  }

  /** The home's answer: plans the read, and takes body bytes that came along as its first piece. */
  takeMetadata(now: number, client: ClientRead, answer: ReadAnswer): void {
    const { metadata } = answer;
    if (client.stage !== 'lookup' || metadata === null) {
      this.#rejectAnswer(now, client, answer);
      return;
    }
    this.#knowledge.learn(
      now,
      client.asked.hash,
      metadata,
      client.askedAt,
      client.demandedAt,
      answer.ageMs,
      answer.lifetimeMs,
    );
    client.metadata = metadata;
    client.isRetry = false;
    const { read } = client;
    if (answer.bodyLength === 0) this.#endRead(client);
    if (this.#answersFromMetadata(client, metadata)) return;
    const wanted = client.range.last - client.position + 1;
    if (answer.bodyLength === 0) {
      this.#askPiece(now, client);
    } else if (answer.bodyFirst === client.position && answer.bodyLength <= wanted) {
      this.#relay(client, metadata, answer.bodyLength);
    } else {
      this.#counters.badAnswers += 1;
      this.#effects.cancelRead(read);
      this.#endRead(client);
      this.#askPiece(now, client);
    }
  }

  /** An owner's answer: exactly the bytes of the piece. */
  takeBytes(now: number, client: ClientRead, answer: ReadAnswer): void {
    const { request } = this.#reads.get(client.read)!;
    const { metadata } = client;
    if (
      client.stage !== 'piece' ||
      metadata === null ||
      answer.bodyLength !== request.last - request.first + 1
    ) {
      this.#rejectAnswer(now, client, answer);
      return;
    }
    this.#relay(client, metadata, answer.bodyLength);
  }

  /** The piece is queued: the last one ends the exchange, any other waits until the client has taken it. */
  pieceQueued(client: ClientRead): void {
    assert(client.stage === 'relaying', 'only a piece that is relayed gets queued');
    this.#endRead(client);
    this.#counters.bodyBytes += client.pieceEnd - client.position;
    client.position = client.pieceEnd;
    client.isRetry = false;
    if (client.position > client.range.last) {
      const { exchange } = client;
      this.#release(client);
      this.#effects.finish(exchange);
      return;
    }
    client.stage = 'untaken';
    this.#effects.awaitTaken(client.exchange);
  }

  /** The client has room again. */
  nextPiece(now: number, client: ClientRead): void {
    assert(client.stage === 'untaken', 'the next piece is asked for when the last one was taken');
    this.#askPiece(now, client);
  }

  /** The body broke off: what is missing of the piece is fetched once more, elsewhere if there is an elsewhere. */
  pieceBroke(now: number, client: ClientRead, queuedBytes: number): void {
    assert(client.stage === 'relaying', 'only a piece that is relayed breaks off');
    this.#endRead(client);
    this.#counters.bodyBytes += queuedBytes;
    client.position += queuedBytes;
    assert(client.position < client.pieceEnd, 'a piece that broke off misses bytes');
    if (client.isRetry) {
      this.#abort(client);
      return;
    }
    client.isRetry = true;
    this.#counters.retries += 1;
    this.#askPiece(now, client);
  }

  /** The answer brought nothing. What follows depends on why, and on whether the head is out already. */
  fail(now: number, client: ClientRead, failure: ReadFailure, error: OriginError | null): void {
    this.#endRead(client);
    switch (failure) {
      case 'changed':
        this.#restart(now, client);
        return;
      case 'uncacheable':
        if (client.headSent) this.#abort(client);
        else this.#passThrough(client);
        return;
      case 'origin':
        if (client.headSent) this.#abort(client);
        else if (error === null) this.#answerError(client, 'ServiceUnavailable', null);
        else if (isBare(error) && !client.asked.head) this.#explain(client, error);
        else this.#answerOriginError(client, error);
        return;
      case 'busy':
        this.#counters.slowDowns += 1;
        if (client.headSent) this.#retry(now, client);
        else this.#answerError(client, 'SlowDown', null);
        return;
      case 'peer':
        this.#retry(now, client);
    }
  }

  /** No answer came in time: the node counts as gone. */
  timeOut(now: number, client: ClientRead): void {
    this.#counters.timeouts += 1;
    this.#effects.cancelRead(client.read);
    this.fail(now, client, 'peer', null);
  }

  /** The client left: nothing of it stays. */
  forget(client: ClientRead): void {
    if (client.read !== noRead) {
      this.#effects.cancelRead(client.read);
      this.#endRead(client);
    }
    this.#release(client);
  }

  /**
   * Conditions, then the range, as S3 orders them. True when that was the whole answer; else the range to serve is set.
   */
  #answersFromMetadata(client: ClientRead, metadata: ObjectMetadata): boolean {
    const { asked, range } = client;
    if (asked.conditions !== noPreconditions) {
      const lastModified = metadata.lastModified === 0 ? null : metadata.lastModified;
      const result = evaluatePreconditions(asked.conditions, metadata.etag, lastModified);
      if (result === 'preconditionFailed') {
        return this.#answersWithError(client, 'PreconditionFailed', null);
      }
      if (result === 'notModified') return this.#answersWithHead(client, 304, metadata, 0, 0);
    }
    resolveRange(asked.range, metadata.size, range);
    if (range.kind === 'unsatisfiable') {
      return this.#answersWithError(client, 'InvalidRange', metadata);
    }
    client.position = range.first;
    const length = range.last - range.first + 1;
    if (!asked.head && length > 0) return false;
    const status = range.kind === 'part' ? 206 : 200;
    return this.#answersWithHead(client, status, metadata, range.first, length);
  }

  #answersWithError(client: ClientRead, code: ErrorCode, metadata: ObjectMetadata | null): true {
    this.#counters.withoutBody += 1;
    this.#dropBody(client);
    this.#answerError(client, code, metadata);
    return true;
  }

  #answersWithHead(
    client: ClientRead,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
  ): true {
    this.#counters.withoutBody += 1;
    this.#dropBody(client);
    const { exchange } = client;
    this.#release(client);
    this.#effects.answerHead(exchange, status, metadata, first, length);
    this.#effects.finish(exchange);
    return true;
  }

  /** A body that came along with metadata isn't wanted after all. */
  #dropBody(client: ClientRead): void {
    if (client.read === noRead) return;
    this.#effects.cancelRead(client.read);
    this.#endRead(client);
  }

  #lookUp(now: number, client: ClientRead): void {
    const nodeId = this.#planner.home(client.asked.hash, client.isRetry);
    if (nodeId === null) {
      this.#answerError(client, 'ServiceUnavailable', null);
      return;
    }
    const { asked } = client;
    const read = this.#takeRead(now, client, 'lookup');
    const { request } = read;
    client.demandedAt = this.#knowledge.demand(now, asked.hash);
    request.confirmedWithinMs =
      client.demandedAt === -Infinity ? Infinity : Math.max(0, now - client.demandedAt);
    request.failedEtag = client.failedEtag;
    const wantsBody = !asked.head && asked.conditions === noPreconditions;
    request.bodyLimit = wantsBody ? this.#limits.smallAnswerBytes : 0;
    request.needsChecksums = needsChecksums(client);
    request.rangeKind = asked.range.kind;
    request.first = asked.range.first;
    request.last = asked.range.last;
    this.#counters.lookups += 1;
    this.#effects.sendRead(client.read, nodeId, request);
  }

  #askPiece(now: number, client: ClientRead): void {
    const { metadata, asked } = client;
    assert(metadata !== null, 'pieces are asked for by version');
    const { hash } = asked;
    const nodeId = this.#planner.owner(hash, metadata.size, client.position, client.isRetry);
    if (nodeId === null) {
      this.#giveUp(client);
      return;
    }
    const { request } = this.#takeRead(now, client, 'piece');
    request.first = client.position;
    request.last = this.#planner.pieceLast(client.position, client.range.last);
    request.partLast = this.#planner.partLast(metadata.size, client.position, client.range.last);
    copyHash128(metadata.version, request.version);
    request.etag = metadata.etag;
    request.size = metadata.size;
    this.#counters.pieces += 1;
    this.#effects.sendRead(client.read, nodeId, request);
  }

  #takeRead(now: number, client: ClientRead, stage: 'lookup' | 'piece'): OutstandingRead {
    assert(client.read === noRead, 'a client read has one read out at most');
    client.read = this.#reads.acquire();
    const read = this.#reads.get(client.read);
    assert(read !== null, 'there is a read for every client read');
    read.client = client;
    client.stage = stage;
    client.askedAt = now;
    client.deadline = now + this.#limits.readTimeoutMs;
    this.#waiting.append(client);
    const { request } = read;
    const { asked } = client;
    request.kind = stage === 'lookup' ? 'lookup' : 'blocks';
    request.bucket = asked.bucket;
    request.key = asked.key;
    copyHash128(asked.hash, request.hash);
    return read;
  }

  #relay(client: ClientRead, metadata: ObjectMetadata, length: number): void {
    this.#waiting.remove(client);
    client.stage = 'relaying';
    client.pieceEnd = client.position + length;
    if (!client.headSent) {
      client.headSent = true;
      const { first, last, kind } = client.range;
      const status = kind === 'part' ? 206 : 200;
      this.#effects.answerHead(client.exchange, status, metadata, first, last - first + 1);
    }
    this.#effects.relayBody(client.exchange, client.read);
  }

  /** The node answered something that was never asked: as good as no answer. */
  #rejectAnswer(now: number, client: ClientRead, answer: ReadAnswer): void {
    this.#counters.badAnswers += 1;
    if (answer.bodyLength > 0) this.#effects.cancelRead(client.read);
    this.fail(now, client, 'peer', null);
  }

  #restart(now: number, client: ClientRead): void {
    if (client.headSent) {
      this.#abort(client);
      return;
    }
    if (client.metadata !== null) {
      client.failedEtag = client.metadata.etag;
      this.#knowledge.metadata.forget(client.asked.hash, client.failedEtag);
      client.metadata = null;
    }
    client.restarts += 1;
    client.isRetry = false;
    if (client.restarts > this.#limits.maxRestarts) {
      this.#passThrough(client);
      return;
    }
    this.#counters.restarts += 1;
    this.#lookUp(now, client);
  }

  /** Once more at the next candidate, if the ring has one. */
  #retry(now: number, client: ClientRead): void {
    if (client.isRetry || !this.#planner.hasCandidates) {
      this.#giveUp(client);
      return;
    }
    client.isRetry = true;
    this.#counters.retries += 1;
    if (client.metadata === null) this.#lookUp(now, client);
    else this.#askPiece(now, client);
  }

  #giveUp(client: ClientRead): void {
    if (client.headSent) this.#abort(client);
    else this.#answerError(client, 'ServiceUnavailable', null);
  }

  #answerError(client: ClientRead, code: ErrorCode, metadata: ObjectMetadata | null): void {
    const { exchange } = client;
    this.#release(client);
    this.#effects.answerError(exchange, code, metadata);
  }

  /**
   * An error without a document, as S3 answers a HEAD: the home may have asked with one for a GET with conditions, or shared
   * one's answer. What is wrong with the request S3 tells the request itself; what is wrong with S3 has a name here.
   */
  #explain(client: ClientRead, { status }: OriginError): void {
    if (status < 500) this.#passThrough(client);
    else this.#answerError(client, status === 503 ? 'SlowDown' : 'InternalError', null);
  }

  #answerOriginError(client: ClientRead, error: OriginError): void {
    const { exchange } = client;
    this.#release(client);
    this.#effects.answerOriginError(exchange, error);
  }

  #passThrough(client: ClientRead): void {
    const { exchange } = client;
    this.#counters.passThroughs += 1;
    this.#release(client);
    this.#effects.passThrough(exchange);
  }

  #abort(client: ClientRead): void {
    const { exchange } = client;
    this.#counters.aborts += 1;
    this.#release(client);
    this.#effects.abort(exchange);
  }

  #endRead(client: ClientRead): void {
    if (client.list !== null) this.#waiting.remove(client);
    this.#reads.get(client.read)!.client = null;
    this.#reads.release(client.read);
    client.read = noRead;
  }

  #release(client: ClientRead): void {
    assert(client.read === noRead, 'a client read ends with no read out');
    client.metadata = null;
    this.#byExchange.delete(client.exchange);
    this.#clients.release(client.id);
  }
}

/** An error as S3 answers a HEAD: nothing but its status. */
function isBare({ code, body }: OriginError): boolean {
  return code === '' && body.length === 0;
}

/** S3 tells checksums with whole objects only. */
function needsChecksums({ asked }: ClientRead): boolean {
  return asked.wantsChecksums && asked.range.kind === 'none';
}
