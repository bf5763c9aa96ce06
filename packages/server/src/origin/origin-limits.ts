/** How much of an origin is used, and how long it is waited for. Every pool, queue and wait has its name here. */

export interface OriginLimits {
  /** Connections at most. */
  readonly connections: number;
  /** Requests in flight or waiting for a connection; one more fails as `busy`. */
  readonly requests: number;
  /** How often a request is sent in all, where it may be sent again. */
  readonly tries: number;
  /** For making a connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** For a connection to become free. */
  readonly waitTimeoutMs: number;
  /** From the request sent to the first byte of a fetch's answer. */
  readonly firstByteTimeoutMs: number;
  /** The same for forwarded requests: completing a big multipart upload takes origins minutes. */
  readonly forwardFirstByteTimeoutMs: number;
  /** Without a byte moving in a body, while the other side is ready for it. */
  readonly idleTimeoutMs: number;
  /** How long an unused connection is kept, unless the origin asks for less. */
  readonly keepAliveMs: number;
  /** Bytes of an answer's headers. */
  readonly maxHeaderBytes: number;
}

export const defaultOriginLimits: OriginLimits = {
  connections: 128,
  requests: 4096,
  tries: 3,
  connectTimeoutMs: 3000,
  waitTimeoutMs: 30_000,
  firstByteTimeoutMs: 30_000,
  forwardFirstByteTimeoutMs: 300_000,
  idleTimeoutMs: 30_000,
  keepAliveMs: 10_000,
  maxHeaderBytes: 32 * 1024,
};
