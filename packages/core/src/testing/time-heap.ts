/** What is to happen, in order of time and then of scheduling: a binary heap. For the clocks of tests and of the simulator. */

export interface Timed {
  readonly time: number;
  readonly order: number;
}

export class TimeHeap<T extends Timed> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The time of the first one, Infinity when there is none. */
  get next(): number {
    return this.#heap[0]?.time ?? Infinity;
  }

  push(event: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  /** Takes the first one out, null when there is none. */
  pop(): T | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
