/** How one bucket is cached. */
export interface BucketPolicy {
  /** Metadata never needs to be confirmed again. */
  readonly immutable: boolean;
  /** Metadata older than this, in milliseconds, is confirmed before it is used. */
  readonly ttlMs: number;
  /** A block is stored on its first read. */
  readonly admitOnFirstRead: boolean;
}

/** The policy of a bucket: its own, or the default. */
export type PolicyOf = (bucket: string) => BucketPolicy;
