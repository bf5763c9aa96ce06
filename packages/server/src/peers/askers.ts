/**
 * The reads that a node has to answer: one record for each, from its request until its answer left or nobody wants it.
 *
 *     asked ──▶ answering (a body in pieces) ──▶ over
 *        └────▶ sending (a body out of a file) ──▶ over, when the kernel took it
 *
 * The id, slot and generation, is the node's `Asker`: an answer to a read that was cancelled finds nothing.
 */
import type { Linked } from '@s3-accelerator/core/base/linked-list.ts';
import { LinkedList } from '@s3-accelerator/core/base/linked-list.ts';
import type { PoolId } from '@s3-accelerator/core/base/slot-pool.ts';
import { NO_ID, SlotPool } from '@s3-accelerator/core/base/slot-pool.ts';
import type { Link } from './link.ts';

export type AskerStage = 'asked' | 'answering' | 'sending';

export interface AskerRecord extends Linked<AskerRecord> {
  id: PoolId;
  link: Link | null;
  /** On a link that carries one answer at a time, a large body is sent by reference and in pieces. */
  exclusive: boolean;
  requestId: number;
  stage: AskerStage;
  /** answering: body bytes still to come. */
  missing: number;
  /** answering on a multiplexed link: the whole frame, filled piece by piece. */
  whole: Uint8Array | null;
  wholeLength: number;
  /** sending: what the driver called this send. */
  sentToken: number;
  /** sending: the head waits for the body, so a file that can't be read leaves nothing behind. */
  copied: boolean;
}

function newAskerRecord(): AskerRecord {
  return {
    list: null,
    before: null,
    after: null,
    id: NO_ID,
    link: null,
    exclusive: false,
    requestId: 0,
    stage: 'asked',
    missing: 0,
    whole: null,
    wholeLength: 0,
    sentToken: 0,
    copied: false,
  };
}

export class Askers {
  readonly #pool: SlotPool<AskerRecord>;

  constructor(maxReads: number) {
    this.#pool = new SlotPool(maxReads, newAskerRecord);
  }

  get underWay(): number {
    return this.#pool.inUse;
  }

  get refused(): number {
    return this.#pool.refused;
  }

  /** A record for a read that came over a link, in the list of those it still has to answer; null when there are too many. */
  begin(
    link: Link,
    unanswered: LinkedList<AskerRecord>,
    requestId: number,
    exclusive: boolean,
  ): AskerRecord | null {
    const id = this.#pool.acquire();
    const record = this.#pool.get(id);
    if (record === null) return null;
    record.id = id;
    record.link = link;
    record.exclusive = exclusive;
    record.requestId = requestId;
    record.stage = 'asked';
    record.missing = 0;
    unanswered.append(record);
    return record;
  }

  get(id: PoolId): AskerRecord | null {
    return this.#pool.get(id);
  }

  /** The answer is on its way: the asker can't cancel it any more. */
  answered(record: AskerRecord): void {
    if (record.list !== null) record.list.remove(record);
  }

  release(record: AskerRecord): void {
    this.answered(record);
    record.link = null;
    record.whole = null;
    this.#pool.release(record.id);
  }
}
