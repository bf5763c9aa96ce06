/**
 * A link that carries one passed-through request at a time, as its asking end sees it.
 *
 *     free ──▶ sent (head, body, end) and answered (head, body, end) ──▶ free
 *        │                └─ aborted or failed: the link is reset, so that the other end can't take half a body for a whole one
 *        └─ the node is leaving: ended, at once or when the request it carries is answered
 *
 * Both directions stream: what the node doesn't read is held back by TCP
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
import type { Forwarding } from '../passthrough/forward.ts';
import type { AskedForward } from './asked-forward.ts';
import type { LinkContext } from './link-context.ts';
import { AskingHandshake } from './link-handshake.ts';
import { forwardWindowBytes } from './link-options.ts';
import type { LinkOwner } from './link-pool.ts';
import type { LinkUser } from './link.ts';
import { Link } from './link.ts';

/** A mark behind the bytes of the window: one at a time. */
const windowToken = 1;

export class ForwardLink implements LinkUser, Forwarding {
  readonly #context: LinkContext;
  readonly #owner: LinkOwner<ForwardLink>;
  readonly #link: Link;
  readonly #idleMs: number;
  #served = false;
  /** The node takes no further requests on it. */
  #isLeaving = false;
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
    asked.onWay(this);
  }

  write(bytes: Uint8Array): boolean {
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

  end(): void {
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

  abort(): void {
    this.#link.lose();
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
    if (header.type === FrameType.leaving) {
      this.#isLeaving = true;
      if (this.#current === null) link.end();
      return;
    }
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
    asked?.onLost(`the link to ${this.#link.peer} was lost`);
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
    asked.onFailed(failure);
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
    if (this.#isLeaving) {
      this.#link.end();
      return;
    }
    this.#context.reactor.deadline(this.#link.id, this.#idleMs);
    this.#owner.onFree(this);
  }
}
