/** What happened to blocks on disks, as the world saw it from outside the machines. */

/** A block as the world knows it: from the identity digest's table of what it hashed. */
export interface BlockName {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
  readonly index: number;
}

/** A node began to write a block to a slot: it was let in. */
export interface Admission {
  readonly node: number;
  readonly life: number;
  readonly at: number;
  readonly block: BlockName;
  /** The bucket's policy stores on first read. */
  readonly admitsOnFirstRead: boolean;
  /**
   * owner: the node ranks first for the block's chunk, or is its home. stand-in: for a suspected owner. replica: its owner lent it
   * to the node.
   */
  readonly as: 'owner' | 'stand-in' | 'replica' | 'other';
  /** When the last lease of it that came here is over, -Infinity without any. */
  readonly lentUntil: number;
  /** The node had a reason besides reads: handover, lease, warming. */
  readonly isAtOnce: boolean;
}

/**
 * The life of a slot's content within one life of a node:
 * written: its bytes are in the file. trusted: restored from a run that ended clean. untrusted: restored from one that
 * didn't. verified: compared with its checksum and intact. damaged: compared and not. served: bytes of it were answered.
 * left: dropped or evicted.
 */
export type SlotEventKind =
  'written' | 'trusted' | 'untrusted' | 'verified' | 'damaged' | 'served' | 'left';

export interface SlotEvent {
  readonly node: number;
  readonly life: number;
  readonly at: number;
  readonly slot: number;
  readonly kind: SlotEventKind;
}
