/**
 * A set of prefixes that answers whether a text begins with one of them, by a binary search.
 *
 * Prefixes that begin with another one are left out: they say nothing new. What is left is sorted, and no element begins with
 * another. So the only one that a text can begin with is the greatest that isn't greater than the text: an element between a
 * prefix of the text and the text itself would begin with that prefix, too. Immutable; compared by UTF-16 units, which for binary
 * strings is byte by byte.
 */
export class PrefixSet {
  readonly #sorted: readonly string[];

  constructor(prefixes: readonly string[]) {
    const kept: string[] = [];
    for (const prefix of [...prefixes].sort(compare)) {
      const last = kept.at(-1);
      if (last === undefined || !prefix.startsWith(last)) kept.push(prefix);
    }
    this.#sorted = kept;
  }

  /** Whether `text` begins with an element. */
  covers(text: string): boolean {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]! <= text) low = middle + 1;
      else high = middle;
    }
    return low > 0 && text.startsWith(this.#sorted[low - 1]!);
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
