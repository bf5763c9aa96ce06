/** What a client writes. */
import type { WriteOperation } from '../history/client-write.ts';
import type { NewObject } from '../oracle/version.ts';
import type { WriteConditions } from '../oracle/oracle.ts';

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly bucket: string;
  /** One, or a multi-delete's. */
  readonly keys: readonly string[];
  /** A copy's. */
  readonly source: { readonly bucket: string; readonly key: string } | null;
  /** What a put or a completed upload stores. */
  readonly object: NewObject | null;
  readonly conditions: WriteConditions;
}
