/**
 * S3 as it should be: every version of every key with the time it was current, so that any answer can be judged.
 *
 * It is both the origin of a simulated run (`answer`, `put`, …, at the moment a request takes effect) and the judge's
 * memory (`history`). It shares no code with the machines that it judges. Time is the run's one time, in milliseconds, and
 * never goes back.
 */
import { rangeAnswer } from './byte-range.ts';
import { conditionsAnswer } from './conditions.ts';
import type { S3Read } from './request.ts';
import { etagOf, type NewObject, type Version } from './version.ts';

/** What S3 says to a read. */
export interface S3Answer {
  readonly status: 200 | 206 | 304 | 404 | 412 | 416;
  /** S3's error code, '' for 200, 206 and 304. */
  readonly code: '' | 'NoSuchKey' | 'PreconditionFailed' | 'InvalidRange';
  /** The version that it speaks of; 416 names its size, 404 speaks of none that exists. */
  readonly version: Version;
  /** Content bytes [first, first + length) are the body, or would be for HEAD; 0 and 0 for 304 and errors. */
  readonly first: number;
  readonly length: number;
}

/** What S3 says to a write. */
export interface WriteAnswer {
  readonly status: 200 | 204 | 404 | 412;
  readonly code: '' | 'NoSuchKey' | 'PreconditionFailed';
  /** What it made; null when nothing changed. */
  readonly version: Version | null;
}

/** Conditions of a write, checked at the moment of the change. */
export interface WriteConditions {
  readonly ifMatch: string | null;
  /** S3 knows `*` alone. */
  readonly ifNoneMatch: '*' | null;
}

export const anyState: WriteConditions = { ifMatch: null, ifNoneMatch: null };

/** The name of an object in messages and maps. Buckets hold no slash. */
export function nameOf(bucket: string, key: string): string {
  return `${bucket}/${key}`;
}

export class Oracle {
  readonly #objects = new Map<string, Version[]>();
  readonly #epochSeconds: number;
  #versions = 0;
  #contents = 0;
  #now = -Infinity;

  /** `epochSeconds` is the wall clock, in seconds since 1970, at the run's time 0. */
  constructor(epochSeconds: number) {
    this.#epochSeconds = epochSeconds;
  }

  /** Bytes that nobody stored before, for `NewObject.content`. */
  newContent(): number {
    this.#contents += 1;
    return this.#contents;
  }

  /** All states of a key, oldest first, each until the next; the first is that it's missing. */
  history(bucket: string, key: string): readonly Version[] {
    return this.#states(bucket, key);
  }

  current(bucket: string, key: string): Version {
    return this.#states(bucket, key).at(-1)!;
  }

  /** Every key that was written or asked for, as its states. */
  objects(): Iterable<readonly Version[]> {
    return this.#objects.values();
  }

  /** PutObject. `write` is the client's write that does it, -1 for one behind the cache's back. */
  put(
    now: number,
    bucket: string,
    key: string,
    object: NewObject,
    write = -1,
    conditions = anyState,
  ): WriteAnswer {
    const refusal = this.#refusal(bucket, key, conditions);
    if (refusal !== null) return refusal;
    return { status: 200, code: '', version: this.#store(now, bucket, key, object, write) };
  }

  /** CompleteMultipartUpload: `object.parts` parts, whose number stands in the ETag. */
  complete(
    now: number,
    bucket: string,
    key: string,
    object: NewObject,
    write = -1,
    conditions = anyState,
  ): WriteAnswer {
    if (object.parts < 1) throw new Error('an upload has at least one part');
    return this.put(now, bucket, key, object, write, conditions);
  }

  /** CopyObject: the source's bytes as an object stored at once, whatever it was before. */
  copy(
    now: number,
    bucket: string,
    key: string,
    sourceBucket: string,
    sourceKey: string,
    write = -1,
  ): WriteAnswer {
    const source = this.current(sourceBucket, sourceKey);
    if (source.etag === '') return { status: 404, code: 'NoSuchKey', version: null };
    const { size, content } = source;
    const object = { size, content, parts: 0, isWeak: source.etag.startsWith('W/') };
    return { status: 200, code: '', version: this.#store(now, bucket, key, object, write) };
  }

  /** DeleteObject: what isn't there is deleted as well. */
  delete(now: number, bucket: string, key: string, write = -1): WriteAnswer {
    const version = this.#append(now, bucket, key, '', 0, 0, write);
    return { status: 204, code: '', version };
  }

  /** DeleteObjects. */
  deleteAll(now: number, bucket: string, keys: readonly string[], write = -1): Version[] {
    return keys.map((key) => this.#append(now, bucket, key, '', 0, 0, write));
  }

  /** GetObject or HeadObject, at this moment. */
  answer(request: S3Read): S3Answer {
    return answerFrom(this.current(request.bucket, request.key), request);
  }

  #refusal(bucket: string, key: string, conditions: WriteConditions): WriteAnswer | null {
    const { ifMatch, ifNoneMatch } = conditions;
    if (ifMatch === null && ifNoneMatch === null) return null;
    const { etag } = this.current(bucket, key);
    if (ifNoneMatch !== null && etag !== '') return failed;
    if (ifMatch === null) return null;
    if (etag === '') return { status: 404, code: 'NoSuchKey', version: null };
    return ifMatch === etag || ifMatch === '*' ? null : failed;
  }

  #store(now: number, bucket: string, key: string, object: NewObject, write: number): Version {
    const { size, content } = object;
    return this.#append(now, bucket, key, etagOf(object), size, content, write);
  }

  #append(
    now: number,
    bucket: string,
    key: string,
    etag: string,
    size: number,
    content: number,
    write: number,
  ): Version {
    if (now < this.#now) throw new Error('time went back at the oracle');
    this.#now = now;
    this.#versions += 1;
    const states = this.#states(bucket, key);
    states.at(-1)!.until = now;
    const lastModified = this.#epochSeconds + Math.floor(now / 1000);
    const version: Version = {
      id: this.#versions,
      bucket,
      key,
      etag,
      size,
      content,
      lastModified,
      write,
      since: now,
      until: Infinity,
    };
    states.push(version);
    return version;
  }

  #states(bucket: string, key: string): Version[] {
    const name = nameOf(bucket, key);
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const states = [neverWritten(bucket, key)];
    this.#objects.set(name, states);
    return states;
  }
}

const failed: WriteAnswer = { status: 412, code: 'PreconditionFailed', version: null };

function neverWritten(bucket: string, key: string): Version {
  return {
    id: 0,
    bucket,
    key,
    etag: '',
    size: 0,
    content: 0,
    lastModified: 0,
    write: -1,
    since: -Infinity,
    until: Infinity,
  };
}

/** What S3 says to a read while `version` is current: that there is something, then conditions, then the range. */
export function answerFrom(version: Version, request: S3Read): S3Answer {
  const { etag, size, lastModified } = version;
  if (etag === '') return { status: 404, code: 'NoSuchKey', version, first: 0, length: 0 };
  switch (conditionsAnswer(request.conditions, etag, lastModified)) {
    case 'failed':
      return { status: 412, code: 'PreconditionFailed', version, first: 0, length: 0 };
    case 'not modified':
      return { status: 304, code: '', version, first: 0, length: 0 };
    case 'serve':
  }
  const range = rangeAnswer(request.range, size);
  switch (range.kind) {
    case 'unsatisfiable':
      return { status: 416, code: 'InvalidRange', version, first: 0, length: 0 };
    case 'whole':
      return { status: 200, code: '', version, first: 0, length: size };
    case 'part':
      return { status: 206, code: '', version, first: range.first, length: range.length };
  }
}
