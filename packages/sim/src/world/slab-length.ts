/**
 * A slab that was cut while it is used, as the program's driver deals with it: whoever reads or writes past its end makes it look,
 * the machine drops at once what lay there, and the file gets its length back once nothing is being sent from there any more.
 */
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { EventQueue } from './event-queue.ts';
import type { NodeFiles } from './node-files.ts';

/** Milliseconds between two looks at what is still being sent. */
const lookMs = 200;

export class SlabLength {
  readonly #queue: EventQueue;
  readonly #files: NodeFiles;
  readonly #store: Store;
  readonly #onTruncated: (slabBytes: number) => void;
  /** Where the file was last found to end. */
  #known: number;
  #isMeasuring = false;
  #isOver = false;

  constructor(
    queue: EventQueue,
    files: NodeFiles,
    store: Store,
    onTruncated: (slabBytes: number) => void,
  ) {
    this.#queue = queue;
    this.#files = files;
    this.#store = store;
    this.#onTruncated = onTruncated;
    this.#known = files.slabBytes;
  }

  /** The process is over. */
  stop(): void {
    this.#isOver = true;
  }

  /** Whether a slot's bytes are there; the file is measured soon if not. */
  holds(slot: SlotId, bytes: number): boolean {
    if (this.#store.fileOffset(slot) + bytes <= this.#files.slabBytes) return true;
    this.#measureSoon();
    return false;
  }

  #measureSoon(): void {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    this.#files.disk.read(() => {
      this.#isMeasuring = false;
      const { slabBytes } = this.#files;
      if (slabBytes >= this.#known) return;
      this.#known = slabBytes;
      this.#onTruncated(slabBytes);
      this.#restoreSoon();
    });
  }

  #restoreSoon(): void {
    this.#queue.in(lookMs, () => {
      if (this.#isOver || this.#known === this.#store.slabBytes) return;
      if (this.#store.mustStayCut(this.#known)) {
        this.#restoreSoon();
        return;
      }
      if (this.#files.slabBytes < this.#known) {
        // It was cut once more meanwhile: what was lost then would come back as zeros.
        this.#measureSoon();
        return;
      }
      this.#known = this.#store.slabBytes;
      this.#files.setSlabBytes(this.#known);
    });
  }
}
