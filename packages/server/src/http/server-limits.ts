/** Every limit of the HTTP server, by name. Times in milliseconds, sizes in bytes. */
export interface ServerLimits {
  /** Client connections; further ones are answered with 503 SlowDown at once. */
  readonly maxConnections: number;
  /** How long a connection without a request may stay. Above 65 s, so that load balancers give up first. */
  readonly keepAliveMs: number;
  /** From a head's first byte to its last. */
  readonly headMs: number;
  /** Without progress while a body or an answer is on its way. */
  readonly bodyIdleMs: number;
  /**
   * How long a client that sent its FIN is waited for before its answer begins. Whether it half-closed or left can't be
   * told until something is written.
   */
  readonly halfClosedMs: number;
  /** An unread body up to this size is read and dropped to keep the connection; a longer one costs the connection. */
  readonly maxDrainBytes: number;
  /** Bytes kept that came before their time: pipelined requests, a body that nobody reads yet. */
  readonly maxPendingBytes: number;
  /** How long, and how much, is read from a client that is sent away, so that it gets to see its answer. */
  readonly lingerMs: number;
  readonly maxLingerBytes: number;
  /** How often times are looked at. */
  readonly sweepMs: number;
}

export const defaultServerLimits: ServerLimits = {
  maxConnections: 16_000,
  keepAliveMs: 75_000,
  headMs: 30_000,
  bodyIdleMs: 60_000,
  halfClosedMs: 10_000,
  maxDrainBytes: 65_536,
  maxPendingBytes: 1_048_576,
  lingerMs: 5_000,
  maxLingerBytes: 64 * 1_048_576,
  sweepMs: 1_000,
};
