/** A node that brought a gateway nothing: it couldn't be reached, was silent for too long, was full, or broke off. */
export interface NodeFailure {
  readonly gateway: number;
  readonly gatewayLife: number;
  readonly node: number;
  readonly at: number;
}

/** A gateway's read of a node that is to store what it fetches as if it were the owner. */
export interface StandInRead {
  readonly gateway: number;
  readonly gatewayLife: number;
  readonly node: number;
  /** By the gateway's ring: the owner of what is read, and the candidates after it. */
  readonly ranked: readonly number[];
  readonly at: number;
}
