/** One question of a node to another: what it holds of something that moved. */
export interface PeerAsk {
  readonly node: number;
  /** Which life of the asking node's process. */
  readonly life: number;
  readonly peer: number;
  readonly bucket: string;
  readonly key: string;
  /** blocks: the version and the position of the block; '' and -1 for an object's metadata. */
  readonly etag: string;
  readonly first: number;
  readonly askedAt: number;

  /** When the other node said what it has; Infinity while it said nothing. */
  answeredAt: number;

  /** served: it has it and sent it. absent: it hasn't. failed: it couldn't be reached, or broke off. givenUp: it took too long. */
  end: 'open' | 'served' | 'absent' | 'failed' | 'givenUp';
  endedAt: number;
}

/** A fill from S3 whose first block one of the previous owners held at that moment. */
export interface MovedFill {
  readonly node: number;
  readonly life: number;
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
  /** Position of the block's first byte. */
  readonly first: number;
  readonly sentAt: number;
  /** When the node learned of a ring last. */
  readonly learnedAt: number;
  /** Previous owners, by the rings that the node knew, that ran and had the block ready to be sent. */
  readonly holders: readonly number[];
}
