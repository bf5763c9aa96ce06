/**
 * The marks that nodes told of their buckets, and when what they told before counts no more.
 *
 * What a gateway remembers is as some node's settings were when it was told. It counts no more once that node has others, and at the
 * latest once no node has those any more: a node may be replaced by one with others and never say so itself.
 */
export class BucketMarks {
  /** Of the nodes that there are. */
  readonly #byNode = new Map<number, number>();
  /** Of whatever was told since all was forgotten last. */
  #heard = new Set<number>();

  /** A node says what its mark is. True when what nodes told before counts no more. */
  said(nodeId: number, mark: number): boolean {
    const before = this.#byNode.get(nodeId) ?? mark;
    this.#byNode.set(nodeId, mark);
    this.#heard.add(mark);
    return this.#forgets(before !== mark);
  }

  /** A node is no member any more. True when what nodes told before counts no more. */
  left(nodeId: number): boolean {
    this.#byNode.delete(nodeId);
    return this.#forgets(false);
  }

  #forgets(isAnother: boolean): boolean {
    // Without any node there is nobody to ask anew.
    if (this.#byNode.size === 0) return false;
    const present = new Set(this.#byNode.values());
    if (!isAnother && present.size === this.#heard.size) return false;
    this.#heard = present;
    return true;
  }
}
