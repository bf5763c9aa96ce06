/**
 * What a credential may do: the one table from operation to needed right, and the grants that are held against it.
 *
 * Default deny: an operation is allowed only when a grant covers all that it touches. `write` includes `read`; a grant's
 * prefix covers the keys that begin with it, byte for byte, so `a/b` covers `a/bc` and a directory's prefix ends with its
 * slash. Nothing here is cached: each (credential, operation, key) is judged on its own, on every hit.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { CopySource, Resource } from '@s3-accelerator/core/s3/object-key.ts';
import type { Operation } from './operation.ts';
import { PrefixSet } from './prefix-set.ts';

export type Access = 'read' | 'write';

export interface Grant {
  /** `*` for every bucket. */
  readonly bucket: string;
  /** A binary string; '' covers the whole bucket. */
  readonly prefix: string;
  readonly access: Access;
}

/** What an operation needs. */
export type Right =
  /** Any client may ask; the answer shows only buckets that it holds a grant in. */
  | 'filteredBuckets'
  /** Any grant within the bucket. */
  | 'anyInBucket'
  /** `read` on all keys that begin with the listing's prefix. */
  | 'readPrefix'
  | 'readKey'
  | 'writeKey'
  /** `write` on the key, `read` on the source. */
  | 'writeKeyReadSource'
  /** `write` on each key named in the body, which `authorizeKeys` is asked about once it is read. */
  | 'writeEachKey'
  | 'readBucket'
  | 'writeBucket';

export const neededRight: Readonly<Record<Operation, Right>> = {
  ListBuckets: 'filteredBuckets',
  HeadBucket: 'anyInBucket',
  GetBucketLocation: 'anyInBucket',
  ListObjects: 'readPrefix',
  ListObjectsV2: 'readPrefix',
  ListObjectVersions: 'readPrefix',
  ListMultipartUploads: 'readPrefix',
  GetObject: 'readKey',
  HeadObject: 'readKey',
  GetObjectAcl: 'readKey',
  GetObjectTagging: 'readKey',
  GetObjectAttributes: 'readKey',
  GetObjectLegalHold: 'readKey',
  GetObjectRetention: 'readKey',
  GetObjectTorrent: 'readKey',
  ListParts: 'readKey',
  SelectObjectContent: 'readKey',
  PutObject: 'writeKey',
  UploadPart: 'writeKey',
  CreateMultipartUpload: 'writeKey',
  CompleteMultipartUpload: 'writeKey',
  AbortMultipartUpload: 'writeKey',
  DeleteObject: 'writeKey',
  PutObjectAcl: 'writeKey',
  PutObjectTagging: 'writeKey',
  DeleteObjectTagging: 'writeKey',
  PutObjectLegalHold: 'writeKey',
  PutObjectRetention: 'writeKey',
  RestoreObject: 'writeKey',
  UpdateObjectEncryption: 'writeKey',
  PurgeObject: 'writeKey',
  CopyObject: 'writeKeyReadSource',
  UploadPartCopy: 'writeKeyReadSource',
  DeleteObjects: 'writeEachKey',
  PostObject: 'writeEachKey',
  ReadBucketSettings: 'readBucket',
  WriteBucketSettings: 'writeBucket',
  CreateBucket: 'writeBucket',
  DeleteBucket: 'writeBucket',
  RenameObject: 'writeBucket',
  CreateSession: 'writeBucket',
  Unknown: 'writeBucket',
};

/**
 * The grants of one credential, by bucket. Immutable.
 *
 * A client may hold very many, and every request asks: a look at two buckets and a binary search in each, whatever their number.
 */
export class GrantSet {
  readonly #read: ReadonlyMap<string, PrefixSet>;
  readonly #write: ReadonlyMap<string, PrefixSet>;

  constructor(grants: readonly Grant[]) {
    // Writing includes reading.
    this.#read = prefixesByBucket(grants);
    this.#write = prefixesByBucket(grants.filter(({ access }) => access === 'write'));
  }

  /** Whether all keys of the bucket that begin with `prefix` may be read or written; a key is its own prefix. */
  covers(access: Access, bucket: string, prefix: string): boolean {
    const granted = this.#of(access);
    return (
      granted.get(bucket)?.covers(prefix) === true || granted.get('*')?.covers(prefix) === true
    );
  }

  /** Whether any grant lies within the bucket. */
  touches(bucket: string, access: Access = 'read'): boolean {
    const granted = this.#of(access);
    return granted.has(bucket) || granted.has('*');
  }

  #of(access: Access): ReadonlyMap<string, PrefixSet> {
    return access === 'write' ? this.#write : this.#read;
  }
}

function prefixesByBucket(grants: readonly Grant[]): ReadonlyMap<string, PrefixSet> {
  const lists = new Map<string, string[]>();
  for (const { bucket, prefix } of grants) {
    const list = lists.get(bucket);
    if (list === undefined) lists.set(bucket, [prefix]);
    else list.push(prefix);
  }
  return new Map([...lists].map(([bucket, list]) => [bucket, new PrefixSet(list)]));
}

export interface Wanted {
  readonly operation: Operation;
  readonly resource: Resource;
  /** The decoded `prefix` of a listing; '' when it has none. */
  readonly prefix: string;
  /** The source of a copy; null for every other operation, and for a source that can't be read. */
  readonly copySource: CopySource | null;
}

/** Null when the grants allow it, else the error to answer with. */
export function authorize(grants: GrantSet, wanted: Wanted): ErrorCode | null {
  const { bucket, key } = wanted.resource;
  switch (neededRight[wanted.operation]) {
    case 'filteredBuckets':
      return null;
    case 'anyInBucket':
      return verdict(grants.touches(bucket));
    case 'readPrefix':
      return verdict(grants.covers('read', bucket, wanted.prefix));
    case 'readKey':
      return verdict(grants.covers('read', bucket, key));
    case 'writeKey':
      return verdict(grants.covers('write', bucket, key));
    case 'writeKeyReadSource': {
      const source = wanted.copySource;
      if (!grants.covers('write', bucket, key)) return 'AccessDenied';
      if (source === null) return 'InvalidArgument';
      return verdict(grants.covers('read', source.bucket, source.key));
    }
    case 'writeEachKey':
      return verdict(grants.touches(bucket, 'write'));
    case 'readBucket':
      return verdict(grants.covers('read', bucket, ''));
    case 'writeBucket':
      return verdict(grants.covers('write', bucket, ''));
  }
}

/** The second half of `writeEachKey`: null when every key named in the body may be written. */
export function authorizeKeys(
  grants: GrantSet,
  bucket: string,
  keys: readonly string[],
): ErrorCode | null {
  return verdict(keys.every((key) => grants.covers('write', bucket, key)));
}

function verdict(allowed: boolean): ErrorCode | null {
  return allowed ? null : 'AccessDenied';
}
