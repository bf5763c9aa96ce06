/**
 * A read as S3 gets it: header values as they travel, since what they mean is for S3 to say.
 *
 * Buckets, keys and ETags are binary strings. Null stands for a header that isn't there.
 */
export interface ReadConditions {
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
  readonly ifUnmodifiedSince: string | null;
}

export const noConditions: ReadConditions = {
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSince: null,
  ifUnmodifiedSince: null,
};

export interface S3Read {
  readonly bucket: string;
  readonly key: string;
  /** HEAD when true: the same answer without its body. */
  readonly head: boolean;
  /** The Range header. */
  readonly range: string | null;
  readonly conditions: ReadConditions;
}
