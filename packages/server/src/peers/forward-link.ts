/**
 * A link that carries one passed-through request at a time, as its asking end sees it.
 *
 *     waiting ──▶ sent (head, body, end) and answered (head, body, end) ──▶ the link is free
 *        └─ aborted or failed: the link is reset, so that the other end can't take half a body for a whole one
 *
 * `AskedForward` is the request, `ForwardLink` the link. Both directions stream: what the node doesn't read is held back by TCP
 * and shows here as a mark that isn't reached, and what the client doesn't take pauses the link. At most about
 * `forwardWindowBytes` and the last write wait in this process.
 */
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import type { FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import {
  frameHeaderBytes,
  FrameType,
  maxBodyBytes,
  maxPayloadBytes,
} from '@s3-accelerator/protocol/frame.ts';
import {
  decodeResponseFailed,
  decodeResponseHead,
  encodeBodyFrame,
  encodeRequestHead,
  requestHeadBytes,
} from '@s3-accelerator/protocol/pass-through.ts';
import type { Forwarding, ForwardRequest, ForwardSink } from '../passthrough/forward.ts';
import type { LinkContext } from './link-context.ts';
import { AskingHandshake } from './link-handshake.ts';
import { forwardWindowBytes } from './link-options.ts';
import type { LinkOwner } from './link-pool.ts';
import type { LinkUser } from './link.ts';
import { Link } from './link.ts';

/** Where requests wait for a link. */
export interface ForwardQueue {
  onWaitingAborted(asked: AskedForward): void;
}

/** A mark behind the bytes of the window: one at a time. */
const windowToken = 1;

/** One request on its way to a node. */
export class AskedForward implements Forwarding {
  readonly request: ForwardRequest;
  readonly #sink: ForwardSink;
  readonly #queue: ForwardQueue;
  #link: ForwardLink | null = null;
  /** What was written before there was a link. */
  #early: Uint8Array[] = [];
  #paused = false;
  #ended = false;
  #over = false;

  constructor(request: ForwardRequest, sink: ForwardSink, queue: ForwardQueue) {
    this.request = request;
    this.#sink = sink;
    this.#queue = queue;
  }

  get ended(): boolean {
    return this.#ended;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || bytes.length === 0) return true;
    if (this.#link !== null) return this.#link.writeBody(bytes);
    this.#early.push(bytes.slice());
    return false;
  }

  end(): void {
    if (this.#over || this.#ended) return;
    this.#ended = true;
    this.#link?.endBody();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#early = [];
    if (this.#link === null) this.#queue.onWaitingAborted(this);
    else this.#link.close();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#over) this.#link?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#over) this.#link?.resume();
  }

  // — what the link and the pool say

  /** The request got a link: what it has so far is sent. */
  onLink(link: ForwardLink): void {
    this.#link = link;
    const early = this.#early;
    this.#early = [];
    let blocked = false;
    for (const bytes of early) blocked = !link.writeBody(bytes);
    if (this.#ended) link.endBody();
    if (this.#paused) link.pause();
    // Without a mark that is under way, nothing else would tell that more may be written.
    if (early.length > 0 && !blocked) this.#sink.onDrain();
  }

  onHead(status: number, headers: string[]): void {
    if (!this.#over) this.#sink.onHead(status, headers);
  }

  onBody(bytes: Uint8Array): void {
    if (!this.#over) this.#sink.onBody(bytes);
  }

  onDrain(): void {
    if (!this.#over) this.#sink.onDrain();
  }

  onEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.onEnd();
  }

  onFailed(code: string, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.onFailed({ code, message });
  }

  /** Fails once the current call is over. */
  failLater(code: string, message: string): void {
    queueMicrotask(() => {
      this.onFailed(code, message);
    });
  }
}

export class ForwardLink implements LinkUser {
  readonly #context: LinkContext;
  readonly #owner: LinkOwner<ForwardLink>;
  readonly #link: Link;
  readonly #idleMs: number;
  #served = false;
  #current: AskedForward | null = null;
  #headCame = false;
  #paused = false;
  /** Body bytes since the last mark. */
  #unmarked = 0;
  #marked = false;

  constructor(
    context: LinkContext,
    owner: LinkOwner<ForwardLink>,
    host: string,
    port: number,
    idleMs: number,
  ) {
    this.#context = context;
    this.#owner = owner;
    this.#idleMs = idleMs;
    const handshake = new AskingHandshake(context.options.secret, 'forward');
    this.#link = Link.ask(context, host, port, handshake, this);
  }

  /** Sends a request's head; the link must be free. */
  start(asked: AskedForward): void {
    this.#current = asked;
    this.#headCame = false;
    this.#context.reactor.deadline(this.#link.id, 0);
    const length = requestHeadBytes(asked.request);
    if (length - frameHeaderBytes > maxPayloadBytes) {
      this.#current = null;
      asked.failLater('RequestHeaderSectionTooLarge', `a request head of ${length} bytes`);
      this.#beFree();
      return;
    }
    const head = new Uint8Array(length);
    encodeRequestHead(head, 0, asked.request);
    this.#link.sendBytes(head);
    asked.onLink(this);
  }

  writeBody(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at += maxBodyBytes) {
      const piece = bytes.subarray(at, at + maxBodyBytes);
      const head = new Uint8Array(frameHeaderBytes);
      encodeBodyFrame(head, 0, FrameType.requestBody, piece.length);
      this.#link.sendBytes(head);
      this.#link.sendBytes(piece);
    }
    this.#unmarked += bytes.length;
    if (this.#unmarked >= forwardWindowBytes && !this.#marked) {
      this.#marked = true;
      this.#unmarked = 0;
      this.#context.reactor.mark(this.#link.id, windowToken, CommandFlag.eager);
    }
    return !this.#marked;
  }

  endBody(): void {
    this.#link.sendBareFrame(FrameType.requestEnd, 0);
  }

  pause(): void {
    this.#paused = true;
    this.#context.reactor.pause(this.#link.id);
  }

  resume(): void {
    this.#paused = false;
    this.#context.reactor.resume(this.#link.id);
  }

  close(): void {
    this.#link.lose();
  }

  // — what the link says

  onOpen(): void {
    this.#served = true;
    this.#owner.onOpen();
    this.#beFree();
  }

  onFrame(link: Link, header: FrameHeader, start: number, end: number): void {
    const asked = this.#current;
    if (asked === null) {
      link.breakOff('unasked');
      return;
    }
    switch (header.type) {
      case FrameType.responseHead:
        this.#onHead(asked, header, start, end);
        break;
      case FrameType.responseBody:
        // Its bytes come by `onBody`.
        if (!this.#headCame || start !== end) link.breakOff('unasked');
        break;
      case FrameType.responseEnd:
        if (!this.#headCame || start !== end || header.bodyLength !== 0) link.breakOff('unasked');
        else this.#finish(asked);
        break;
      case FrameType.responseFailed:
        this.#onFailed(asked, start, end);
        break;
      default:
        link.breakOff('type');
    }
  }

  onBody(_link: Link, start: number, length: number): void {
    this.#current?.onBody(this.#context.reactor.input.subarray(start, start + length));
  }

  onSent(_link: Link, _token: number, errno: number): void {
    this.#marked = false;
    if (errno === 0) this.#current?.onDrain();
  }

  onRelayed(): void {
    // Nothing is ever relayed.
  }

  onLost(): void {
    const asked = this.#current;
    this.#current = null;
    this.#owner.onLost(this, this.#served);
    asked?.onFailed('ServiceUnavailable', `the link to ${this.#link.peer} was lost`);
  }

  #onHead(asked: AskedForward, header: FrameHeader, start: number, end: number): void {
    const head = decodeResponseHead(this.#context.reactor.input, start, end, header);
    if (typeof head === 'string' || this.#headCame) {
      this.#link.breakOff(typeof head === 'string' ? head : 'unasked');
      return;
    }
    this.#headCame = true;
    asked.onHead(head.status, head.headers);
  }

  /** The node says that the request failed; it reads the rest of the body no more. */
  #onFailed(asked: AskedForward, start: number, end: number): void {
    const failure = decodeResponseFailed(this.#context.reactor.input, start, end);
    if (typeof failure === 'string') {
      this.#link.breakOff(failure);
      return;
    }
    this.#current = null;
    this.#release(asked);
    asked.onFailed(failure.code, failure.message);
  }

  #finish(asked: AskedForward): void {
    this.#current = null;
    this.#release(asked);
    asked.onEnd();
  }

  /** The answer is complete. A request whose body isn't would go on sending: its link is closed. */
  #release(asked: AskedForward): void {
    if (!asked.ended) {
      this.#link.lose();
      return;
    }
    if (this.#paused) this.resume();
    this.#beFree();
  }

  #beFree(): void {
    this.#context.reactor.deadline(this.#link.id, this.#idleMs);
    this.#owner.onFree(this);
  }
}
