/** How long and how large: chosen on the command line. */
export interface Scale {
  readonly rounds: number;
  /** Whether small hits are measured with eight nodes, too. */
  readonly hasManyNodes: boolean;
  /** Requests of one round of small reads. */
  readonly requests: number;
  /** Distinct 64 KiB objects. */
  readonly objects: number;
  /** Objects whose 4 KiB ranges are read: 65,536 in each of 256 MiB, 4,096 in each of 16 MiB. */
  readonly ranged: { readonly kind: 'medium' | 'large'; readonly count: number };
  /** Blocks of a full cache. */
  readonly blocks: number;
  /** Bytes of one round of large reads. */
  readonly bulkBytes: number;
  /** What is read of S3 for the first time, whole, all at once. */
  readonly cold: { readonly count: number; readonly bytes: number };
  /** Sizes of requests that all peers are measured with. */
  readonly peerSizes: readonly ('4 KiB' | '64 KiB' | '1 MiB')[];
}

export const fullScale: Scale = {
  rounds: 3,
  hasManyNodes: true,
  requests: 300_000,
  objects: 100_000,
  ranged: { kind: 'large', count: 2 },
  blocks: 4 << 20,
  bulkBytes: 8 * 2 ** 30,
  cold: { count: 16, bytes: 256 << 20 },
  peerSizes: ['4 KiB', '64 KiB', '1 MiB'],
};

/** A sample: whether it runs, and about where it stands. */
export const quickScale: Scale = {
  rounds: 1,
  hasManyNodes: false,
  requests: 10_000,
  objects: 1_000,
  ranged: { kind: 'medium', count: 4 },
  blocks: 256 << 10,
  bulkBytes: 2 ** 29,
  cold: { count: 4, bytes: 64 << 20 },
  peerSizes: ['4 KiB'],
};
