/**
 * Where every request comes in: checks who sent it and whether they may, then lets the cache answer it or passes it on.
 *
 * Each request is authenticated and authorised on its own, hit or miss, before anything else looks at it.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { parseRange } from '@s3-accelerator/core/s3/byte-range.ts';
import { newClientRequest } from '@s3-accelerator/core/gateway/client-request.ts';
import {
  bucketOfHost,
  parseCopySource,
  parsePath,
  type Resource,
  type ResourceResult,
} from '@s3-accelerator/core/s3/object-key.ts';
import { noPreconditions, type Preconditions } from '@s3-accelerator/core/s3/preconditions.ts';
import {
  noParameters,
  parseQuery,
  queryValue,
  type QueryParameter,
} from '@s3-accelerator/core/s3/query.ts';
import { bodyExpectation } from '../auth/body-verifier.ts';
import { authorize, GrantSet } from '../auth/grants.ts';
import { operationOf, refusedOperations, type Operation } from '../auth/operation.ts';
import type { SigV4 } from '../auth/sigv4.ts';
import type { ClientDirectory, LookupOutcome } from '../metadata-client/client-directory.ts';
import { lookupErrors } from '../metadata-client/lookup-errors.ts';
import type { BrowserUploads } from '../browser-upload/browser-uploads.ts';
import { slotMask, type ExchangeId, type HttpHandler } from '../http/exchange.ts';
import { HeaderSlot } from '../http/header-slots.ts';
import type { HttpServer } from '../http/http-server.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ObjectHash } from '../object-hash.ts';
import type { PassThrough } from '../passthrough/pass-through.ts';
import { wantsDebug } from './cache-report.ts';
import { isCacheable } from './cacheable.ts';
import { isReadToken, type GatewayDriver } from './gateway-driver.ts';
import { noOverrides, overridesOf } from './response-overrides.ts';
import { SavedHeads } from './saved-heads.ts';

/** The parts of a gateway that a request meets, set once all of them exist. */
export interface RouterParts {
  readonly server: HttpServer;
  readonly sigv4: SigV4;
  readonly driver: GatewayDriver;
  readonly passThrough: PassThrough;
  readonly uploads: BrowserUploads;
  readonly hash: ObjectHash;
  /** Where clients are looked up that the check doesn't know; null without a metadata service. */
  readonly directory: ClientDirectory | null;
  /** Host names below which the Host header names the bucket, in lower case. */
  readonly domains: readonly string[];
  /** Every answer says how the cache took part in it, not only those of requests that ask. */
  readonly debugHeaders: boolean;
  /** Counts an answer: called once for each request, when its status is known. */
  readonly count: (operation: Operation | 'none', status: number) => void;
}

const conditionSlots = [
  HeaderSlot['if-match'],
  HeaderSlot['if-none-match'],
  HeaderSlot['if-modified-since'],
  HeaderSlot['if-unmodified-since'],
] as const;

function conditionsOf(head: RequestHead): Preconditions {
  if (!conditionSlots.some((slot) => head.has(slot))) return noPreconditions;
  return {
    ifMatch: head.header(HeaderSlot['if-match']),
    ifNoneMatch: head.header(HeaderSlot['if-none-match']),
    ifModifiedSince: head.header(HeaderSlot['if-modified-since']),
    ifUnmodifiedSince: head.header(HeaderSlot['if-unmodified-since']),
  };
}

/** The bucket that the Host header names; null in path style. The parser holds an absolute target's authority against Host. */
function hostBucketOf(head: RequestHead, domains: readonly string[]): string | null {
  if (domains.length === 0) return null;
  const host = head.header(HeaderSlot.host);
  return host === null ? null : bucketOfHost(host, domains);
}

function resourceOf({ domains }: RouterParts, head: RequestHead): ResourceResult {
  return parsePath(head.path(), hostBucketOf(head, domains));
}

/** Of a request whose client isn't known yet. */
const noGrants = new GrantSet([]);

export class RequestRouter implements HttpHandler {
  #parts: RouterParts | null = null;
  readonly #request = newClientRequest();
  readonly #saved = new SavedHeads();
  /** The operation of the latest request on each connection slot, for counting its answer. */
  readonly #operations: (Operation | 'none')[] = [];
  /** The request that is being routed right now. */
  #current: ExchangeId | -1 = -1;
  #currentHead: RequestHead | null = null;
  #currentGrants: GrantSet | null = null;

  /** Hands over the parts, which need the router to be built. */
  connect(parts: RouterParts): void {
    this.#parts = parts;
  }

