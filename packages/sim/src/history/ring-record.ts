/** A process places by another ring from some moment on. */

/** One life of a node's or a gateway's process. */
export interface ProcessLife {
  readonly process: 'node' | 'gateway';
  readonly id: number;
  readonly life: number;
  /** Which of a gateway's loops: each finds its rings by itself. The first if absent. */
  readonly loop?: number;
}

export interface RingRecord {
  readonly by: ProcessLife;
  readonly at: number;
  readonly version: number;
  /** Node ids in ascending order. */
  readonly members: readonly number[];
  /** Who owns each placement of a sample that is the same for all rings of a run, as the ring itself has it. */
  readonly owners: readonly number[];
}
