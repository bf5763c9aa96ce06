/**
 * Carries forwarded requests to their bucket's origin: the ForwardPort at the end of the way.
 *
 * It signs with the origin's credentials, puts the real bucket into path and copy source, and leaves every other byte of
 * target and headers as it is. Nothing is sent before the first bytes of the body, or its end, are there: what the gateway
 * withholds until it is verified can't have begun to be committed. `abort` destroys the connection, so an origin never takes
 * a partial body for a whole one.
 */
import {
  formatCopySource,
  parseCopySource,
  splitTarget,
} from '@s3-accelerator/core/s3/object-key.ts';
import { noParameters, parseQuery, queryForOrigin } from '@s3-accelerator/core/s3/query.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { operationOf } from '../auth/operation.ts';
import type { OriginClient } from '../origin/origin-client.ts';
import type { OriginExchange, OriginListener, OriginRequest } from '../origin/origin-exchange.ts';
import { noCredentials, noOrigin } from '../origin/origin-failure.ts';
import type { OriginFailure, OriginFailureCode } from '../origin/origin-failure.ts';
import { headerValue } from '../http/raw-headers.ts';
import {
  OriginSigner,
  emptyPayloadHash,
  unsignedPayload,
  unsignedTrailerPayload,
} from '../origin/origin-signer.ts';
import { hostOf, mapTarget, serverNameOf } from '../origin/origin-target.ts';
import { realBucket } from '../origin/origins.ts';
import type { Origin, Origins } from '../origin/origins.ts';
import type { ForwardPort, ForwardRequest, ForwardSink, Forwarding } from './forward.ts';
import { headersForOrigin } from './forwarded-headers.ts';
import { TrailerRemoval } from './trailer-removal.ts';

/** Told of every failure, so that it can be logged (rarely, and by kind). */
export type ForwardFailureLog = (failure: OriginFailure, request: ForwardRequest) => void;

/** The request can't be sent as it is. */
export interface ForwardRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;

const noStatuses: ReadonlySet<number> = new Set();

const clientCodes: Readonly<Record<OriginFailureCode, ErrorCode>> = {
  unreachable: 'ServiceUnavailable',
  timeout: 'ServiceUnavailable',
  reset: 'ServiceUnavailable',
  protocol: 'InternalError',
  busy: 'SlowDown',
  'unknown-origin': 'NoSuchBucket',
  'untold-origin': 'ServiceUnavailable',
  'no-credentials': 'ServiceUnavailable',
};

/** What clients are told: the hint with addresses in it goes to the log. */
const clientMessages: Readonly<Record<OriginFailureCode, string>> = {
  unreachable: 'The origin of this bucket can not be reached.',
  timeout: 'The origin of this bucket did not answer in time.',
  reset: 'The origin of this bucket closed the connection early.',
  protocol: 'The origin of this bucket sent an answer that is not valid.',
  busy: 'Too many requests wait for the origin of this bucket.',
  'unknown-origin': 'No origin is configured for this bucket.',
  'untold-origin': 'The origin of this bucket is not known yet.',
  'no-credentials': 'There are no credentials for the origin of this bucket at the moment.',
};

export class OriginForward implements ForwardPort {
  readonly #client: OriginClient;
  readonly #origins: () => Origins;
  readonly #log: ForwardFailureLog;
  readonly #signer = new OriginSigner();

  /** `origins` is asked for every request, so that a reload takes effect. */
  constructor(client: OriginClient, origins: () => Origins, log: ForwardFailureLog) {
    this.#client = client;
    this.#origins = origins;
    this.#log = log;
  }

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const origins = this.#origins();
    const origin = origins.of(request.bucket);
    if (origin === null)
      return refuse(sink, this.#fails(noOrigin(request.bucket, origins), request));
    const payload = headerValue(request.headers, 'x-amz-content-sha256');
    if (payload === unsignedTrailerPayload && !origin.checksumTrailers) {
      return new TrailerRemoval(request, (plain) => this.#send(origin, plain, sink));
    }
    return this.#send(origin, request, sink);
  }

  #send(origin: Origin, request: ForwardRequest, sink: ForwardSink): Forwarding {
    const signed = this.#prepare(origin, request);
    if ('code' in signed) return refuse(sink, signed);
    return new Forwarded(
      (listener) => this.#client.request(origin, signed, listener),
      sink,
      (failure) => this.#log(failure, request),
    );
  }

  #prepare(origin: Origin, request: ForwardRequest): OriginRequest | ForwardRefusal {
    const target = originTarget(origin, request);
    if (target === null) return { code: 'InvalidURI', message: 'The query can not be decoded.' };
    const headers = ['host', hostOf(origin, request.bucket), ...headersForOrigin(request.headers)];
    const refusal = mapCopySource(headers, origin, this.#origins());
    if (refusal !== null) return refusal;
    const { method, bodyLength } = request;
    const hash = payloadHash(request);
    const { region, limits } = origin;
    const credentials = origin.credentials();
    if (credentials === null) return this.#fails(noCredentials(origin), request);
    const sign = (now: number): string[] => {
      const signed = [...headers];
      this.#signer.sign(method, target, signed, hash, credentials, region, now);
      return signed;
    };
    return {
      operation: operationName(request),
      method,
      target,
      sign,
      bodyLength,
      idempotent: (method === 'GET' || method === 'HEAD') && bodyLength === null,
      retryStatuses: noStatuses,
      firstByteTimeoutMs: limits.forwardFirstByteTimeoutMs,
      ...serverNameOf(origin, request.bucket),
    };
  }