  onRequest(exchange: ExchangeId, head: RequestHead): void {
    this.#operations[exchange & slotMask] = 'none';
    const parts = this.#connected();
    const { sigv4, server, uploads } = parts;
    if (uploads.takes(head)) {
      const error = this.#upload(parts, exchange, head);
      if (error !== null) server.answerError(exchange, error, head.path());
      return;
    }
    const refusal = sigv4.check(head, Date.now());
    if (refusal === 'InvalidAccessKeyId' && this.#awaitsClient(parts, exchange, head)) return;
    this.#checked(parts, exchange, head, refusal);
  }

  #checked(
    parts: RouterParts,
    exchange: ExchangeId,
    head: RequestHead,
    refusal: ErrorCode | null,
  ): void {
    const { server, sigv4 } = parts;
    if (refusal === null) this.#accepted(parts, exchange, head);
    else server.answerError(exchange, refusal, head.path(), sigv4.details);
  }

  #accepted(parts: RouterParts, exchange: ExchangeId, head: RequestHead): void {
    const { server, sigv4 } = parts;
    const { client } = sigv4;
    if (client === null) throw new Error('an accepted request has a client');
    this.#current = exchange;
    this.#currentHead = head;
    this.#currentGrants = client.grants;
    const error = this.#route(parts, exchange, head, client.grants);
    this.#current = -1;
    if (error !== null) server.answerError(exchange, error, head.path());
  }

  /** Looks up who sent a request. False when nobody knows, and the request is refused; else it goes on from here. */
  #awaitsClient(parts: RouterParts, exchange: ExchangeId, head: RequestHead): boolean {
    const { directory, sigv4 } = parts;
    if (directory === null || sigv4.unknown === null) return false;
    const outcome = directory.lookup(sigv4.unknown, (later) => {
      // The client may be gone, and its connection another's.
      const saved = parts.server.connectionOf(exchange) === null ? null : this.#headOf(exchange);
      if (saved === null) return;
      this.#lookedUp(parts, exchange, saved.head, later);
      parts.driver.drain();
    });
    if (outcome === null) this.#saved.save(exchange, head, noGrants);
    else this.#lookedUp(parts, exchange, head, outcome);
    return true;
  }

  #lookedUp(
    parts: RouterParts,
    exchange: ExchangeId,
    head: RequestHead,
    outcome: LookupOutcome,
  ): void {
    if (outcome !== 'known') {
      parts.server.answerError(exchange, lookupErrors[outcome], head.path());
      return;
    }
    // Checked again, and not looked up again.
    this.#checked(parts, exchange, head, parts.sigv4.check(head, Date.now()));
  }

  onBody(exchange: ExchangeId, bytes: Uint8Array): void {
    const { passThrough, uploads } = this.#connected();
    if (!uploads.onBody(exchange, bytes)) passThrough.onBody(exchange, bytes);
  }

  onBodyEnd(exchange: ExchangeId): void {
    const { passThrough, uploads } = this.#connected();
    if (!uploads.onBodyEnd(exchange)) passThrough.onBodyEnd(exchange);
  }

  onGone(exchange: ExchangeId): void {
    const { driver, passThrough, uploads } = this.#connected();
    driver.onGone(exchange);
    uploads.onGone(exchange);
    passThrough.onGone(exchange);
  }

  onSent(exchange: ExchangeId, token: number, errno: number): void {
    const { driver, passThrough } = this.#connected();
    if (isReadToken(token)) driver.onSent(exchange, token, errno);
    else passThrough.onSent(token, errno);
  }

  /** Tells the metrics what an exchange was answered with. */
  onAnswer(exchange: ExchangeId, status: number): void {
    this.#connected().count(this.#operations[exchange & slotMask] ?? 'none', status);
  }

  /** Sends a read that the cache can't answer to S3 after all. */
  passThroughRead(exchange: ExchangeId): void {
    const known = this.#headOf(exchange);
    if (known === null) throw new Error('the head of an open read is known');
    const { head, grants } = known;
    const parts = this.#connected();
    const parsed = resourceOf(parts, head);
    const parameters = parseQuery(head.query());
    if (!parsed.ok || parameters === null) throw new Error('an accepted request parses again');
    const operation = head.method === 'HEAD' ? 'HeadObject' : 'GetObject';
    this.#pass(parts, exchange, head, grants, operation, parsed.resource, parameters);
  }

  /** The raw path that an open exchange asked for. */
  resourceOf(exchange: ExchangeId): string {
    return this.#headOf(exchange)?.head.path() ?? '/';
  }

  #connected(): RouterParts {
    if (this.#parts === null) throw new Error('the router is connected before the server listens');
    return this.#parts;
  }

  #headOf(exchange: ExchangeId): { head: RequestHead; grants: GrantSet } | null {
    if (exchange !== this.#current) return this.#saved.load(exchange);
    if (this.#currentHead === null || this.#currentGrants === null) return null;
    return { head: this.#currentHead, grants: this.#currentGrants };
  }

  /** Null when the request is on its way, else the error to answer with. */
  #route(
    parts: RouterParts,
    exchange: ExchangeId,
    head: RequestHead,
    grants: GrantSet,
  ): ErrorCode | null {
    const parsed = resourceOf(parts, head);
    if (!parsed.ok) return parsed.code;
    const { resource } = parsed;
    const parameters = this.#parametersOf(parts, head);
    if (parameters === null) return 'InvalidURI';
    const source = head.header(HeaderSlot['x-amz-copy-source']);
    const operation = operationOf(head.method, resource, parameters, source !== null);
    if (operation === null) return 'MethodNotAllowed';
    this.#operations[exchange & slotMask] = operation;
    const denied = authorize(grants, {
      operation,
      resource,
      prefix: parameters.length === 0 ? '' : (queryValue(parameters, 'prefix') ?? ''),
      copySource: source === null ? null : parseCopySource(source),
    });
    if (denied !== null) return denied;
    if (refusedOperations.has(operation)) return 'NotImplemented';
    if (isCacheable(operation, head, parameters))
      this.#read(parts, exchange, head, grants, resource, parameters);
    else this.#pass(parts, exchange, head, grants, operation, resource, parameters);
    return null;
  }

  /** A browser's form: it is authorised by what it says inside. */
  #upload(parts: RouterParts, exchange: ExchangeId, head: RequestHead): ErrorCode | null {
    const parsed = resourceOf(parts, head);
    if (!parsed.ok) return parsed.code;
    const { bucket, key } = parsed.resource;
    if (bucket === '' || key !== '') return 'MethodNotAllowed';
    this.#operations[exchange & slotMask] = 'PostObject';
    return parts.uploads.start(exchange, head, bucket, parts.debugHeaders || wantsDebug(head));
  }

  #parametersOf({ sigv4 }: RouterParts, head: RequestHead): readonly QueryParameter[] | null {
    if (head.pathEnd === head.targetEnd) return noParameters;
    return sigv4.parameters ?? parseQuery(head.query());
  }

  #read(
    { debugHeaders, driver, hash, server }: RouterParts,
    exchange: ExchangeId,
    head: RequestHead,
    grants: GrantSet,
    { bucket, key }: Resource,
    parameters: readonly QueryParameter[],
  ): void {
    const request = this.#request;
    request.head = head.method === 'HEAD';
    request.bucket = bucket;
    request.key = key;
    hash.object(bucket, key, request.hash);
    request.range.kind = 'none';
    if (head.has(HeaderSlot.range)) {
      const { range } = HeaderSlot;
      parseRange(head.bytes, head.valueStart(range), head.valueEnd(range), request.range);
    }
    request.wantsChecksums = head.has(HeaderSlot['x-amz-checksum-mode']);
    request.conditions = conditionsOf(head);
    const overrides = parameters.length === 0 ? noOverrides : overridesOf(parameters);
    driver.onRequest(exchange, request, overrides, debugHeaders || wantsDebug(head));
    // Whatever wasn't answered in this turn may need its head again; a hit is over by now.
    if (server.connectionOf(exchange) !== null) this.#saved.save(exchange, head, grants);
  }

  #pass(
    { debugHeaders, domains, passThrough, sigv4 }: RouterParts,
    exchange: ExchangeId,
    head: RequestHead,
    grants: GrantSet,
    operation: Operation,
    { bucket, key }: Resource,
    parameters: readonly QueryParameter[],
  ): void {
    // A read that turned out not to be cacheable was checked long ago: it has no body to be verified.
    const isFresh = exchange === this.#current;
    passThrough.start(
      exchange,
      {
        method: head.methodText(),
        operation,
        bucket,
        key,
        target: head.target(),
        isVirtualHost: hostBucketOf(head, domains) !== null,
        parameters,
        headers: head.rawHeaders(),
        grants,
        isReported: debugHeaders || wantsDebug(head),
        success: null,
        presigned: queryValue(parameters, 'X-Amz-Signature') !== null,
        payload: isFresh ? sigv4.payload : 'unsigned',
        contentLength: head.framing === 'chunked' ? null : head.contentLength,
      },
      isFresh ? bodyExpectation(sigv4, head) : null,
    );
  }
}
