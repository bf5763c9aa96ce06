// What every operation gets: the request, who signed it, the store, and its body on demand.
import type { ByteString } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import type { Upload } from '../http/receive-body.ts';
import type { S3Request } from '../http/request.ts';
import type { ChecksumAlgorithm } from '../store/checksum.ts';
import type { Bucket, Store } from '../store/store.ts';

export interface Context {
  readonly request: S3Request;
  readonly store: Store;
  readonly region: string;
  /** The moment the request came in, by the server's clock. */
  readonly nowMs: number;
  /** The clock, for moments after a body was received. */
  clock(): number;
  /** @throws S3Error NoSuchBucket */
  bucket(): Bucket;
  /** The key; only for operations on objects. */
  readonly key: ByteString;
  /** Receives the body as an object's bytes. Without a checksum from the client, `wanted` is computed. */
  upload(wanted?: ChecksumAlgorithm | null): Promise<Upload>;
  /** Receives the body as a small document. */
  document(): Promise<Buffer>;
}

export type Operation = (context: Context) => Answer | Promise<Answer>;
