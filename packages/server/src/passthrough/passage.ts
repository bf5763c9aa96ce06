/**
 * One request of a client on its way through to the origin, and the answer on its way back.
 *
 *   start ─▶ body: checked and written as it comes ─▶ its end ─▶ head ─▶ answer at the client's pace ─▶ over
 *     │        (DeleteObjects: collected, read, every key authorised, written anew)
 *     └─ refused, body wrong: the origin's request is aborted and an S3 error answered · client gone: aborted
 *
 * | what happens | function |
 * | the client's body comes, ends, the client leaves | receive, receivedAll, clientGone |
 * | the origin answers, breaks off, has room | onHead, onBody, onEnd, onFailed, onDrain |
 *
 * For every key that the request writes, `onWriteStarted` comes before anything is sent and `onWriteFinished` before the
 * client can know how it ended. Until the body's end was handed on an aborted write has surely failed; afterwards nobody knows.
 */
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import { s3Errors } from '@s3-accelerator/core/s3/errors.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { refusedOperations } from '../auth/operation.ts';
import { newBodyVerifier } from '../auth/body-verifier.ts';
import type { BodyExpectation, BodyVerifier } from '../auth/body-verifier.ts';
import type { ExchangeId } from '../http/exchange.ts';
import type { HttpServer } from '../http/http-server.ts';
import { CheckedBody } from './checked-body.ts';
import { ClientAnswer } from './client-answer.ts';
import type { AnswerTokens } from './client-answer.ts';
import { DeleteBody } from './delete-body.ts';
import type { ForwardPort, ForwardRequest, ForwardSink, Forwarding } from './forward.ts';
import { HeldAnswer } from './held-answer.ts';
import { BucketList } from './list-buckets.ts';
import { prepareForward } from './passed-request.ts';
import type { MadeSuccess, PassedRequest, PreparedForward } from './passed-request.ts';
import { outcomeOfStatus, speaksInBody, writesKey } from './write-outcome.ts';

export interface WriteHooks {
  /** A write of the key is about to be sent. */
  onWriteStarted(bucket: string, key: string): void;
  /** Comes once for each start. */
  onWriteFinished(bucket: string, key: string, outcome: WriteOutcome): void;
}

/** What all passages share. */
export interface PassageContext {
  readonly server: HttpServer;
  readonly port: ForwardPort;
  readonly hooks: WriteHooks;
  readonly tokens: AnswerTokens;
  /** The passage is over and may be forgotten. */
  over(exchange: ExchangeId): void;
}

export class Passage implements ForwardSink {
  readonly #context: PassageContext;
  readonly #exchange: ExchangeId;
  readonly #passed: PassedRequest;
  readonly #expected: BodyExpectation;
  readonly #answer: ClientAnswer;
  #forwarding: Forwarding | null = null;
  #body: CheckedBody | null = null;
  #deletes: DeleteBody | null = null;
  #bodyIsPaused = false;
  /** The body's end was handed on: from here on the origin may commit it. */
  #bodyIsWhole = false;
  /** Keys that the request writes and that haven't been told the outcome yet. */
  #writing: readonly string[] = [];
  /** The answer's body while it is kept back: where it has the last word, and where it is filtered. */
  #held: HeldAnswer | null = null;
  #buckets: BucketList | null = null;
  /** The answer was made here: what the origin's has for a body is dropped. */
  #isMade = false;
  #isOver = false;

