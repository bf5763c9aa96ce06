/**
 * The origin of a whole run, memory-s3 in this very process, with the history of each of its objects. It lives through all lives of
 * the program, as S3 would.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { Dice } from '../dice.ts';
import { ObjectHistory } from './history.ts';

const kib = 1 << 10;
const mib = 1 << 20;

/** The buckets, as the program's configuration describes them and as the judge must know them. */
export const buckets = {
  /** Never overwritten, so its metadata is trusted for ever: also by a later life. */
  frozen: { isFrozen: true, staleMs: 0, policy: 'immutable = true\nadmit_on_first_read = true' },
  /** Each read is confirmed with the origin. */
  exact: { isFrozen: false, staleMs: 0, policy: 'ttl_ms = 0\nadmit_on_first_read = true' },
  /** Reads may lag behind a little; blocks are stored on their second read. */
  lagging: { isFrozen: false, staleMs: 300, policy: 'ttl_ms = 300' },
} as const;

/** What clocks of two processes on one machine may differ by, rounded up to what a test can bear. */
const clockMs = 10;
/** More than the cache holds, so that blocks come and go. */
const objectsOfBucket = 80;

/** The size of an object: of every order from one byte to a few MiB, and a few larger ones. */
export function drawSize(dice: Dice): number {
  const kind = dice.weighted({ small: 35, block: 56, large: 8, huge: 1 });
  const logUniform = (first: number, last: number): number =>
    Math.round(first * (last / first) ** dice.share());
  switch (kind) {
    case 'small':
      return logUniform(1, 32 * kib);
    case 'block':
      return logUniform(32 * kib, 2 * mib);
    case 'large':
      return dice.pick([mib, 2 * mib, 3 * mib + 1, 5 * mib - 1, 6 * mib + 4096]);
    case 'huge':
      return dice.between(8 * mib, 12 * mib);
  }
}

export class Origin {
  readonly s3: MemoryS3;
  readonly objects: readonly ObjectHistory[];

  readonly #putsEnded: () => number;

  private constructor(s3: MemoryS3, objects: readonly ObjectHistory[], putsEnded: () => number) {
    this.s3 = s3;
    this.objects = objects;
    this.#putsEnded = putsEnded;
  }

  static async start(dice: Dice): Promise<Origin> {
    let putsEnded = 0;
    const s3 = await startMemoryS3({
      buckets: Object.keys(buckets),
      onRequest: (line) => {
        if (line.includes(' PutObject ')) putsEnded++;
      },
    });
    const objects: ObjectHistory[] = [];
    for (const [bucket, { staleMs }] of Object.entries(buckets)) {
      for (let index = 0; index < objectsOfBucket; index++) {
        const id = objects.length + 1;
        const name = { id, bucket, key: `object-${index}`, staleMs: staleMs + clockMs };
        objects.push(new ObjectHistory(name));
      }
    }
    const origin = new Origin(s3, objects, () => putsEnded);
    for (const object of objects) origin.overwrite(object, drawSize(dice));
    return origin;
  }

  /** Those that may be overwritten now. */
  writable(): ObjectHistory[] {
    return this.objects.filter(({ isWritable, name }) => isWritable && !isFrozen(name.bucket));
  }

  /** Puts a new version behind the cache. */
  overwrite(object: ObjectHistory, size: number): void {
    const version = object.begin(performance.now(), size);
    this.s3.put(object.name.bucket, object.name.key, object.contentOf(version));
    object.done(performance.now(), version, 'behind the cache');
  }

  /** After a life: waits until nothing is on its way here any more, and finds out how its last writes ended. */
  async settle(): Promise<void> {
    // What the ended processes had sent is read from their sockets within a turn or two of this one's loop.
    for (let quiet = 0; quiet < 2;) {
      await sleep(15);
      quiet = this.s3.traffic.count('PutObject') === this.#putsEnded() ? quiet + 1 : 0;
    }
    for (const object of this.objects) {
      if (!object.isUnsettled) continue;
      const stored = this.s3.get(object.name.bucket, object.name.key);
      object.settle(performance.now(), stored?.etag ?? '');
    }
  }

  stop(): Promise<void> {
    return this.s3.close();
  }
}

function isFrozen(bucket: string): boolean {
  return buckets[bucket as keyof typeof buckets].isFrozen;
}
