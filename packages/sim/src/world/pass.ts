/**
 * A client's request on its way through a gateway and the object's home to S3. Each end that it loses is told: it goes on
 * where it still can, as such requests do.
 */
import type { Link } from './network.ts';

export interface Pass {
  readonly link: Link;
  /** The gateway doesn't reach the node any more. */
  lostAtGateway(): void;
  /** The node doesn't reach the gateway any more. */
  lostAtNode(): void;
  /** The gateway's process ended. */
  gatewayEnded(): void;
  /** The node's process ended. */
  nodeEnded(): void;
}

/** The node that a request passes through. */
export interface PassingNode {
  readonly nodeId: number;
  readonly life: number;
  readonly passes: Set<Pass>;
  /** A write of the object passes through here. */
  noteWrite(bucket: string, key: string, phase: 'started' | 'finished'): void;
}

/** The gateway that a request passes through. */
export interface PassingGateway {
  readonly passes: Set<Pass>;
  /** The link to an object's home; `run` is null where nobody listens. */
  linkToHome(
    bucket: string,
    key: string,
  ): { readonly link: Link; readonly run: PassingNode | null };
}
