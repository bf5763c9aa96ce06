/** Gives each version of each object of a recorded trace its number. */
import { MAX_VERSIONS } from '../trace.ts';

interface Known {
  version: number;
  size: number;
  /** Where the next ranged read of unknown offset begins. */
  next: number;
}

export class Versions {
  readonly #known = new Map<string, Known>();
  #made = 0;

  /** The version of an object as it is now. One that has another size than before is a new one. */
  of(name: string, size: number): number {
    return this.#of(name, size).version;
  }

  /** The object was written or deleted: its next read is of a new version. */
  changed(name: string): void {
    this.#known.delete(name);
  }

  /** Where a read of unknown offset begins: where the last one ended, and at 0 again past the end. */
  place(name: string, size: number, length: number): number {
    const known = this.#of(name, size);
    const first = known.next + length > size ? 0 : known.next;
    known.next = first + length;
    return first;
  }

  /** Whether there is a number left. */
  get isFull(): boolean {
    return this.#made === MAX_VERSIONS;
  }

  #of(name: string, size: number): Known {
    let known = this.#known.get(name);
    if (known?.size !== size) {
      known = { version: this.#made++, size, next: 0 };
      this.#known.set(name, known);
    }
    return known;
  }
}
