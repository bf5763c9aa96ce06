/**
 * One answer on its way to a client: its head, its body at the client's pace, its end.
 *
 * Memory: what `ClientWindow` allows for each answer, however large the object and however slow the client. Tokens come from
 * one range for all answers, so that one that comes back late still finds whom it belongs to.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import { cacheHeader } from '../gateway/cache-report.ts';
import type { ExchangeId } from '../http/exchange.ts';
import type { HttpServer } from '../http/http-server.ts';
import { noBody, unknownLength } from '../http/response-writer.ts';
import { headerValue } from '../http/raw-headers.ts';
import { ClientWindow } from './client-window.ts';
import { headersForClient } from './forwarded-headers.ts';

/** Whose turn it is again once the client took something. */
export type Taken = (errno: number) => void;

const firstToken = 0x4000_0000;
/** The last token of all belongs to the gateway's driver. */
const lastToken = 0x7fff_fffe;

/** Origins' request ids are 16 characters, or some dozens. */
const maxRequestIdLength = 256;

/** Hands out tokens and finds their owners. */
export class AnswerTokens {
  readonly #owners = new Map<number, Taken>();
  #next = firstToken;

  issue(owner: Taken): number {
    const token = this.#next;
    this.#next = token === lastToken ? firstToken : token + 1;
    this.#owners.set(token, owner);
    return token;
  }

  /** False when the token isn't one of these. */
  returned(token: number, errno: number): boolean {
    const owner = this.#owners.get(token);
    if (owner === undefined) return false;
    this.#owners.delete(token);
    owner(errno);
    return true;
  }
}

export class ClientAnswer {
  readonly #server: HttpServer;
  readonly #exchange: ExchangeId;
  readonly #tokens: AnswerTokens;
  readonly #window = new ClientWindow();
  readonly #taken: Taken;
  readonly #isReported: boolean;
  #begun = false;
  #hasBody = true;

  /**
   * `onRoom` is called when the window has room again after `send` said that it is full. `isReported` adds the debug header.
   */
  constructor(
    server: HttpServer,
    exchange: ExchangeId,
    tokens: AnswerTokens,
    isReported: boolean,
    onRoom: () => void,
  ) {
    this.#isReported = isReported;
    this.#server = server;
    this.#exchange = exchange;
    this.#tokens = tokens;
    this.#taken = (): void => {
      this.#window.taken();
      if (this.#window.isRoomy) onRoom();
    };
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Relays the origin's head; `length` in place of the origin's own Content-Length when the body isn't the origin's. */
  begin(method: string, status: number, headers: readonly string[], length?: number): void {
    this.#begun = true;
    this.#hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
    const announced = this.#announced(method, headers, length);
    const requestId = headerValue(headers, 'x-amz-request-id').slice(0, maxRequestIdLength);
    const writer = this.#server.beginAnswer(this.#exchange, status, announced, requestId);
    if (writer === null) return;
    const kept = headersForClient(headers);
    for (let i = 0; i < kept.length; i += 2) writer.header(kept[i]!, kept[i + 1]!);
    if (this.#isReported) writer.header(cacheHeader, 'bypass');
    this.#server.sendHead(this.#exchange);
  }

  #announced(method: string, headers: readonly string[], length: number | undefined): number {
    if (length !== undefined) return length;
    const said = headerValue(headers, 'content-length');
    const own = /^\d{1,15}$/.test(said) ? Number(said) : unknownLength;
    if (this.#hasBody) return own;
    return method === 'HEAD' && own >= 0 ? own : noBody;
  }

  /** Queues bytes of the body. False when the client is far behind: send no more until `onRoom`. */
  send(bytes: Uint8Array): boolean {
    if (!this.#hasBody || bytes.length === 0) return true;
    // An exchange that is gone takes no token, so none may be counted.
    if (this.#server.connectionOf(this.#exchange) === null) return true;
    this.#window.queue(bytes.length);
    const token = this.#tokens.issue(this.#taken);
    this.#server.sendBody(this.#exchange, bytes, token, CommandFlag.eager);
    return !this.#window.isFull;
  }

  finish(): void {
    this.#server.finish(this.#exchange);
  }

  /** Cuts the connection: promised bytes won't come. */
  cut(): void {
    this.#server.abort(this.#exchange);
  }

  /** In place of a head: one of S3's errors. `reason` says more where the table's message is too general. */
  fail(code: ErrorCode, resource: string, reason = ''): void {
    this.#begun = true;
    const details = reason === '' ? [] : ([['Reason', reason]] as const);
    this.#server.answerError(this.#exchange, code, resource, details);
  }
}
