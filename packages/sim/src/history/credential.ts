/** A client's credential: what it may touch, in plain words of the run's options. */
export interface GrantRecord {
  /** `*` for every bucket. */
  readonly bucket: string;
  readonly prefix: string;
  /** `write` includes `read`. */
  readonly access: 'read' | 'write';
}

export interface Credential {
  readonly name: string;
  readonly grants: readonly GrantRecord[];
}
