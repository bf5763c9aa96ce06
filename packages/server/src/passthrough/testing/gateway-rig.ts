/**
 * A gateway for tests that passes everything through: the real HTTP server over the real reactor, real signatures and grants,
 * and an origin behind it.
 */
import { parseCopySource, parsePath } from '@s3-accelerator/core/s3/object-key.ts';
import { parseQuery, queryValue } from '@s3-accelerator/core/s3/query.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { bodyExpectation } from '../../auth/body-verifier.ts';
import { ClientTable } from '../../auth/clients.ts';
import { authorize } from '../../auth/grants.ts';
import type { Grant } from '../../auth/grants.ts';
import { operationOf } from '../../auth/operation.ts';
import { SigV4, requiredScratchBytes } from '../../auth/sigv4.ts';
import type { ExchangeId, HttpHandler } from '../../http/exchange.ts';
import { HeaderSlot } from '../../http/header-slots.ts';
import { HttpServer } from '../../http/http-server.ts';
import type { RequestHead } from '../../http/request-head.ts';
import { OriginClient } from '../../origin/origin-client.ts';
import type { OriginFailure } from '../../origin/origin-failure.ts';
import type { Origins } from '../../origin/origins.ts';
import { OriginForward } from '../origin-forward.ts';
import { PassThrough } from '../pass-through.ts';
import { clientCredentials, clientRegion } from './signed-client.ts';

export const everything: readonly Grant[] = [{ bucket: '*', prefix: '', access: 'write' }];

export class GatewayRig implements HttpHandler {
  /** What was told of writes: `started bucket/key`, `done bucket/key`, … */
  readonly writes: string[] = [];
  readonly failures: OriginFailure[] = [];
  readonly client = new OriginClient();
  readonly passThrough: PassThrough;
  readonly port: number;
  readonly #reactor = new Reactor({ inputBytes: 1 << 20, outputBytes: 1 << 20 });
  readonly #server: HttpServer;
  readonly #sigv4: SigV4;

  constructor(origins: Origins, grants: readonly Grant[] = everything) {
    const clients = new ClientTable([{ ...clientCredentials, grants }]);
    const digester = new Digester(requiredScratchBytes);
    this.#sigv4 = new SigV4(digester, clients, { region: clientRegion, maxScopes: 8 });
    this.#server = new HttpServer(this.#reactor, this);
    const forward = new OriginForward(
      this.client,
      () => origins,
      (failure) => this.failures.push(failure),
    );
    this.passThrough = new PassThrough(this.#server, forward, {
      onWriteStarted: (bucket, key) => this.writes.push(`started ${bucket}/${key}`),
      onWriteFinished: (bucket, key, outcome) => this.writes.push(`${outcome} ${bucket}/${key}`),
    });
    this.port = this.#server.listen('127.0.0.1', 0);
  }

  async close(): Promise<void> {
    await this.#server.close(0);
    await this.client.close();
    this.#reactor.stop();
  }

  onRequest(exchange: ExchangeId, head: RequestHead): void {
    const error = this.#sigv4.check(head, Date.now()) ?? this.#pass(exchange, head);
    if (error !== null) this.#server.answerError(exchange, error, head.path());
  }

  #pass(exchange: ExchangeId, head: RequestHead): ErrorCode | null {
    const parsed = parsePath(head.path());
    const parameters = parseQuery(head.query());
    const { client } = this.#sigv4;
    if (!parsed.ok || parameters === null || client === null) return 'InvalidURI';
    const { resource } = parsed;
    const source = head.header(HeaderSlot['x-amz-copy-source']);
    const operation = operationOf(head.method, resource, parameters, source !== null);
    if (operation === null) return 'MethodNotAllowed';
    const denied = authorize(client.grants, {
      operation,
      resource,
      prefix: queryValue(parameters, 'prefix') ?? '',
      copySource: source === null ? null : parseCopySource(source),
    });
    if (denied !== null) return denied;
    const passed = {
      method: head.methodText(),
      operation,
      ...resource,
      target: head.target(),
      isVirtualHost: false,
      parameters,
      headers: head.rawHeaders(),
      grants: client.grants,
      isReported: false,
      success: null,
      presigned: this.#sigv4.presigned,
      payload: this.#sigv4.payload,
      contentLength: head.framing === 'chunked' ? null : head.contentLength,
    };
    this.passThrough.start(exchange, passed, bodyExpectation(this.#sigv4, head));
    return null;
  }

  onBody(exchange: ExchangeId, bytes: Uint8Array): void {
    this.passThrough.onBody(exchange, bytes);
  }

  onBodyEnd(exchange: ExchangeId): void {
    this.passThrough.onBodyEnd(exchange);
  }

  onGone(exchange: ExchangeId): void {
    this.passThrough.onGone(exchange);
  }

  onSent(_exchange: ExchangeId, token: number, errno: number): void {
    this.passThrough.onSent(token, errno);
  }
}
