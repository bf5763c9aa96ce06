/**
 * One passed-through request on its way to a node, whichever takes it.
 *
 *     waiting (for a link, or for this process's own node) ──▶ sent ──▶ over
 *        ▲          └── this way is closed: the next one ──┐
 *        └─────────────────────────────────────────────────┘
 *
 * It has an ordered list of ways, the object's home first. As long as nothing was sent, a node that can't be reached costs
 * nothing but the next way. Once its head was sent it may go on its next way only if it surely had no effect: a read, or an upload of
 * whose body not a byte has left. Any other fails with 503, as S3 itself does at times, and clients send it again: whether the origin
 * took it is unknown here, and a body that has left is gone.
 */
import type { Forwarding, ForwardRequest, ForwardSink } from '../passthrough/forward.ts';

/** A node that can carry requests. */
export interface ForwardWay {
  /** Carries the request now or later: `onWay` follows, or `goOn` when it can't be. */
  take(asked: AskedForward): void;
  /** A request that it has taken and not yet carried was given up. */
  withdraw(asked: AskedForward): void;
}

export class AskedForward implements Forwarding, ForwardSink {
  readonly request: ForwardRequest;
  readonly #sink: ForwardSink;
  readonly #ways: ForwardWay[];
  #waitsFor: ForwardWay | null = null;
  #sent: Forwarding | null = null;
  #headCame = false;
  #bodyLeft = false;
  /** What was written before there was a way. */
  #early: Uint8Array[] = [];
  #paused = false;
  #ended = false;
  #over = false;

  /** Sets out on the first way; nothing is told during the call. */
  constructor(request: ForwardRequest, sink: ForwardSink, ways: readonly ForwardWay[]) {
    this.request = request;
    this.#sink = sink;
    this.#ways = [...ways];
    this.goOn('no storage node is known');
  }

  get ended(): boolean {
    return this.#ended;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || bytes.length === 0) return true;
    if (this.#sent !== null) {
      this.#bodyLeft = true;
      return this.#sent.write(bytes);
    }
    this.#early.push(bytes.slice());
    return false;
  }

  end(): void {
    if (this.#over || this.#ended) return;
    this.#ended = true;
    this.#sent?.end();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#early = [];
    if (this.#sent === null) this.#waitsFor?.withdraw(this);
    else this.#sent.abort();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#over) this.#sent?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#over) this.#sent?.resume();
  }

  // — what the ways say

  /** The way that it is on is closed, for this reason: it takes the next one, or fails. */
  goOn(why: string): void {
    if (this.#over) return;
    this.#sent = null;
    this.#waitsFor = this.#ways.shift() ?? null;
    if (this.#waitsFor === null) this.failLater('ServiceUnavailable', why);
    else this.#waitsFor.take(this);
  }

  /** It is being carried: what there is of it so far is sent. */
  onWay(sent: Forwarding): void {
    this.#sent = sent;
    this.#waitsFor = null;
    const early = this.#early;
    this.#early = [];
    if (early.length > 0) this.#bodyLeft = true;
    let blocked = false;
    for (const bytes of early) blocked = !sent.write(bytes);
    if (this.#ended) sent.end();
    if (this.#paused) sent.pause();
    // Without a mark that is under way, nothing else would tell that more may be written.
    if (early.length > 0 && !blocked) this.#sink.onDrain();
  }

  /** What carried it is gone, and no answer came whole. */
  onLost(why: string): void {
    if (this.#over) return;
    if (!this.#headCame && this.#hadNoEffect()) this.goOn(why);
    else this.onFailed({ code: 'ServiceUnavailable', message: why });
  }

  #hadNoEffect(): boolean {
    const { method, bodyLength } = this.request;
    if (bodyLength === null) return method === 'GET' || method === 'HEAD';
    return bodyLength > 0 && !this.#bodyLeft;
  }

  onHead(status: number, headers: string[]): void {
    this.#headCame = true;
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

  onFailed(failure: { code: string; message: string }): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.onFailed(failure);
  }

  /** Fails once the current call is over. */
  failLater(code: string, message: string): void {
    queueMicrotask(() => {
      this.onFailed({ code, message });
    });
  }
}
