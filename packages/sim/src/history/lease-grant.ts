/** A lease of a hot placement on its way, as the world saw it leave. */
export interface LeaseGrant {
  /** The node that lends, and which of its lives. */
  readonly owner: number;
  readonly life: number;
  readonly holder: number;
  /** Which time it is that the owner lends the placement. */
  readonly turn: number;
  /** The placement, as a text. */
  readonly placement: string;
  readonly at: number;
  readonly leaseMs: number;
}

/** An owner heard that a lease wasn't taken. */
export type LeaseRefusal = Omit<LeaseGrant, 'at' | 'leaseMs'>;
