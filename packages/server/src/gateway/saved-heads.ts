/**
 * Heads of requests that weren't answered in the turn they came in: kept in case their request must go to S3 after all, or an
 * error has to name what was asked for. One buffer for each connection slot, used again by its next request.
 *
 * Memory: the longest head that each connection sent, 16 KiB at most.
 */
import { slotMask, type ExchangeId } from '../http/exchange.ts';
import { RequestHead } from '../http/request-head.ts';
import { newHeadProgress, RequestParser } from '../http/request-parser.ts';
import type { GrantSet } from '../auth/grants.ts';

interface SavedHead {
  exchange: ExchangeId | -1;
  bytes: Buffer;
  length: number;
  grants: GrantSet | null;
}

export class SavedHeads {
  readonly #heads: (SavedHead | undefined)[] = [];
  readonly #parser = new RequestParser(new RequestHead());

  save(exchange: ExchangeId, head: RequestHead, grants: GrantSet): void {
    const start = head.methodStart;
    const length = head.end - start;
    const saved = (this.#heads[exchange & slotMask] ??= newSavedHead());
    if (saved.bytes.length < length) saved.bytes = Buffer.allocUnsafeSlow(length);
    saved.bytes.set(head.bytes.subarray(start, head.end));
    saved.length = length;
    saved.exchange = exchange;
    saved.grants = grants;
  }

  /** The head of an exchange, valid until the next call; null when it wasn't saved. */
  load(exchange: ExchangeId): { readonly head: RequestHead; readonly grants: GrantSet } | null {
    const saved = this.#heads[exchange & slotMask];
    if (saved?.exchange !== exchange || saved.grants === null) return null;
    const { bytes, length, grants } = saved;
    const result = this.#parser.parse(bytes, bytes, 0, length, newHeadProgress());
    if (result !== 'complete') throw new Error('a head that was accepted once is accepted again');
    return { head: this.#parser.head, grants };
  }
}

function newSavedHead(): SavedHead {
  return { exchange: -1, bytes: Buffer.alloc(0), length: 0, grants: null };
}