  constructor(
    context: PassageContext,
    exchange: ExchangeId,
    passed: PassedRequest,
    expected: BodyExpectation,
  ) {
    this.#context = context;
    this.#exchange = exchange;
    this.#passed = passed;
    this.#expected = expected;
    const { server, tokens } = context;
    this.#answer = new ClientAnswer(server, exchange, tokens, passed.isReported, () =>
      this.#forwarding?.resume(),
    );
  }

  start(): void {
    const { operation } = this.#passed;
    // Whoever hands requests over has asked already. What must never reach an origin is asked about here too.
    if (refusedOperations.has(operation)) {
      this.#refuse('NotImplemented');
      return;
    }
    // A POST on a bucket is a form, which comes in by browser-upload/, or nothing.
    if (operation === 'PostObject') {
      this.#refuse('MalformedPOSTRequest');
      return;
    }
    const prepared = prepareForward(this.#passed);
    if (typeof prepared === 'string') {
      this.#refuse(prepared);
      return;
    }
    const made = newBodyVerifier(this.#expected);
    const error = made.ok ? this.#begin(prepared, made.verifier) : made.code;
    if (error === null) this.#context.server.readBody(this.#exchange);
    else this.#refuse(error);
  }

  #begin(prepared: PreparedForward, verifier: BodyVerifier): ErrorCode | null {
    const { request, length, trailer } = prepared;
    const { operation, key, method, grants } = this.#passed;
    if (operation === 'DeleteObjects') {
      if (!DeleteBody.fits(length)) return 'MalformedXML';
      const deletes = new DeleteBody(request, grants);
      this.#deletes = deletes;
      this.#body = new CheckedBody(verifier, length, '', (bytes) => {
        deletes.push(bytes);
        return true;
      });
      return null;
    }
    this.#forward(request, key !== '' && writesKey(operation, method) ? [key] : []);
    this.#body = new CheckedBody(verifier, length, trailer, (bytes) => {
      return this.#forwarding?.write(bytes) ?? true;
    });
    return null;
  }

  receive(bytes: Uint8Array): void {
    const body = this.#body;
    if (this.#isOver || body === null) return;
    const error = body.push(bytes);
    if (error !== null) {
      this.#refuse(error);
    } else if (!body.hasRoom && !this.#bodyIsPaused) {
      this.#bodyIsPaused = true;
      this.#context.server.pauseBody(this.#exchange);
    }
  }

  receivedAll(): void {
    if (this.#isOver || this.#body === null) return;
    const error = this.#body.end() ?? this.#sendDelete();
    if (error !== null) {
      this.#refuse(error);
      return;
    }
    this.#bodyIsWhole = true;
    this.#forwarding?.end();
  }

  /** What the request turned out to be isn't right: answers so, and lets nothing be committed. */
  refuse(code: ErrorCode): void {
    if (!this.#isOver) this.#refuse(code);
  }

  clientGone(): void {
    if (this.#isOver) return;
    this.#forwarding?.abort();
    this.#finishWrites(this.#outcomeOfBreak());
    this.#leave();
  }

  onHead(status: number, headers: string[]): void {
    const { method, operation } = this.#passed;
    if (status === 200 && speaksInBody(operation)) this.#held = new HeldAnswer();
    else this.#finishWrites(outcomeOfStatus(status));
    if (status === 200 && operation === 'ListBuckets') {
      this.#buckets = new BucketList(status, headers);
    } else if (status === 200 && this.#passed.success !== null) {
      this.#answerMade(this.#passed.success, headers);
    } else {
      this.#answer.begin(method, status, headers);
    }
  }

  onBody(bytes: Uint8Array): void {
    if (this.#isMade) return;
    if (this.#buckets !== null) {
      if (!this.#buckets.push(bytes)) this.#refuse('InternalError');
      return;
    }
    const now = this.#held === null ? bytes : this.#held.push(bytes);
    if (now !== null && !this.#answer.send(now)) this.#forwarding?.pause();
    if (this.#held?.isTooLong === true) this.#letGo(this.#held, 'unknown');
  }

  onEnd(): void {
    if (this.#buckets !== null) {
      this.#answerBuckets(this.#buckets);
      return;
    }
    if (this.#held !== null) this.#letGo(this.#held, this.#held.outcome());
    this.#answer.finish();
    this.#leave();
  }

  onFailed(error: { code: string; message: string }): void {
    this.#finishWrites(this.#outcomeOfBreak());
    const code = error.code in s3Errors ? (error.code as ErrorCode) : 'InternalError';
    this.#endBadly(code, error.message);
  }

  onDrain(): void {
    this.#body?.drained();
    if (!this.#bodyIsPaused) return;
    this.#bodyIsPaused = false;
    this.#context.server.resumeBody(this.#exchange);
  }

  #forward(request: ForwardRequest, keys: readonly string[]): void {
    const { hooks, port } = this.#context;
    this.#writing = keys;
    for (const key of keys) hooks.onWriteStarted(request.bucket, key);
    this.#forwarding = port.forward(request, this);
  }

  /** The body of DeleteObjects is whole: sends its own in its place. */
  #sendDelete(): ErrorCode | null {
    if (this.#deletes === null) return null;
    const deletes = this.#deletes.finish();
    if (typeof deletes === 'string') return deletes;
    this.#forward(deletes.request, deletes.keys);
    this.#forwarding?.write(deletes.body);
    return null;
  }

  /** Sends what was held back, now that the writes' outcome is known to the cache. */
  #letGo(held: HeldAnswer, outcome: WriteOutcome): void {
    this.#finishWrites(outcome);
    this.#held = null;
    this.#answer.send(held.rest());
  }

  #answerBuckets(buckets: BucketList): void {
    const { grants, method } = this.#passed;
    const document = buckets.filtered((bucket) => grants.touches(bucket));
    if (document === null) {
      this.#refuse('InternalError');
      return;
    }
    this.#answer.begin(method, buckets.status, buckets.headers, document.length);
    this.#answer.send(document);
    this.#answer.finish();
    this.#leave();
  }

  #answerMade(success: MadeSuccess, fromOrigin: readonly string[]): void {
    this.#isMade = true;
    const { status, headers, body } = success.answer(fromOrigin);
    this.#answer.begin(
      this.#passed.method,
      status,
      headers,
      status === 204 ? undefined : body.length,
    );
    this.#answer.send(body);
  }

  #outcomeOfBreak(): WriteOutcome {
    return this.#bodyIsWhole ? 'unknown' : 'failed';
  }

  #finishWrites(outcome: WriteOutcome): void {
    const keys = this.#writing;
    this.#writing = [];
    const { hooks } = this.#context;
    for (const key of keys) hooks.onWriteFinished(this.#passed.bucket, key, outcome);
  }

  /** The request, its body or its answer is wrong. */
  #refuse(code: ErrorCode): void {
    this.#forwarding?.abort();
    this.#finishWrites(this.#outcomeOfBreak());
    this.#endBadly(code, '');
  }

  #endBadly(code: ErrorCode, reason: string): void {
    if (this.#answer.begun) this.#answer.cut();
    else this.#answer.fail(code, splitTarget(this.#passed.target).path, reason);
    this.#leave();
  }

  #leave(): void {
    this.#isOver = true;
    this.#context.over(this.#exchange);
  }
}
