/** Samples of a profile: how often each stack was seen. */

export type FrameKind = 'kernel' | 'typescript' | 'addon' | 'node';

export interface Frame {
  readonly name: string;
  readonly kind: FrameKind;
}

export interface SampledStack {
  /** From the root to where the time went. */
  readonly frames: readonly Frame[];
  /** Samples, or any other weight. */
  weight: number;
}

/** Equal stacks are counted together. */
export class Stacks {
  readonly #byText = new Map<string, SampledStack>();
  #total = 0;

  add(frames: readonly Frame[], weight: number): void {
    if (frames.length === 0) return;
    this.#total += weight;
    const text = frames.map(({ name, kind }) => `${kind} ${name}`).join(';');
    const known = this.#byText.get(text);
    if (known === undefined) this.#byText.set(text, { frames, weight });
    else known.weight += weight;
  }

  get total(): number {
    return this.#total;
  }

  get all(): readonly SampledStack[] {
    return [...this.#byText.values()];
  }

  /** Shares of the time that was spent in code of each kind itself, 0 to 1. */
  sharesByKind(): Readonly<Record<FrameKind, number>> {
    const shares = { kernel: 0, typescript: 0, addon: 0, node: 0 };
    for (const { frames, weight } of this.all) {
      shares[frames.at(-1)?.kind ?? 'node'] += weight / this.#total;
    }
    return shares;
  }

  /** The functions that most time was spent in themselves, with their shares. */
  hottest(count: number): readonly (Frame & { readonly share: number })[] {
    const byName = new Map<string, Frame & { share: number }>();
    for (const { frames, weight } of this.all) {
      const leaf = frames.at(-1)!;
      const key = `${leaf.kind} ${leaf.name}`;
      const known = byName.get(key) ?? { ...leaf, share: 0 };
      known.share += weight / this.#total;
      byName.set(key, known);
    }
    return [...byName.values()].sort((a, b) => b.share - a.share).slice(0, count);
  }
}
