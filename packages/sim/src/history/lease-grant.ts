/** A lease of a hot placement on its way, as the world saw it leave. */
export interface LeaseGrant {
  /** The node that lends, and which of its lives. */
  readonly owner: number;
  readonly life: number;
  readonly holder: number;
  /** The placement, as a text. */
  readonly placement: string;
  readonly at: number;
  readonly leaseMs: number;
}
