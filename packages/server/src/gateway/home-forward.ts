/**
 * The way of passed-through requests: by the object's home, in this process or another, or by the nodes ranked next when the
 * home can't be reached.
 */
import { candidates, placeHome } from '@s3-accelerator/core/placement.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { ObjectHash } from '../object-hash.ts';
import type {
  ForwardPort,
  Forwarding,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';
import { AskedForward, type ForwardWay } from '../peers/asked-forward.ts';

/** How many of the nodes ranked first a request may be handed to, one after the other. */
const maxCandidates = 4;

export interface HomeForwardOptions {
  readonly ring: { readonly current: Ring };
  readonly hash: ObjectHash;
  /** The node of this process. */
  readonly local: { readonly nodeId: number; readonly forward: ForwardPort } | null;
  readonly peers: { forwardWay(nodeId: number): ForwardWay | null } | null;
}

export class HomeForward implements ForwardPort {
  readonly #options: HomeForwardOptions;
  readonly #placement = { hi: 0, lo: 0 };
  readonly #ranked: number[] = [];

  constructor(options: HomeForwardOptions) {
    this.#options = options;
  }

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const { ring, hash } = this.#options;
    placeHome(hash.of(request.bucket, request.key), this.#placement);
    const count = candidates(ring.current, this.#placement, maxCandidates, this.#ranked);
    const ways = this.#ranked.slice(0, count).map((nodeId) => this.#wayTo(nodeId));
    return new AskedForward(
      request,
      sink,
      ways.filter((way) => way !== null),
    );
  }

  #wayTo(nodeId: number): ForwardWay | null {
    const { local, peers } = this.#options;
    if (local?.nodeId !== nodeId) return peers?.forwardWay(nodeId) ?? null;
    return {
      take: (asked) => {
        asked.onWay(local.forward.forward(asked.request, asked));
      },
      withdraw: () => undefined,
    };
  }
}
