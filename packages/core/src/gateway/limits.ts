/** Every bound of a gateway, by name. Reaching one is counted and answered, never ignored. */
export interface GatewayLimits {
  /** Client reads at a time; one more is answered SlowDown. */
  readonly maxReads: number;
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
  /** Objects whose last write is remembered one by one. */
  readonly maxWriteMarks: number;
  /** How long an object is confirmed on every read after a write whose outcome nobody knows. */
  readonly unknownWriteMs: number;
}

export const defaultGatewayLimits: GatewayLimits = {
  maxReads: 4096,
  smallAnswerBytes: 32 * 1024,
  metadataEntries: 200_000,
  metadataBytes: 128 * 1024 * 1024,
  gatewayTtlMs: 1000,
  maxRestarts: 3,
  readTimeoutMs: 30_000,
  maxWriteMarks: 10_000,
  unknownWriteMs: 60_000,
};
