/**
 * Nodes that just failed: reads go round them for a while.
 *
 * A suspect is asked again when its driver reached it (a link's handshake proves that its process lives), or after
 * `suspectMs` whatever happens, so that a lost message never keeps a node out. Where all candidates are suspects they are
 * asked all the same. Memory: one entry a node of the ring at most.
 */
export class Suspects {
  readonly #suspectMs: number;
  /** When each one's time is over: in the order of those moments, since all have equally long. */
  readonly #until = new Map<number, number>();

  constructor(suspectMs: number) {
    this.#suspectMs = suspectMs;
  }

  /** Whether nobody is suspected: the common case, and the cheap one. */
  get isEmpty(): boolean {
    return this.#until.size === 0;
  }

  get size(): number {
    return this.#until.size;
  }

  /** When the first one's time is over, Infinity without any. */
  get deadline(): number {
    for (const until of this.#until.values()) return until;
    return Infinity;
  }

  has(nodeId: number): boolean {
    return this.#until.has(nodeId);
  }

  /** A read of this node brought no answer. */
  add(now: number, nodeId: number): void {
    this.#until.delete(nodeId);
    this.#until.set(nodeId, now + this.#suspectMs);
  }

  /** The node answered, or was reached. */
  clear(nodeId: number): void {
    this.#until.delete(nodeId);
  }

  /** Those whose time is over are as good as any other. */
  expire(now: number): void {
    for (const [nodeId, until] of this.#until) {
      if (until > now) return;
      this.#until.delete(nodeId);
    }
  }
}
