/**
 * The MAC at the end of each gossip packet: HMAC-SHA256 with the gossip key, cut to 128 bits.
 *
 * There is no sequence number and no time in it, for a packet that somebody recorded and plays back does no harm: its records
 * are never greater than what the cluster knows by then (core/membership/member-record.ts), its answer names a question
 * that isn't open any more, and its question is answered to whoever sent it, as any other, within the budget.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { gossipMacBytes } from '@s3-accelerator/protocol/gossip-packet.ts';

export class PacketSeal {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Writes the MAC over the first `length` bytes right behind them; returns the length with it. */
  seal(bytes: Uint8Array, length: number): number {
    bytes.set(this.#mac(bytes, length), length);
    return length + gossipMacBytes;
  }

  /** Whether the bytes behind the first `length` are their MAC. */
  isSealed(bytes: Uint8Array, length: number): boolean {
    const mac = bytes.subarray(length, length + gossipMacBytes);
    return mac.length === gossipMacBytes && timingSafeEqual(mac, this.#mac(bytes, length));
  }

  #mac(bytes: Uint8Array, length: number): Uint8Array {
    const whole = createHmac('sha256', this.#key).update(bytes.subarray(0, length)).digest();
    return whole.subarray(0, gossipMacBytes);
  }
}
