/** One request and its answer: how drivers name it, and what they hear about it. */
import type { RequestHead } from './request-head.ts';

/**
 * Names one exchange for its life and nothing afterwards: slot of the connection and a generation. A late use resolves
 * to nothing.
 */
export type ExchangeId = number & { readonly __exchange: unique symbol };

const slotBits = 18;
export const slotMask = (1 << slotBits) - 1;

const generationMask = (1 << (31 - slotBits)) - 1;

/** Never negative; the generation goes round. */
export function exchangeId(slot: number, generation: number): ExchangeId {
  return (((generation & generationMask) << slotBits) | slot) as ExchangeId;
}

/** What the server tells whoever answers requests. Never called from within one of the server's own methods. */
export interface HttpHandler {
  /** A request whose head was well-formed. `head` is valid during the call only. Answer now or later. */
  onRequest(exchange: ExchangeId, head: RequestHead): void;
  /** Bytes of the body, after `readBody`: a view, valid during the call. */
  onBody(exchange: ExchangeId, bytes: Uint8Array): void;
  /** The body is complete. */
  onBodyEnd(exchange: ExchangeId): void;
  /** The client left, timed out or broke off before the answer was finished; nothing more comes for this exchange. */
  onGone(exchange: ExchangeId): void;
  /**
   * A token that was put on the client's connection came back: errno 0, everything before it was taken by the kernel.
   * Each comes exactly once, also after `finish` and `onGone`; `exchange` is then the connection's latest one, so tokens
   * must tell by themselves what they belong to.
   */
  onSent(exchange: ExchangeId, token: number, errno: number): void;
}
