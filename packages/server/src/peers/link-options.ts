/**
 * The named limits and durations of links between processes of one cluster.
 *
 * Defaults hold for a zone: round trips well below a millisecond.
 */

export interface LinkOptions {
  /** The cluster secret; at least 16 bytes. */
  readonly secret: Uint8Array;
  /** From connecting until the link serves, in all. */
  readonly handshakeMs: number;
  /** TCP_RTO_MIN_US and TCP_DELACK_MAX_US on every link; 0 leaves the kernel's. */
  readonly rtoMinUs: number;
  readonly delackMaxUs: number;
}

export interface PeerOptions extends LinkOptions {
  /** Links that carry many small reads each, to one node. */
  readonly multiplexedLinks: number;
  /** Links that carry one large answer at a time, to one node. Few are better than many at 64 KiB. */
  readonly exclusiveLinks: number;
  /** Links that carry one passed-through request at a time, to one node. */
  readonly forwardLinks: number;
  /** Answers up to this many bytes share a link; larger ones get one of their own. */
  readonly smallAnswerBytes: number;
  /** Reads of this process that may be under way or wait, at all nodes together; further ones are busy. */
  readonly maxReads: number;
  /** Reads or requests that wait for a free exclusive or forward link. */
  readonly maxWaiting: number;
  /**
   * A multiplexed link that was silent this long is pinged, and reads leave a node that is silent for twice as long again. They don't wait
   * longer than twice this for a link that is being opened either.
   */
  readonly pingMs: number;
  /** A body that nobody takes for this long is read into memory, so that its link gets free. */
  readonly holdMs: number;
  /** An exclusive or forward link on which no byte moved for this long is closed, idle or not. */
  readonly idleMs: number;
  /** After a failed connection, the first pause before the next; it doubles up to `maxBackoffMs`. */
  readonly minBackoffMs: number;
  readonly maxBackoffMs: number;
  /** What is left of an unwanted answer is read and dropped up to this many bytes; with more to come the link is closed. */
  readonly drainBytes: number;
}

export const defaultPeerOptions: Omit<PeerOptions, 'secret'> = {
  handshakeMs: 5000,
  rtoMinUs: 5000,
  delackMaxUs: 5000,
  multiplexedLinks: 1,
  exclusiveLinks: 16,
  forwardLinks: 64,
  smallAnswerBytes: 32 * 1024,
  maxReads: 16 * 1024,
  maxWaiting: 4096,
  pingMs: 500,
  holdMs: 5000,
  idleMs: 60_000,
  minBackoffMs: 50,
  maxBackoffMs: 1000,
  drainBytes: 256 * 1024,
};

export interface LinkServerOptions extends LinkOptions {
  /** Links that may be open; further ones are refused. */
  readonly maxLinks: number;
  /** Reads that may wait for an answer; further ones are answered busy. */
  readonly maxReads: number;
  /** A link on which no byte moved for this long, and that carries no request, is closed. */
  readonly idleMs: number;
  /** Large answers leave by sendfile; false when the disk's pages may not be lent (they are copied then). */
  readonly lendPages: boolean;
}

export const defaultLinkServerOptions: Omit<LinkServerOptions, 'secret'> = {
  handshakeMs: 5000,
  rtoMinUs: 5000,
  delackMaxUs: 5000,
  maxLinks: 4096,
  maxReads: 64 * 1024,
  idleMs: 120_000,
  lendPages: true,
};

/** Bytes of a pass-through body that may wait in this process, each way. */
export const forwardWindowBytes = 256 * 1024;
