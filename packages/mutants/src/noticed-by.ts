/**
 * Which unit test noticed a planted bug the last time. It is tried first, which makes a run several times as fast, and it may be
 * wrong: then all tests run as if nothing were known.
 *
 * Kept beside the catalog, and in the repository: a whole run on a fresh clone is as fast.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from './hunt.ts';
import type { PlantedBug } from './planted-bug.ts';

export class NoticedBy {
  readonly #path: string;
  readonly #files: Map<string, string>;

  /** `path` is of a JSON object from names of bugs to test files; one that is missing, or damaged, is begun anew. */
  constructor(path: string) {
    this.#path = path;
    this.#files = new Map(Object.entries(readIfSound(path)));
  }

  /** The test file, when one is known. */
  of(bug: PlantedBug): string | undefined {
    return this.#files.get(bug.name);
  }

  /** Remembers it at once: a run that is stopped leaves what it learnt. */
  learn({ bug, fate }: Outcome): void {
    const file = fate.kind === 'caught' && fate.layer === 'unit' ? fate.file : undefined;
    if (file === this.of(bug)) return;
    if (file === undefined) this.#files.delete(bug.name);
    else this.#files.set(bug.name, file);
    const sorted = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(this.#path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }
}

function readIfSound(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}
