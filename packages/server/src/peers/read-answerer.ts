/**
 * A link that brings reads, as its answering end sees it: multiplexed, with many reads at once, or exclusive, with one.
 *
 * It decodes requests and cancellations and hands them on; what is answered goes out through `ServedReads`. Questions for the
 * ring, on multiplexed links, it answers itself. What nodes tell each other comes over those, too.
 */
import { LinkedList } from '@s3-accelerator/core/base/linked-list.ts';
import { newNodeMessage, type NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { FrameHeader } from '@s3-accelerator/protocol/frame.ts';
import { FrameType } from '@s3-accelerator/protocol/frame.ts';
import { decodeNodeMessage, isNodeMessage } from '@s3-accelerator/protocol/node-message.ts';
import { decodeRingRequest, encodeRingAnswer } from '@s3-accelerator/protocol/ring-message.ts';
import { ReadRequestView } from '@s3-accelerator/protocol/read-request.ts';
import type { AskerRecord } from './askers.ts';
import type { LinkContext } from './link-context.ts';
import type { Link, LinkUser } from './link.ts';

/** Where reads go. */
export interface ReadAnswererOwner {
  onRequest(answerer: ReadAnswerer, requestId: number, request: ReadRequest): void;
  onCancelled(record: AskerRecord): void;
  onMessage(message: NodeMessage): void;
  onSent(link: Link, token: number, errno: number): void;
}

/** What a link that brings reads is, and whom its end concerns besides them. */
interface AnsweredLink {
  readonly link: Link;
  readonly exclusive: boolean;
  readonly onLost: () => void;
}

export class ReadAnswerer implements LinkUser {
  readonly link: Link;
  readonly exclusive: boolean;
  /** Reads whose answer isn't complete, in the order they came. */
  readonly unanswered = new LinkedList<AskerRecord>();
  readonly #context: LinkContext;
  readonly #owner: ReadAnswererOwner;
  readonly #onLost: () => void;
  readonly #request = new ReadRequestView();
  readonly #message = newNodeMessage();

  constructor(
    context: LinkContext,
    owner: ReadAnswererOwner,
    { link, exclusive, onLost }: AnsweredLink,
  ) {
    this.#context = context;
    this.#owner = owner;
    this.link = link;
    this.exclusive = exclusive;
    this.#onLost = onLost;
  }

  onOpen(): void {
    // It was opened by whoever made this.
  }

  onFrame(link: Link, header: FrameHeader, start: number, end: number): void {
    if (header.type === FrameType.cancel) {
      if (start !== end || header.bodyLength !== 0) link.breakOff('length');
      else this.#cancel(header.requestId);
      return;
    }
    if (header.type === FrameType.ringRequest && !this.exclusive) {
      this.#answerRing(link, header, start, end);
      return;
    }
    if (isNodeMessage(header.type) && !this.exclusive) {
      this.#takeMessage(link, header, start, end);
      return;
    }
    const { input } = this.#context.reactor;
    const fault = this.#request.decode(input, start, end, header);
    if (fault !== null) {
      link.breakOff(fault);
    } else if (this.exclusive && this.unanswered.size > 0) {
      link.breakOff('unasked');
    } else {
      this.#owner.onRequest(this, header.requestId, this.#request);
    }
  }

  onBody(): void {
    // Requests have no bodies; one that announces a body was refused.
  }

  onSent(link: Link, token: number, errno: number): void {
    this.#owner.onSent(link, token, errno);
  }

  onRelayed(): void {
    // Nothing is ever relayed.
  }

  onLost(): void {
    this.#onLost();
    for (let next = this.unanswered.shift(); next !== null; next = this.unanswered.shift()) {
      this.#owner.onCancelled(next);
    }
  }

  #answerRing(link: Link, header: FrameHeader, start: number, end: number): void {
    const { reactor, ring } = this.#context;
    const held = decodeRingRequest(reactor.input, start, end);
    if (typeof held === 'string' || header.bodyLength !== 0) {
      link.breakOff(typeof held === 'string' ? held : 'length');
      return;
    }
    link.sendBytes(encodeRingAnswer(header.requestId, ring.newerThan(held)));
  }

  #takeMessage(link: Link, header: FrameHeader, start: number, end: number): void {
    const { input } = this.#context.reactor;
    const fault = decodeNodeMessage(input, start, end, header, this.#message);
    if (fault === null) this.#owner.onMessage(this.#message);
    else link.breakOff(fault);
  }

  /** A cancellation that crosses its answer finds nothing: the answer is on its way. */
  #cancel(requestId: number): void {
    for (let record = this.unanswered.first; record !== null; record = record.after) {
      if (record.requestId !== requestId) continue;
      this.#owner.onCancelled(record);
      return;
    }
  }
}
