/**
 * How a request that the cache doesn't answer travels on: one request out, one answer back, both streamed.
 *
 * The interface stands between the gateway side (`pass-through.ts`, which verified the client) and whatever carries the
 * request to S3: the origin client of this process, or a link to the object's home. Neither side buffers: bytes are
 * taken during the call, and each direction has its own back-pressure.
 *
 * Strings are binary: one character for each byte, so that targets and header values stay exact.
 */

/** A verified client's request, on its way to the bucket's origin. Immutable. */
export interface ForwardRequest {
  readonly method: string;
  /** '' when the request names no bucket (ListBuckets). */
  readonly bucket: string;
  /** Decoded, '' when the request names no key. */
  readonly key: string;
  /** Path-style target as the client signed it: raw bytes, nothing normalised. */
  readonly target: string;
  /** Raw name, value, name, value, … in the client's order, repeated names included. */
  readonly headers: readonly string[];
  /** Bytes of the body as they will be written; null when there is none. */
  readonly bodyLength: number | null;
}

/**
 * What comes back. `onHead`, then any `onBody`, then `onEnd`; or `onFailed` at any moment instead of what is left.
 * Never called during `forward`, nor after `abort`.
 */
export interface ForwardSink {
  /** Headers as they came: raw name, value, …; informational answers never show up here. */
  onHead(status: number, headers: string[]): void;
  /** The bytes are only valid during the call. */
  onBody(bytes: Uint8Array): void;
  onEnd(): void;
  /** `code` is one of the S3 error codes; `message` says what went wrong, without secrets. */
  onFailed(error: { code: string; message: string }): void;
  /** A `write` that returned false has been worked off: more may be written. */
  onDrain(): void;
}

/** One request on its way. Calls after the end or the failure do nothing. */
export interface Forwarding {
  /** Hands on bytes of the body, copied during the call. False: wait for `onDrain` before writing more. */
  write(bytes: Uint8Array): boolean;
  /** The body is complete. Call it also when there is none. */
  end(): void;
  /** Ends the request so that the origin can't take a partial body for a whole one. Nothing follows. */
  abort(): void;
  /** Stops the answer's body until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ForwardPort {
  forward(request: ForwardRequest, sink: ForwardSink): Forwarding;
}
