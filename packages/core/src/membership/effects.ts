/**
 * What membership makes happen. Five rules:
 * 1. Every effect returns void and never throws; outcomes come back later as events.
 * 2. Effects never call the core. The driver acts or queues, and calls events after the current one returned.
 * 3. Arguments are numbers, immutable records and one reused packet; the driver encodes it during the call.
 * 4. One implementation a process; the simulator has its own.
 * 5. The recorded form for traces is derived from this interface.
 */
import type { Ring } from '../ring.ts';
import type { MemberRecord } from './member-record.ts';
import type { Packet } from './packet.ts';

/** Two processes that claim one node id, or one address. */
export interface Conflict {
  readonly about: 'id' | 'address';
  /** This process gives way: it is no member (any more) and must stop. Otherwise the other one does. */
  readonly givesWay: boolean;
  readonly rivalId: number;
  /** Where the other one's packet came from. */
  readonly rivalAddress: string;
}

export interface MembershipEffects {
  /** Sends a packet to host:port. It may get lost. */
  send(address: string, packet: Packet): void;
  /** The node has taken its place. `founded`: nobody answered, so it began with the nodes of its configuration. */
  joined(founded: boolean): void;
  /** A newer ring. */
  ringChanged(ring: Ring): void;
  /** A member came, or fares otherwise than before. */
  memberChanged(record: MemberRecord): void;
  /** Told once for each rival. */
  conflict(conflict: Conflict): void;
}
