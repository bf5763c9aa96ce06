/**
 * Watches over the slab's length: somebody may cut the file while it is used.
 *
 * A read or write that fails as a short file's would makes it look. Is the file short, the core drops at once what lay behind its
 * end. The file gets its length back only when no answer is being sent any more from what was lost, whose bytes would come
 * back as zeros in the middle of it, and when the rows of what was lost are durably empty. Until then what would be stored there fails, and is fetched again.
 *
 *     whole ──suspicion──▶ measuring ──short──▶ short ──it needn't stay so──▶ restoring ──▶ whole
 *       ▲                      │ not short          ▲                               │ shorter still, or failed
 *       └──────────────────────┘                    └───────────────────────────────┘
 *
 * Restoring measures once more first: what a second cut took while the file was known to be short is dropped too.
 */
import { constants } from 'node:os';
import type { DiskFiles } from './disk-files.ts';

export interface SlabLengthEvents {
  /** The file ends at `bytes`, before `expected`. */
  onShort(bytes: number): void;
  /** Whether the file, cut at `bytes`, mustn't have its length back yet. */
  mustStayCut(bytes: number): boolean;
  onRestored(): void;
  onRestoreFailed(errno: number): void;
}

/** What reading a damaged disk or a file that ends early fails with. */
const suspicious: ReadonlySet<number> = new Set([constants.errno.EIO, constants.errno.ENXIO]);

/** Milliseconds between two attempts to restore the length, and two looks at pins. */
const retryMs = 10_000;
const pinMs = 200;

export class SlabLength {
  readonly #files: DiskFiles;
  readonly #expected: number;
  readonly #header: Uint8Array;
  readonly #events: SlabLengthEvents;
  #state: 'whole' | 'measuring' | 'short' | 'restoring' = 'whole';
  /** Where the file ends; Infinity while it isn't known to be short. */
  #bytes = Infinity;
  #notBefore = 0;

  /** `header` is what the file begins with; `expected` are its bytes, the header included. */
  constructor(files: DiskFiles, expected: number, header: Uint8Array, events: SlabLengthEvents) {
    this.#files = files;
    this.#expected = expected;
    this.#header = header;
    this.#events = events;
  }

  /**
   * Whether bytes that reach to `end` of the file may be gone although writing them went well: they were written before the file
   * was cut, and we are told of it only now.
   */
  mayHaveLost(end: number): boolean {
    return end > this.#bytes;
  }

  /** A read or a write of the slab failed. */
  suspect(errno: number): void {
    if (!suspicious.has(errno) || this.#state === 'measuring' || this.#state === 'restoring')
      return;
    const former = this.#state;
    this.#state = 'measuring';
    this.#files.measureSlab((failure, bytes) => {
      const isShorter = bytes < Math.min(this.#bytes, this.#expected);
      if (failure !== 0 || !isShorter) {
        this.#state = former;
        return;
      }
      this.#found(bytes);
    });
  }

  /** Call it a few times a second, `now` in milliseconds. */
  tick(now: number): void {
    if (this.#state !== 'short' || now < this.#notBefore) return;
    if (this.#events.mustStayCut(this.#bytes)) {
      this.#notBefore = now + pinMs;
      return;
    }
    this.#state = 'restoring';
    this.#files.measureSlab((errno, bytes) => {
      if (errno !== 0) this.#putOff(now, errno);
      else if (bytes < this.#bytes) this.#found(bytes);
      else this.#restore(now);
    });
  }

  #restore(now: number): void {
    this.#files.restoreSlab(this.#expected, this.#header, (errno) => {
      if (errno !== 0) {
        this.#putOff(now, errno);
        return;
      }
      this.#state = 'whole';
      this.#bytes = Infinity;
      this.#events.onRestored();
    });
  }

  /** The file ends earlier than was known. */
  #found(bytes: number): void {
    this.#state = 'short';
    this.#bytes = bytes;
    this.#events.onShort(bytes);
  }

  #putOff(now: number, errno: number): void {
    this.#state = 'short';
    this.#notBefore = now + retryMs;
    this.#events.onRestoreFailed(errno);
  }
}
