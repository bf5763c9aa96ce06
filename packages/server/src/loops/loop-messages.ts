/** What the first loop and the thread of a further one tell each other. */
import type { LogLevel } from '../log.ts';
import type { AllSamples } from '../metrics/figures.ts';
import type { PeerAddress } from '../peers/peers.ts';
import type { PackedConfig } from './packed-config.ts';
import type { SharedMemory } from './shared-memory.ts';

/** What a thread is started with. */
export interface LoopStart {
  /** 1 for the first that isn't the first loop. */
  readonly loop: number;
  /** As for a gateway without a node: `gateway.listen` has a port, `cluster` a node to ask. */
  readonly config: PackedConfig;
  /** The node of this process, where this process reaches it; null when it has none. */
  readonly near: PeerAddress | null;
  readonly memory: SharedMemory;
  readonly logLevel: LogLevel;
}

export type ToLoop =
  | { readonly kind: 'reload'; readonly config: PackedConfig }
  | { readonly kind: 'figures' }
  | { readonly kind: 'stop' };

/** `started`: it runs, and listens as soon as it may. `reloaded` and `figures` answer, in order. */
export type FromLoop =
  | { readonly kind: 'started' | 'reloaded' }
  | { readonly kind: 'readiness'; readonly notReady: string | null }
  | { readonly kind: 'figures'; readonly samples: AllSamples };
