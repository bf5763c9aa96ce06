/**
 * One state of one key: an object's version, or that there is none.
 *
 * ETags follow from content, as they do in S3: the same bytes stored twice have the same ETag, and the bytes of a version
 * follow from its ETag. Number and length of the content stand in it, so no two contents share one.
 */
export interface Version {
  /** Counts the versions of a run, from 1; 0 for the state of a key that was never written. */
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  /** Raw header value, quotes included, `W/"…"` when weak; '' when the key is missing. */
  readonly etag: string;
  readonly size: number;
  /** Which bytes: see content.ts. */
  readonly content: number;
  /** Seconds since 1970. */
  readonly lastModified: number;
  /** The client's write that made it, -1 when it was written behind the cache's back. */
  readonly write: number;
  /** It is current in [since, until); `until` is Infinity as long as it is. */
  readonly since: number;
  until: number;
}

/** What is stored by a write. */
export interface NewObject {
  readonly size: number;
  readonly content: number;
  /** Parts of a multipart upload, 0 for an object stored at once. */
  readonly parts: number;
  readonly isWeak: boolean;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

export function etagOf({ size, content, parts, isWeak }: NewObject): string {
  const upload = parts === 0 ? '' : `-${parts}`;
  const tag = `"${hex(content, 12)}${hex(size, 12)}${'0'.repeat(8)}${upload}"`;
  return isWeak ? `W/${tag}` : tag;
}
