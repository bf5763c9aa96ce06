/**
 * The steps of a client read: what the object is, what the conditions and the range say, and what follows when a node
 * brings nothing. The body's own steps are in pieces.ts; client-read.ts has the diagram, gateway.ts says which event takes
 * which step.
 */
import { assert } from '../base/assert.ts';
import type { ObjectMetadata, OriginError, ReadAnswer, ReadFailure } from '../read.ts';
import { resolveRange } from '../s3/byte-range.ts';
import { evaluatePreconditions, noPreconditions } from '../s3/preconditions.ts';
import { nobody, type ClientRead, type OutstandingRead } from './client-read.ts';
import type { GatewayCounters } from './counters.ts';
import type { GatewayEffects } from './effects.ts';
import type { Exchanges } from './exchanges.ts';
import type { Knowledge } from './knowledge.ts';
import type { GatewayLimits } from './limits.ts';
import type { Moment } from './moment.ts';
import type { OutstandingReads } from './outstanding-reads.ts';
import type { Pieces } from './pieces.ts';
import type { Planner } from './plan.ts';
import type { Suspects } from './suspects.ts';

/** What the steps work with: made once by the gateway. */
export interface GatewayParts {
  readonly effects: GatewayEffects;
  readonly moment: Moment;
  readonly knowledge: Knowledge;
  readonly planner: Planner;
  readonly suspects: Suspects;
  readonly reads: OutstandingReads;
  readonly exchanges: Exchanges;
  readonly pieces: Pieces;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
}

export class Stages {
  readonly #parts: GatewayParts;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** From what is known, else through the home. */
  start(client: ClientRead): void {
    const { knowledge, counters, pieces } = this.#parts;
    const known = knowledge.usable(client.asked.hash);
    if (known === null || (needsChecksums(client) && !known.metadata.knowsChecksums)) {
      this.#lookUp(client, nobody);
      return;
    }
    counters.metadataHits += 1;
    client.metadata = known.metadata;
    client.known = known;
    if (!this.#answersFromMetadata(client, known.metadata)) pieces.begin(client);
  }

  /** A node answered, whatever it was. */
  answered(client: ClientRead, read: OutstandingRead, answer: ReadAnswer): void {
    const { planner, suspects, pieces } = this.#parts;
    if (answer.kind === 'failure') {
      this.fail(client, read, answer.failure, answer.error);
      return;
    }
    if (!suspects.isEmpty) suspects.clear(read.nodeId);
    if (answer.hot.remainingMs > 0) planner.learn(read.askedAt, read.request, answer.hot);
    if (read !== client.lookup) {
      if (read.stage === 'asked' && pieces.fits(read, answer)) pieces.answered(client, read);
      else this.#rejectAnswer(client, read, answer);
    } else if (answer.kind === 'metadata' && answer.metadata !== null) {
      this.#learn(client, read, answer, answer.metadata);
    } else {
      this.#rejectAnswer(client, read, answer);
    }
  }

  /** The answer brought nothing. What follows depends on why, and on whether the head is out already. */
  fail(
    client: ClientRead,
    read: OutstandingRead,
    failure: ReadFailure,
    error: OriginError | null,
  ): void {
    const { moment, suspects, counters, exchanges, pieces } = this.#parts;
    if (failure === 'peer' || failure === 'absent') {
      suspects.add(moment.now, read.nodeId);
      this.#askElsewhere(client, read);
      return;
    }
    if (!suspects.isEmpty) suspects.clear(read.nodeId);
    if (failure === 'busy') {
      counters.slowDowns += 1;
      if (client.headSent) {
        pieces.refused(client, read);
        return;
      }
    }
    this.#forgetRead(client, read);
    if (client.headSent) {
      exchanges.abort(client);
      return;
    }
    switch (failure) {
      case 'changed':
        this.#restart(client);
        break;
      case 'uncacheable':
        exchanges.passThrough(client);
        break;
      case 'busy':
        exchanges.answerError(client, 'SlowDown', null);
        break;
      case 'origin':
        if (error === null) exchanges.answerError(client, 'ServiceUnavailable', null);
        else if (isBare(error) && !client.asked.head) this.#explain(client, error);
        else exchanges.answerOriginError(client, error);
    }
  }

  /** No answer came in time: the node counts as gone. */
  timeOut(client: ClientRead, read: OutstandingRead): void {
    const { counters, effects } = this.#parts;
    counters.timeouts += 1;
    effects.cancelRead(read.id);
    this.fail(client, read, 'peer', null);
  }

  /** Asks the home; false when there is nobody left to ask, and the exchange has ended. */
  #lookUp(client: ClientRead, tried: readonly number[]): boolean {
    const { moment, planner, reads, exchanges, knowledge, limits, counters, effects } = this.#parts;
    const { now } = moment;
    const { asked } = client;
    const nodeId = tried.length < limits.maxAttempts ? planner.home(asked.hash, tried) : null;
    if (nodeId === null) {
      exchanges.giveUp(client);
      return false;
    }
    const read = reads.begin(client, nodeId, tried, false);
    client.lookup = read;
    const { request } = read;
    request.kind = 'lookup';
    client.demandedAt = knowledge.demand(now, asked.hash);
    request.confirmedWithinMs =
      client.demandedAt === -Infinity ? Infinity : Math.max(0, now - client.demandedAt);
    request.failedEtag = client.failedEtag;
    request.standsIn = planner.homeIsReplaced(asked.hash, tried, nodeId);
    const wantsBody = !asked.head && asked.conditions === noPreconditions;
    request.bodyLimit = wantsBody ? limits.smallAnswerBytes : 0;
    request.needsChecksums = needsChecksums(client);
    request.rangeKind = asked.range.kind;
    request.first = asked.range.first;
    request.last = asked.range.last;
    counters.lookups += 1;
    effects.sendRead(read.id, nodeId, request);
    return true;
  }

