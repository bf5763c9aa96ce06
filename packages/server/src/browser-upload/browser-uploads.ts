/**
 * Uploads of browsers: POSTs of a form to a bucket, which no header signs. Whoever owns the HTTP handler asks `takes` before
 * anything else, and passes on what happens to the exchanges that it took.
 *
 * A form that is in order becomes a PUT that passes through like any other; only its answer is another.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { pathOf } from '@s3-accelerator/core/s3/object-key.ts';
import type { GrantSet } from '../auth/grants.ts';
import type { PolicyClaim, SigV4 } from '../auth/sigv4.ts';
import type { ExchangeId } from '../http/exchange.ts';
import { HeaderSlot } from '../http/header-slots.ts';
import type { HttpServer } from '../http/http-server.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ClientDirectory } from '../metadata-client/client-directory.ts';
import { lookupErrors } from '../metadata-client/lookup-errors.ts';
import type { PassThrough } from '../passthrough/pass-through.ts';
import { BrowserUpload, type FormWrite } from './browser-upload.ts';
import { boundaryOf } from './form-reader.ts';

export class BrowserUploads {
  readonly #server: HttpServer;
  readonly #passThrough: PassThrough;
  readonly #sigv4: SigV4;
  readonly #directory: ClientDirectory | null;
  readonly #uploads = new Map<ExchangeId, BrowserUpload>();

  /** `directory` is where signers are looked up that the check doesn't know; null without a metadata service. */
  constructor(
    server: HttpServer,
    passThrough: PassThrough,
    sigv4: SigV4,
    directory: ClientDirectory | null,
  ) {
    this.#directory = directory;
    this.#server = server;
    this.#passThrough = passThrough;
    this.#sigv4 = sigv4;
    // The origin may answer, or break off, while the form is still being read.
    passThrough.onOver = (exchange) => {
      this.#uploads.delete(exchange);
    };
  }

  /** Forms that are being read. */
  get inFlight(): number {
    return this.#uploads.size;
  }

  /** Whether a request is a form for this class: it has no signature that anybody else would check. */
  takes(head: RequestHead): boolean {
    if (head.method !== 'POST' || head.pathEnd !== head.targetEnd) return false;
    if (head.has(HeaderSlot.authorization)) return false;
    return boundaryOf(head.header(HeaderSlot['content-type']) ?? '') !== null;
  }

  /** Begins to read the form that was sent to a bucket; an error when it can't be one. */
  start(
    exchange: ExchangeId,
    head: RequestHead,
    bucket: string,
    isReported: boolean,
  ): ErrorCode | null {
    if (head.framing === 'chunked') return 'MissingContentLength';
    const { contentLength } = head;
    const boundary = boundaryOf(head.header(HeaderSlot['content-type']) ?? '') ?? '';
    const authority = head.header(HeaderSlot.host) ?? '';
    const path = head.path();
    const form = { bucket, boundary, contentLength, authority, nowMs: Date.now() };
    const upload = new BrowserUpload(form, {
      verify: (claim) => this.#verify(exchange, claim, form.nowMs),
      begin: (write) => {
        this.#begin(exchange, bucket, write, isReported);
        return null;
      },
      write: (bytes) => {
        this.#passThrough.onBody(exchange, bytes);
      },
      finish: () => {
        this.#uploads.delete(exchange);
        this.#passThrough.onBodyEnd(exchange);
      },
      refuse: (code, details) => {
        this.#uploads.delete(exchange);
        if (this.#passThrough.has(exchange)) this.#passThrough.refuse(exchange, code);
        else this.#server.answerError(exchange, code, path, details);
      },
    });
    this.#uploads.set(exchange, upload);
    this.#server.readBody(exchange);
    return null;
  }

  /** False when the exchange isn't one of these. */
  onBody(exchange: ExchangeId, bytes: Uint8Array): boolean {
    const upload = this.#uploads.get(exchange);
    upload?.push(bytes);
    return upload !== undefined;
  }

  onBodyEnd(exchange: ExchangeId): boolean {
    const upload = this.#uploads.get(exchange);
    upload?.end();
    return upload !== undefined;
  }

  onGone(exchange: ExchangeId): void {
    this.#uploads.delete(exchange);
  }

  /** Grants of whoever signed the policy, or why there are none; null while they are looked up. */
  #verify(exchange: ExchangeId, claim: PolicyClaim, nowMs: number): GrantSet | ErrorCode | null {
    const sigv4 = this.#sigv4;
    const verdict = sigv4.checkPolicy(claim, nowMs);
    if (verdict !== 'InvalidAccessKeyId' || sigv4.unknown === null || this.#directory === null) {
      return verdict;
    }
    const outcome = this.#directory.lookup(sigv4.unknown, (later) => {
      const upload = this.#uploads.get(exchange);
      if (upload === undefined) return;
      this.#server.resumeBody(exchange);
      upload.signerLookedUp(later === 'known' ? null : lookupErrors[later]);
    });
    if (outcome === null) {
      this.#server.pauseBody(exchange);
      return null;
    }
    return outcome === 'known' ? sigv4.checkPolicy(claim, nowMs) : lookupErrors[outcome];
  }

  #begin(exchange: ExchangeId, bucket: string, write: FormWrite, isReported: boolean): void {
    const { key, headers, grants, length, success } = write;
    const expected = {
      form: 'unsigned',
      hash: '',
      contentLength: length,
      decodedLength: null,
      declaredTrailers: [],
      signing: null,
    } as const;
    this.#passThrough.start(
      exchange,
      {
        method: 'PUT',
        operation: 'PutObject',
        bucket,
        key,
        target: pathOf({ bucket, key }),
        isVirtualHost: false,
        parameters: [],
        headers,
        grants,
        isReported,
        presigned: false,
        payload: 'unsigned',
        contentLength: length,
        success,
      },
      expected,
    );
  }
}
