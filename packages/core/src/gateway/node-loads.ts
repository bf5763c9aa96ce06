/**
 * How many reads wait for an answer of each node, while anything is hot: what is spread goes where fewest wait, so that a holder which
 * is slower than the others, or stands still for a moment, gets less.
 *
 * Memory: one entry a node that was asked.
 */
export class NodeLoads {
  readonly #waiting = new Map<number, number>();

  of(nodeId: number): number {
    return this.#waiting.get(nodeId) ?? 0;
  }

  /** A read was sent to a node. */
  began(nodeId: number): void {
    this.#waiting.set(nodeId, this.of(nodeId) + 1);
  }

  /** It was answered, or isn't waited for any more. */
  ended(nodeId: number): void {
    this.#waiting.set(nodeId, this.of(nodeId) - 1);
  }
}
