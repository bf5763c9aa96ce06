/** This node: what it is by its configuration, and how far it got. */
import type { Member } from '../ring.ts';

/**
 * joining: looks for the cluster and for rivals. member: has its place. leaving: gave its place up, still serves. stopped: said
 * farewell, or gave way to a rival; it sends nothing any more.
 */
export type Phase = 'joining' | 'member' | 'leaving' | 'stopped';

export interface Self extends Member {
  /** Random name of this life of the process. */
  readonly run: number;
  phase: Phase;
}

/** Whether the node has taken its place since it started, and not stopped. */
export function isMember(self: Self): boolean {
  return self.phase === 'member' || self.phase === 'leaving';
}
