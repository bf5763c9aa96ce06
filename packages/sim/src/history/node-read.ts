/** What is known of a read that a gateway asks of a node, as it arrives. */
export interface NodeReadStart {
  readonly node: number;
  readonly life: number;
  readonly kind: 'lookup' | 'blocks';
  readonly bucket: string;
  readonly key: string;
  /** blocks: the version asked for; '' for a lookup. */
  readonly etag: string;
  /** blocks: bytes [first, last] of it, and the last byte that the reader will want after them in this chunk. */
  readonly first: number;
  readonly last: number;
  readonly partLast: number;
  /** The node is to store what it fetches as if it were the owner. */
  readonly standsIn: boolean;
  readonly arrivedAt: number;
}

/** The read as the node saw it. */
export interface NodeRead extends NodeReadStart {
  /** Counts the node reads of a run. */
  readonly id: number;

  /** When its answer was complete, or it was cancelled; Infinity while it's under way. */
  endedAt: number;
  /** served: metadata or bytes, all of them. failed: an answer without. aborted: broke off. cancelled: nobody waits. */
  end: 'open' | 'served' | 'failed' | 'aborted' | 'cancelled';
  /** failed: why, in the machines' words; '' otherwise. `origin`: S3 said no, or nothing. */
  failure: '' | 'changed' | 'uncacheable' | 'busy' | 'origin' | 'peer' | 'absent';
  /** The request to S3 whose error was the answer; -1 for none. */
  errorOf: number;
}

export function newNodeRead(id: number, start: NodeReadStart): NodeRead {
  return { id, ...start, endedAt: Infinity, end: 'open', failure: '', errorOf: -1 };
}
