/**
 * What nodes tell each other without being asked: who may serve a hot placement too, how much it is read there, and writes.
 *
 * A message may come late or never. Leases end by themselves, and metadata is used no longer than its age allows whatever
 * anybody says: so a message that is lost costs reads that are spread less evenly, and nothing else.
 *
 * The record is plain and reusable, as those of read.ts are.
 */
import type { Hash128, U64 } from './base/hash.ts';

export interface NodeMessage {
  /**
   * lease: the owner of a placement lends it. accepted: a holder has it, and serves. refused: whoever was to hold it has no room for more,
   * or owns it. report: half of the lease is over, and so much was read. written: a write of an object passed through its home.
   */
  kind: 'lease' | 'accepted' | 'refused' | 'report' | 'written';
  /** The node that says so. */
  from: number;
  /** All but written: what is lent. */
  readonly placement: U64;
  /** All but written: which time it is that the owner lends it, from 1 on. */
  turn: number;
  /** lease: how long it lasts, in milliseconds from its arrival. */
  leaseMs: number;
  /** report: reads of the placement since the lease came. */
  reads: number;
  /** written: the object. */
  readonly hash: Hash128;
}

/** A record to fill in before it is handed on. */
export function newNodeMessage(): NodeMessage {
  return {
    kind: 'lease',
    from: 0,
    placement: { hi: 0, lo: 0 },
    turn: 0,
    leaseMs: 0,
    reads: 0,
    hash: { h0: 0, h1: 0, h2: 0, h3: 0 },
  };
}
