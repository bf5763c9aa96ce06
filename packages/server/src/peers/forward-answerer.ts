/**
 * A link that carries passed-through requests, as its answering end sees it: hands each to the port that leads to the origin.
 *
 *     idle ── head ──▶ receiving (body frames to the port) ── end ──▶ sent
 *       ▲                   └── answered early: the rest of the body is read and dropped ──┐
 *       └──────────── the answer is complete and the request's end frame came ◀────────────┘
 *
 * A body that is longer or shorter than its head promised, or a link that is lost before the end frame, aborts the request:
 * the origin never gets a partial body as a whole one. A port that can't take more pauses the link; an asker that doesn't read
 * pauses the port.
 */
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import type { FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import { frameHeaderBytes, FrameType, maxBodyBytes } from '@s3-accelerator/protocol/frame.ts';
import {
  decodeRequestHead,
  encodeBodyFrame,
  encodeResponseFailed,
  encodeResponseHead,
  responseFailedBytes,
  responseHeadBytes,
} from '@s3-accelerator/protocol/pass-through.ts';
import type { Forwarding, ForwardPort, ForwardSink } from '../passthrough/forward.ts';
import type { LinkContext } from './link-context.ts';
import { forwardWindowBytes } from './link-options.ts';
import type { Link, LinkUser } from './link.ts';

/** A mark behind the bytes of the window: one at a time. */
const windowToken = 1;

export class ForwardAnswerer implements LinkUser {
  readonly #context: LinkContext;
  readonly #port: ForwardPort;
  readonly #idleMs: number;
  readonly #onLost: () => void;
  #current: AnsweredForward | null = null;

  constructor(context: LinkContext, port: ForwardPort, idleMs: number, onLost: () => void) {
    this.#context = context;
    this.#port = port;
    this.#idleMs = idleMs;
    this.#onLost = onLost;
  }

  onOpen(link: Link): void {
    this.#context.reactor.deadline(link.id, this.#idleMs);
  }

  onFrame(link: Link, header: FrameHeader, start: number, end: number): void {
    if (header.type === FrameType.requestHead) {
      this.#begin(link, header, start, end);
      return;
    }
    const current = this.#current;
    if (current === null || start !== end) {
      link.breakOff('unasked');
    } else if (header.type === FrameType.requestBody) {
      current.expectBody(header.bodyLength);
    } else if (header.type === FrameType.requestEnd && header.bodyLength === 0) {
      current.endBody();
      this.#restIfDone(link, current);
    } else {
      link.breakOff('type');
    }
  }

  onBody(_link: Link, start: number, length: number): void {
    this.#current?.takeBody(this.#context.reactor.input.subarray(start, start + length));
  }

  onSent(): void {
    this.#current?.onWindowSent();
  }

  onRelayed(): void {
    // Nothing is ever relayed.
  }

  onLost(): void {
    const current = this.#current;
    this.#current = null;
    this.#onLost();
    current?.onLinkLost();
  }

  #begin(link: Link, header: FrameHeader, start: number, end: number): void {
    if (this.#current !== null) {
      link.breakOff('unasked');
      return;
    }
    const request = decodeRequestHead(this.#context.reactor.input, start, end, header);
    if (typeof request === 'string') {
      link.breakOff(request);
      return;
    }
    this.#context.reactor.deadline(link.id, 0);
    const current = new AnsweredForward(this.#context, link, request.bodyLength, () => {
      this.#restIfDone(link, current);
    });
    this.#current = current;
    current.forwarding = this.#port.forward(request, current);
  }

  /** Both directions are complete: the link may carry the next request. */
  #restIfDone(link: Link, current: AnsweredForward): void {
    if (this.#current !== current || !current.done) return;
    this.#current = null;
    this.#context.reactor.deadline(link.id, this.#idleMs);
  }
}

/** One request that came over a link. */
class AnsweredForward implements ForwardSink {
  forwarding: Forwarding | null = null;
  readonly #context: LinkContext;
  readonly #link: Link;
  readonly #onAnswered: () => void;
  /** Bytes of the body that are still to come; frames may not bring more. */
  #bodyMissing: number;
  #bodyEnded = false;
  #answered = false;
  #linkPaused = false;
  #unmarked = 0;
  #marked = false;

  constructor(context: LinkContext, link: Link, bodyLength: number | null, onAnswered: () => void) {
    this.#context = context;
    this.#link = link;
    this.#bodyMissing = bodyLength ?? 0;
    this.#onAnswered = onAnswered;
  }

  get done(): boolean {
    return this.#answered && this.#bodyEnded;
  }

  // — what the link brings

  expectBody(length: number): void {
    if (this.#bodyEnded || length > this.#bodyMissing) this.#link.breakOff('mismatch');
    else this.#bodyMissing -= length;
  }

  takeBody(bytes: Uint8Array): void {
    if (this.#answered || this.forwarding === null) return;
    if (this.forwarding.write(bytes) || this.#linkPaused) return;
    this.#linkPaused = true;
    this.#context.reactor.pause(this.#link.id);
  }

  endBody(): void {
    if (this.#bodyEnded || this.#bodyMissing > 0) {
      this.#link.breakOff('mismatch');
      return;
    }
    this.#bodyEnded = true;
    if (!this.#answered) this.forwarding?.end();
  }

  onLinkLost(): void {
    if (this.#answered) return;
    this.#answered = true;
    this.forwarding?.abort();
  }

  onWindowSent(): void {
    if (!this.#marked) return;
    this.#marked = false;
    if (!this.#answered) this.forwarding?.resume();
  }

  // — what the port answers

  onHead(status: number, headers: string[]): void {
    const bytes = new Uint8Array(responseHeadBytes(headers));
    encodeResponseHead(bytes, 0, status, headers);
    this.#link.sendBytes(bytes);
  }

  onBody(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += maxBodyBytes) {
      const piece = bytes.subarray(at, at + maxBodyBytes);
      const head = new Uint8Array(frameHeaderBytes);
      encodeBodyFrame(head, 0, FrameType.responseBody, piece.length);
      this.#link.sendBytes(head);
      this.#link.sendBytes(piece);
    }
    this.#unmarked += bytes.length;
    if (this.#unmarked < forwardWindowBytes || this.#marked) return;
    this.#marked = true;
    this.#unmarked = 0;
    this.#context.reactor.mark(this.#link.id, windowToken, CommandFlag.eager);
    this.forwarding?.pause();
  }

  onEnd(): void {
    this.#link.sendBareFrame(FrameType.responseEnd, 0);
    this.#finish();
  }

  onFailed(failure: { code: string; message: string }): void {
    const bytes = new Uint8Array(responseFailedBytes(failure));
    encodeResponseFailed(bytes, 0, failure);
    this.#link.sendBytes(bytes);
    this.#finish();
  }

  onDrain(): void {
    this.#resumeLink();
  }

  #finish(): void {
    this.#answered = true;
    // What is left of the body is read and dropped, so that the asker isn't stuck before it reads the answer.
    this.#resumeLink();
    this.#onAnswered();
  }

  #resumeLink(): void {
    if (!this.#linkPaused) return;
    this.#linkPaused = false;
    this.#context.reactor.resume(this.#link.id);
  }
}
