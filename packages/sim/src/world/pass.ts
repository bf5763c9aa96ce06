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
