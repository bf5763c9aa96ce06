/** What the world shows at a quiet moment, taken from the models and the machines' public figures. */
import type { BlockName } from './block-event.ts';

/** A block that a node would serve from its disk now without looking at it again. */
export interface StoredBlock {
  readonly node: number;
  readonly slot: number;
  /** Null when the world never hashed such an identity: then nobody can have asked for it. */
  readonly block: BlockName | null;
  readonly blockBytes: number;
  /** The block's length as the node has it. */
  readonly length: number;
  /** What the model disk returns for it. */
  readonly bytes: Uint8Array;
  /** The run itself damaged these bytes (bit rot, truncation): nobody can have noticed yet. */
  readonly isRotten: boolean;
}

/** A slot's record that would be found after a crash right now, beside the bytes that would be. */
export interface DurableRecord {
  readonly node: number;
  readonly slot: number;
  readonly block: BlockName | null;
  readonly blockBytes: number;
  /** As the record says. */
  readonly length: number;
  /** What a recovery would read in its place: the disk's durable image. */
  readonly bytes: Uint8Array;
  readonly isRotten: boolean;
  /** A recovery wouldn't trust it without comparing: its run is marked neither clean nor this one's. */
  readonly isOfAnEarlierRun: boolean;
}

/** Who runs right now, and by which ring each process places. */
export interface ClusterView {
  /** Nodes that run and don't leave, in ascending order. */
  readonly running: readonly number[];
  readonly processes: readonly {
    /** `node 2`, `gateway 0`. */
    readonly name: string;
    readonly version: number;
    readonly members: readonly number[];
  }[];
}

/** A level of a machine that must be back at zero when nothing is under way, and never above its limit. */
export interface Level {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  /** Zero at rest: pins, buffers, readers. Not so for what a cache keeps. */
  readonly restsAtZero: boolean;
}

export interface ProcessState {
  /** `node 2`, `gateway 0`. */
  readonly name: string;
  readonly levels: readonly Level[];
}
