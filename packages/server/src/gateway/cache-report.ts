/**
 * What debug headers say about an answer: `x-accel-cache: hit`, and so on. Only clients that ask are told, or all of them where
 * `gateway.debug_headers` is set.
 *
 * x-accel-cache  hit: no byte came from S3 for this request. miss: S3 was asked. stored: the same, and what came is being stored.
 *                stale-restart: the object changed under the read, which began anew. bypass: the request went through to S3
 *                (passthrough/).
 * x-accel-age    seconds since S3 described the object so.
 * x-accel-node   the node that sent the answer, or its beginning; not there when the gateway knew enough by itself.
 *
 * The head of an answer is decided while the core hears of a node's answer, or at once where metadata alone is enough: that is when
 * `of` is asked.
 */
import type { CachedMetadata } from '@s3-accelerator/core/gateway/metadata-cache.ts';
import type { ReadAnswer } from '@s3-accelerator/core/read.ts';
import { slotMask, type ExchangeId } from '../http/exchange.ts';
import { headerStride, type RequestHead } from '../http/request-head.ts';
import type { ResponseWriter } from '../http/response-writer.ts';
import { sameName } from '../http/header-slots.ts';

export const cacheHeader = 'x-accel-cache';
/** The request's own header; never forwarded. */
export const debugHeader = 'x-accel-debug';

export type CacheState = 'hit' | 'miss' | 'stored' | 'stale-restart' | 'bypass';

export interface CacheNote {
  readonly state: CacheState;
  readonly ageMs: number;
  readonly nodeId: number | null;
}

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

/** Adds the headers to a head that is being written. */
export function writeReport(writer: ResponseWriter, { ageMs, nodeId, state }: CacheNote): void {
  writer.header(cacheHeader, state);
  writer.header('x-accel-age', (Math.max(0, ageMs) / 1000).toFixed(3));
  if (nodeId !== null) writer.header('x-accel-node', String(nodeId));
}

export class CacheReport {
  /** By connection slot: when the request came, -1 where nobody wants to know. */
  readonly #askedAt: number[] = [];
  #answer: ReadAnswer | null = null;
  #nodeId: number | null = null;

  /** A request came in at `now`. */
  begin(exchange: ExchangeId, isWanted: boolean, now: number): void {
    this.#askedAt[exchange & slotMask] = isWanted ? now : -1;
  }

  /** The core is about to hear of a node's answer. */
  hearing(answer: ReadAnswer, nodeId: number | null): void {
    this.#answer = answer;
    this.#nodeId = nodeId;
  }

  heard(): void {
    this.#answer = null;
    this.#nodeId = null;
  }

  /** What to say of the answer whose head is made at `now`; null when nobody wants to know. */
  of(
    exchange: ExchangeId,
    now: number,
    { knownAfter }: CachedMetadata,
    restarts: number,
  ): CacheNote | null {
    const askedAt = this.#askedAt[exchange & slotMask] ?? -1;
    if (askedAt < 0) return null;
    const state = restarts > 0 ? 'stale-restart' : stateOf(this.#answer, now - askedAt);
    return { state, ageMs: now - knownAfter, nodeId: this.#nodeId };
  }
}

/** `answer` is null where the gateway knew enough; the request came `sinceMs` ago. */
function stateOf(answer: ReadAnswer | null, sinceMs: number): CacheState {
  if (answer === null) return 'hit';
  if (answer.bodyLength > 0) {
    if (answer.source === 'slot') return 'hit';
    return answer.source === 'kept' ? 'stored' : 'miss';
  }
  // Ages count from the asking of S3: younger than the request means that S3 was asked for it.
  return answer.kind === 'metadata' && answer.ageMs <= sinceMs ? 'miss' : 'hit';
}
