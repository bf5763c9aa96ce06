/** Every bound of a gateway, by name. Reaching one is counted and answered, never ignored. */
export interface GatewayLimits {
  /** Client reads at a time; one more is answered SlowDown. */
  readonly maxReads: number;
  /** Bytes that one read may ask for ahead of what its client has taken; a block at least. */
  readonly readAheadBytes: number;
  /** Reads beyond one a client, and bytes asked for that no client has taken, over all clients. */
  readonly maxAheadReads: number;
  readonly maxAheadBytes: number;
  /** How often a read is sent to a node, all in all, before it counts as failed. */
  readonly maxAttempts: number;
  /** How long reads go round a node that failed, unless it is reached earlier. */
  readonly suspectMs: number;
  /** A lookup brings at most this much of the body along, so that its answer fits a shared link. */
  readonly smallAnswerBytes: number;
  /** Objects, and bytes of their headers, in the metadata cache. */
  readonly metadataEntries: number;
  readonly metadataBytes: number;
  /** How long metadata that isn't immutable is used without asking the home again, at most. */
  readonly gatewayTtlMs: number;
  /** How often one read starts over because its object changed; then it is passed through. */
  readonly maxRestarts: number;
  /** A node that hasn't answered by then is treated as gone. */
  readonly readTimeoutMs: number;
  /** How long an object is confirmed on every read after a write whose outcome nobody knows. */
  readonly unknownWriteMs: number;
  /** Hot placements whose reads are spread. */
  readonly maxHotHints: number;
}

export const defaultGatewayLimits: GatewayLimits = {
  maxReads: 4096,
  readAheadBytes: 8 * 1024 * 1024,
  maxAheadReads: 512,
  maxAheadBytes: 256 * 1024 * 1024,
  maxAttempts: 3,
  suspectMs: 5000,
  smallAnswerBytes: 32 * 1024,
  metadataEntries: 200_000,
  metadataBytes: 128 * 1024 * 1024,
  gatewayTtlMs: 1000,
  maxRestarts: 3,
  readTimeoutMs: 30_000,
  unknownWriteMs: 60_000,
  maxHotHints: 1024,
};
