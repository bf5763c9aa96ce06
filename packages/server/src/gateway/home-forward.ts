/** The way of passed-through requests: by the object's home, in this process or another. */
import { ownerOf, placeHome } from '@s3-accelerator/core/placement.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { ObjectHash } from '../object-hash.ts';
import type {
  ForwardPort,
  Forwarding,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';

export interface HomeForwardOptions {
  readonly ring: Ring;
  readonly hash: ObjectHash;
  /** The node of this process. */
  readonly local: { readonly nodeId: number; readonly forward: ForwardPort } | null;
  readonly peers: { forwardPort(nodeId: number): ForwardPort | null } | null;
}

export class HomeForward implements ForwardPort {
  readonly #options: HomeForwardOptions;
  readonly #placement = { hi: 0, lo: 0 };

  constructor(options: HomeForwardOptions) {
    this.#options = options;
  }

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const { ring, hash, local, peers } = this.#options;
    placeHome(hash.of(request.bucket, request.key), this.#placement);
    const home = ownerOf(ring, this.#placement);
    const port = local?.nodeId === home ? local.forward : (peers?.forwardPort(home) ?? null);
    if (port === null) throw new Error(`node ${home} is in the ring and can't be reached`);
    return port.forward(request, sink);
  }
}
