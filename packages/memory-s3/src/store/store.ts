// What the embedded S3 holds: buckets of objects, and uploads that aren't complete yet.
//
// Objects are immutable records; a write replaces the record. So an answer keeps sending the object it
// began with, and readers see one version or the other, never a mixture.
import { randomUUID } from 'node:crypto';
import type { ByteString } from '../byte-string.ts';
import { S3Error } from '../s3-error.ts';
import type { Checksum, ChecksumAlgorithm, ChecksumType } from './checksum.ts';
import type { Content } from './content.ts';

export type Header = readonly [name: string, value: ByteString];
export type Tag = readonly [key: string, value: string];

/** One part of a multipart object, or of an upload in progress. */
export interface Part {
  readonly number: number;
  readonly content: Content;
  readonly etag: string;
  readonly checksum: Checksum | null;
  readonly lastModifiedMs: number;
}

export interface StoredObject {
  readonly key: ByteString;
  readonly content: Content;
  /** Without its quotes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** Content headers, user metadata and the like, answered as they were sent. */
  readonly headers: readonly Header[];
  readonly tags: readonly Tag[];
  readonly checksum: Checksum | null;
  /** Null for an object that was written in one piece. */
  readonly parts: readonly Part[] | null;
  /** The base64 MD5 of the key that a client encrypted with (SSE-C); null without. */
  readonly customerKeyMd5: string | null;
}

export interface Upload {
  readonly id: string;
  readonly key: ByteString;
  readonly initiatedMs: number;
  readonly headers: readonly Header[];
  readonly tags: readonly Tag[];
  readonly customerKeyMd5: string | null;
  readonly checksumAlgorithm: ChecksumAlgorithm | null;
  readonly checksumType: ChecksumType;
  readonly parts: Map<number, Part>;
}

/** A bucket. Its key order is rebuilt only when a listing follows a change. */
export class Bucket {
  readonly name: string;
  readonly createdMs: number;
  /** Uploads are hashed and counted, and their bytes forgotten. */
  readonly discards: boolean;
  tags: readonly Tag[] = [];
  readonly #objects = new Map<ByteString, StoredObject>();
  readonly #uploads = new Map<string, Upload>();
  #sortedKeys: ByteString[] | null = null;

  constructor(name: string, createdMs: number, discards: boolean) {
    this.name = name;
    this.createdMs = createdMs;
    this.discards = discards;
  }

  get(key: ByteString): StoredObject | null {
    return this.#objects.get(key) ?? null;
  }

  put(object: StoredObject): void {
    if (!this.#objects.has(object.key)) this.#sortedKeys = null;
    this.#objects.set(object.key, object);
  }

  delete(key: ByteString): void {
    if (this.#objects.delete(key)) this.#sortedKeys = null;
  }

  /** Keys in byte order. */
  keys(): readonly ByteString[] {
    this.#sortedKeys ??= [...this.#objects.keys()].sort(compareBytes);
    return this.#sortedKeys;
  }

  get isEmpty(): boolean {
    return this.#objects.size === 0;
  }

  startUpload(upload: Omit<Upload, 'id' | 'parts'>): Upload {
    const started = { ...upload, id: randomUUID().replaceAll('-', ''), parts: new Map() };
    this.#uploads.set(started.id, started);
    return started;
  }

  /** @throws S3Error NoSuchUpload also when the upload is for another key. */
  upload(id: string, key: ByteString): Upload {
    const upload = this.#uploads.get(id);
    if (upload?.key !== key) throw new S3Error('NoSuchUpload', undefined, { UploadId: id });
    return upload;
  }

  endUpload(id: string): void {
    this.#uploads.delete(id);
  }

  /** In S3's order: by key, then by start. */
  uploads(): readonly Upload[] {
    return [...this.#uploads.values()].sort(
      (a, b) => compareBytes(a.key, b.key) || a.initiatedMs - b.initiatedMs,
    );
  }
}

/** All buckets. */
export class Store {
  readonly #buckets = new Map<string, Bucket>();

  /** @throws S3Error NoSuchBucket */
  bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) throw new S3Error('NoSuchBucket', undefined, { BucketName: name });
    return bucket;
  }

  has(name: string): boolean {
    return this.#buckets.has(name);
  }

  create(name: string, createdMs: number, discards: boolean): Bucket {
    const bucket = new Bucket(name, createdMs, discards);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** @throws S3Error NoSuchBucket, BucketNotEmpty */
  delete(name: string): void {
    if (!this.bucket(name).isEmpty) {
      throw new S3Error('BucketNotEmpty', undefined, { BucketName: name });
    }
    this.#buckets.delete(name);
  }

  buckets(): readonly Bucket[] {
    return [...this.#buckets.values()].sort((a, b) => compareBytes(a.name, b.name));
  }
}

export function compareBytes(a: ByteString, b: ByteString): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
