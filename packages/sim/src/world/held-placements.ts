/** What was lent to one life of a node, as the world saw the leases arrive: nobody asks the machine. */
import type { U64 } from '@s3-accelerator/core/base/hash.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';

/** A placement as a text. */
export function placementName({ hi, lo }: Readonly<U64>): string {
  return `${hi.toString(16)}:${lo.toString(16)}`;
}

export class HeldPlacements {
  readonly #until = new Map<string, number>();

  /** A lease arrives at `now`, true time. */
  arrived(now: number, { placement, leaseMs }: NodeMessage): void {
    this.#until.set(placementName(placement), now + leaseMs);
  }

  /** When the last lease of a placement is over, -Infinity when there never was one. */
  until(placement: Readonly<U64>): number {
    return this.#until.get(placementName(placement)) ?? -Infinity;
  }
}
