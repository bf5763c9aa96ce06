/**
 * What a debug header says about an answer: `x-accel-cache: hit`, and so on. Only clients that ask are told, or all of them where
 * `gateway.debug_headers` is set.
 *
 * hit: no byte came from S3 for this request. miss: S3 was asked. remote: another process's node gave the body, and its answer
 * doesn't say where from. bypass: the request went through to S3 (passthrough/). The head of an answer is decided while the core
 * hears of a node's answer, or at once where metadata alone is enough: that is when `of` is asked.
 */
import type { ReadAnswer } from '@s3-accelerator/core/read.ts';
import { slotMask, type ExchangeId } from '../http/exchange.ts';
import { headerStride, type RequestHead } from '../http/request-head.ts';
import { sameName } from '../http/header-slots.ts';

export const cacheHeader = 'x-accel-cache';
/** The request's own header; never forwarded. */
export const debugHeader = 'x-accel-debug';

export type CacheState = 'hit' | 'miss' | 'remote' | 'bypass';

/** Where the body of an answer comes from. */
export type BodySource = 'slot' | 'fill' | 'link';

const debugName = Buffer.from(debugHeader, 'latin1');

/** Whether a request asks for debug headers: `x-accel-debug` with anything but 0. */
export function wantsDebug(head: RequestHead): boolean {
  const { bytes, headers } = head;
  for (let index = 0; index < head.headerCount; index += 1) {
    const at = index * headerStride;
    if (sameName(bytes, headers[at]!, headers[at + 1]!, debugName))
      return head.value(index) !== '0';
  }
  return false;
}

export class CacheReport {
  /** By connection slot: when the request came, -1 where nobody wants to know. */
  readonly #askedAt: number[] = [];
  #answer: ReadAnswer | null = null;
  #source: BodySource = 'slot';

  /** A request came in at `now`. */
  begin(exchange: ExchangeId, isWanted: boolean, now: number): void {
    this.#askedAt[exchange & slotMask] = isWanted ? now : -1;
  }

  /** The core is about to hear of a node's answer. */
  hearing(answer: ReadAnswer, source: BodySource): void {
    this.#answer = answer;
    this.#source = source;
  }

  heard(): void {
    this.#answer = null;
  }

  /** What to say of the answer whose head is made at `now`; null when nobody wants to know. */
  of(exchange: ExchangeId, now: number): CacheState | null {
    const askedAt = this.#askedAt[exchange & slotMask] ?? -1;
    if (askedAt < 0) return null;
    const answer = this.#answer;
    if (answer === null) return 'hit';
    if (answer.bodyLength > 0) {
      return this.#source === 'slot' ? 'hit' : this.#source === 'fill' ? 'miss' : 'remote';
    }
    // Ages count from the asking of S3: younger than the request means that S3 was asked for it.
    return answer.kind === 'metadata' && answer.ageMs <= now - askedAt ? 'miss' : 'hit';
  }
}