  /** The home's answer: plans the read, and takes body bytes that came along as its first piece. */
  #learn(
    client: ClientRead,
    read: OutstandingRead,
    answer: ReadAnswer,
    metadata: ObjectMetadata,
  ): void {
    const { knowledge, reads, effects, counters, pieces } = this.#parts;
    const { hash } = client.asked;
    const { ageMs, lifetimeMs, bodyLength, bodyFirst } = answer;
    const { askedAt } = read;
    const known = knowledge.learn(hash, metadata, askedAt, client.demandedAt, ageMs, lifetimeMs);
    client.known = known;
    client.metadata = metadata;
    reads.answered(read);
    if (bodyLength === 0) this.#forgetRead(client, read);
    if (this.#answersFromMetadata(client, metadata)) return;
    if (bodyLength === 0) {
      pieces.begin(client);
      return;
    }
    const { first, last } = client.range;
    client.lookup = null;
    if (bodyFirst === first && bodyLength <= last - first + 1) {
      pieces.beginWith(client, read, bodyLength);
      return;
    }
    counters.badAnswers += 1;
    effects.cancelRead(read.id);
    reads.end(read);
    pieces.begin(client);
  }

  /**
   * Conditions, then the range, as S3 orders them. True when that was the whole answer; else the range to serve is set.
   */
  #answersFromMetadata(client: ClientRead, metadata: ObjectMetadata): boolean {
    const { exchanges } = this.#parts;
    const { asked, range } = client;
    if (asked.conditions !== noPreconditions) {
      const lastModified = metadata.lastModified === 0 ? null : metadata.lastModified;
      const result = evaluatePreconditions(asked.conditions, metadata.etag, lastModified);
      if (result === 'preconditionFailed') {
        return this.#answersWithError(client, 'PreconditionFailed', null);
      }
      if (result === 'notModified') {
        exchanges.finishWithHead(client, 304, metadata, 0, 0);
        return true;
      }
    }
    resolveRange(asked.range, metadata.size, range);
    if (range.kind === 'unsatisfiable') {
      return this.#answersWithError(client, 'InvalidRange', metadata);
    }
    const length = range.last - range.first + 1;
    if (!asked.head && length > 0) return false;
    const status = range.kind === 'part' ? 206 : 200;
    exchanges.finishWithHead(client, status, metadata, range.first, length);
    return true;
  }

  #answersWithError(
    client: ClientRead,
    code: 'PreconditionFailed' | 'InvalidRange',
    metadata: ObjectMetadata | null,
  ): true {
    this.#parts.counters.withoutBody += 1;
    this.#parts.exchanges.answerError(client, code, metadata);
    return true;
  }

  /** The node answered something that was never asked: as good as no answer. */
  #rejectAnswer(client: ClientRead, read: OutstandingRead, answer: ReadAnswer): void {
    this.#parts.counters.badAnswers += 1;
    if (answer.bodyLength > 0) this.#parts.effects.cancelRead(read.id);
    this.fail(client, read, 'peer', null);
  }

  #askElsewhere(client: ClientRead, read: OutstandingRead): void {
    const { reads, pieces, counters } = this.#parts;
    if (read !== client.lookup) {
      pieces.failed(client, read);
      return;
    }
    const tried = [...read.tried, read.nodeId];
    client.lookup = null;
    reads.end(read);
    if (this.#lookUp(client, tried)) counters.retries += 1;
  }

  /** The version is gone: everything is asked for anew, through the home. */
  #restart(client: ClientRead): void {
    const { exchanges, knowledge, limits, counters } = this.#parts;
    assert(!client.headSent, 'what was promised is one version');
    exchanges.withdrawReads(client);
    if (client.metadata !== null) {
      client.failedEtag = client.metadata.etag;
      knowledge.metadata.forget(client.asked.hash, client.failedEtag);
      client.metadata = null;
    }
    client.restarts += 1;
    if (client.restarts > limits.maxRestarts) {
      exchanges.passThrough(client);
      return;
    }
    counters.restarts += 1;
    this.#lookUp(client, nobody);
  }

  /**
   * An error without a document, as S3 answers a HEAD: the home may have asked with one for a GET with conditions, or shared
   * one's answer. What is wrong with the request S3 tells the request itself; what is wrong with S3 has a name here.
   */
  #explain(client: ClientRead, { status }: OriginError): void {
    const { exchanges } = this.#parts;
    if (status < 500) exchanges.passThrough(client);
    else exchanges.answerError(client, status === 503 ? 'SlowDown' : 'InternalError', null);
  }

  /** The read is over: nothing of it is to be taken back. */
  #forgetRead(client: ClientRead, read: OutstandingRead): void {
    if (read === client.lookup) client.lookup = null;
    else client.pieces.remove(read);
    this.#parts.reads.end(read);
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
