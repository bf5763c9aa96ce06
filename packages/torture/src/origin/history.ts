/**
 * What one object was, and when: the judge's knowledge of what an answer may be.
 *
 * A version may be answered from the moment its write began until the last moment that a read could still see it: when a later write
 * was known to be done, plus the bucket's staleness if the write went past the cache. A write through the gateway ends that at once,
 * since reads that begin after it must see it. A write whose outcome nobody knows leaves both versions possible, and the object is
 * not written again, until `settle` says which one the origin holds.
 */
import { createHash } from 'node:crypto';
import { contentOf } from './contents.ts';

export interface Version {
  readonly number: number;
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  /** Milliseconds: no read that ended before may have seen it. */
  readonly firstSeen: number;
  /** Milliseconds: no read that began after may see it. */
  lastSeen: number;
}

export interface ObjectName {
  /** u32, its own among all objects of a run. */
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  /** How long its bucket's policy allows a read to lag behind the origin, in milliseconds. */
  readonly staleMs: number;
}

export class ObjectHistory {
  readonly name: ObjectName;
  /** In the order of their writes; those that no read can see any more are forgotten. */
  #versions: Version[] = [];
  #written = 0;
  #isWriting = false;
  #isUnsettled = false;

  constructor(name: ObjectName) {
    this.name = name;
  }

  /** Whether a write may begin: there is one writer at a time, and none while the outcome of a write is unknown. */
  get isWritable(): boolean {
    return !this.#isWriting && !this.#isUnsettled;
  }

  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** The version that was written last, perhaps. */
  get newest(): Version {
    const newest = this.#versions.at(-1);
    if (newest === undefined) throw new Error(`${this.name.key} was never written`);
    return newest;
  }

  /** All bytes of a version. */
  contentOf(version: Version): Buffer {
    return contentOf(this.name.id, version.number, version.size);
  }

  /** A write begins. The version may be seen from `now` on. */
  begin(now: number, size: number): Version {
    this.#isWriting = true;
    const number = ++this.#written;
    const etag = createHash('md5')
      .update(contentOf(this.name.id, number, size))
      .digest('hex');
    const version = { number, size, etag, firstSeen: now, lastSeen: Infinity };
    this.#versions.push(version);
    return version;
  }

  /** The write is done. `how` says whether the gateway knows of it, and so whether staleness applies. */
  done(now: number, version: Version, how: 'through the gateway' | 'behind the cache'): void {
    this.#isWriting = false;
    this.#supersede(version, how === 'through the gateway' ? now : now + this.name.staleMs);
    this.#versions = this.#versions.filter(({ lastSeen }) => lastSeen >= now - maxReadMs);
  }

  /** The write ended in an unknown way: it may still take effect. */
  lost(): void {
    this.#isWriting = false;
    this.#isUnsettled = true;
  }

  /** Nothing is on its way to the origin any more, which holds the version with this ETag. */
  settle(now: number, etag: string): void {
    this.#isUnsettled = false;
    const current = this.#versions.findLast((version) => version.etag === etag);
    if (current === undefined)
      throw new Error(`${this.name.key}: the origin holds what nobody put`);
    this.#supersede(current, now + this.name.staleMs);
  }

  /** The versions that a read which began and ended then may have seen, the newest first. */
  possible(began: number, ended: number): Version[] {
    return this.#versions
      .filter(({ firstSeen, lastSeen }) => firstSeen <= ended && lastSeen >= began)
      .reverse();
  }

  #supersede(current: Version, lastSeen: number): void {
    for (const version of this.#versions) {
      if (version !== current) version.lastSeen = Math.min(version.lastSeen, lastSeen);
    }
  }
}

/** Reads take less than this, or count as hanging. */
export const maxReadMs = 30_000;