  #fails(failure: OriginFailure, request: ForwardRequest): ForwardRefusal {
    this.#client.counters.failed(failure.code);
    this.#log(failure, request);
    return { code: clientCodes[failure.code], message: clientMessages[failure.code] };
  }
}

/** For the counters: the S3 operation, or `Unknown`. */
function operationName(request: ForwardRequest): string {
  const { bucket, key, headers } = request;
  const method = methods.find((known) => known === request.method) ?? 'other';
  const parameters = parseQuery(splitTarget(request.target).query) ?? noParameters;
  const copies = headerValue(headers, 'x-amz-copy-source') !== '';
  return operationOf(method, { bucket, key }, parameters, copies) ?? 'Unknown';
}

/** The client's target at the origin, without a presigned URL's signature; null when its query can't be decoded. */
function originTarget(origin: Origin, request: ForwardRequest): string | null {
  const { path, query } = splitTarget(request.target);
  const mapped = mapTarget(origin, request.bucket, path);
  if (query === null) return mapped;
  const parameters = parseQuery(query);
  if (parameters === null) return null;
  const kept = queryForOrigin(parameters);
  return kept === '' ? mapped : `${mapped}?${kept}`;
}

/** Puts the real bucket into x-amz-copy-source. A copy happens within one endpoint: no origin fetches from another. */
function mapCopySource(headers: string[], origin: Origin, origins: Origins): ForwardRefusal | null {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() !== 'x-amz-copy-source') continue;
    const source = parseCopySource(headers[i + 1]!);
    if (source === null) return { code: 'InvalidArgument', message: 'Invalid copy source.' };
    const sourceOrigin = origins.of(source.bucket);
    if (sourceOrigin?.base !== origin.base || sourceOrigin.basePath !== origin.basePath) {
      const message = 'The source of a copy must live at the same origin as its target.';
      return { code: 'NotImplemented', message };
    }
    const bucket = realBucket(sourceOrigin, source.bucket);
    headers[i + 1] = formatCopySource({ ...source, bucket });
  }
  return null;
}

/** The gateway says in x-amz-content-sha256 what kind of body it writes. */
function payloadHash(request: ForwardRequest): string {
  if (request.bodyLength === null || request.bodyLength === 0) return emptyPayloadHash;
  const said = headerValue(request.headers, 'x-amz-content-sha256');
  return /^[0-9a-f]{64}$/.test(said) || said === unsignedTrailerPayload ? said : unsignedPayload;
}

function refuse(sink: ForwardSink, refusal: ForwardRefusal): Forwarding {
  let aborted = false;
  queueMicrotask(() => {
    if (!aborted) sink.onFailed(refusal);
  });
  return {
    write: () => true,
    end: () => undefined,
    abort: () => {
      aborted = true;
    },
    pause: () => undefined,
    resume: () => undefined,
  };
}

/** One request on its way; it is sent with its first bytes. */
class Forwarded implements Forwarding, OriginListener {
  readonly #send: (listener: OriginListener) => OriginExchange;
  readonly #sink: ForwardSink;
  readonly #log: (failure: OriginFailure) => void;
  #exchange: OriginExchange | null = null;
  #aborted = false;
  #paused = false;

  constructor(
    send: (listener: OriginListener) => OriginExchange,
    sink: ForwardSink,
    log: (failure: OriginFailure) => void,
  ) {
    this.#send = send;
    this.#sink = sink;
    this.#log = log;
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.#aborted) return true;
    return this.#sent().write(bytes);
  }

  end(): void {
    if (this.#aborted) return;
    this.#sent().end();
  }

  abort(): void {
    this.#aborted = true;
    this.#exchange?.abort();
  }

  pause(): void {
    this.#paused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#exchange?.resume();
  }

  #sent(): OriginExchange {
    if (this.#exchange === null) {
      this.#exchange = this.#send(this);
      if (this.#paused) this.#exchange.pause();
    }
    return this.#exchange;
  }

  onHead(status: number, headers: string[]): void {
    this.#sink.onHead(status, headers);
  }

  onBody(bytes: Uint8Array): void {
    this.#sink.onBody(bytes);
  }

  onEnd(): void {
    this.#sink.onEnd();
  }

  onFailed(failure: OriginFailure): void {
    this.#log(failure);
    this.#sink.onFailed({ code: clientCodes[failure.code], message: clientMessages[failure.code] });
  }

  onDrain(): void {
    this.#sink.onDrain();
  }
}
