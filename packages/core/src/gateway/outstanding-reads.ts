/**
 * The reads that a gateway has out at nodes: their records, when each runs out, and how much is asked for ahead.
 *
 * Every client read may always have one read out. What goes beyond that is read-ahead, and has its own bounds over all
 * clients: records (`maxAheadReads`) and bytes that no client has taken yet (`maxAheadBytes`). At a bound every client is
 * served piece by piece, so a thousand clients that stop reading can't fill the memory.
 */
import { assert } from '../base/assert.ts';
import { copyHash128 } from '../base/hash.ts';
import { LinkedList } from '../base/linked-list.ts';
import { NO_ID, SlotPool } from '../base/slot-pool.ts';
import { OutstandingRead, type ClientRead, type Wait } from './client-read.ts';
import type { ReadId } from './effects.ts';
import type { GatewayLimits } from './limits.ts';
import type { HotHints } from './hot-hints.ts';
import type { Moment } from './moment.ts';

export class OutstandingReads {
  readonly #moment: Moment;
  readonly #hints: HotHints;
  readonly #limits: GatewayLimits;
  readonly #pool: SlotPool<OutstandingRead>;
  /** All wait equally long, so the first one's deadline is the earliest. */
  readonly #waiting = new LinkedList<Wait>();
  #aheadReads = 0;
  #untakenBytes = 0;

  constructor(moment: Moment, limits: GatewayLimits, hints: HotHints) {
    this.#hints = hints;
    this.#moment = moment;
    this.#limits = limits;
    // One more for a read whose successor begins before it ends.
    const capacity = limits.maxReads + limits.maxAheadReads + 1;
    this.#pool = new SlotPool(capacity, () => new OutstandingRead());
  }

  get inUse(): number {
    return this.#pool.inUse;
  }

  get slotMask(): number {
    return this.#pool.slotMask;
  }

  /** Bytes asked for that clients haven't taken. */
  get untakenBytes(): number {
    return this.#untakenBytes;
  }

  /** When the oldest waiting read runs out, Infinity when none waits. */
  get deadline(): number {
    return this.#waiting.first?.deadline ?? Infinity;
  }

  get(id: ReadId): OutstandingRead | null {
    return this.#pool.get(id);
  }

  /** A read whose deadline has passed, null when there is none. */
  overdue(now: number): OutstandingRead | null {
    const { first } = this.#waiting;
    return first !== null && first.deadline <= now ? first.read : null;
  }

  /** Whether `bytes` more may be asked for beyond a client's one read. */
  hasRoomAhead(bytes: number): boolean {
    const { maxAheadReads, maxAheadBytes } = this.#limits;
    return this.#aheadReads < maxAheadReads && this.#untakenBytes + bytes <= maxAheadBytes;
  }

  /** Takes a record for a read that is about to be sent. */
  begin(
    client: ClientRead,
    nodeId: number,
    tried: readonly number[],
    isAhead: boolean,
  ): OutstandingRead {
    const id = this.#pool.acquire();
    assert(id !== NO_ID, 'there is a record for every client read, and for what may be ahead');
    const read = this.#pool.get(id)!;
    read.id = id;
    read.client = client;
    read.stage = 'asked';
    read.isAhead = isAhead;
    if (isAhead) this.#aheadReads += 1;
    read.nodeId = nodeId;
    read.tried = tried;
    read.first = 0;
    read.last = -1;
    read.askedAt = this.#moment.now;
    read.wait.deadline = this.#moment.now + this.#limits.readTimeoutMs;
    this.#waiting.append(read.wait);
    read.isCounted = this.#hints.count > 0;
    if (read.isCounted) this.#hints.loads.began(nodeId);
    const { request } = read;
    request.bucket = client.asked.bucket;
    request.key = client.asked.key;
    copyHash128(client.asked.hash, request.hash);
    return read;
  }

  /** Its answer came: it waits no more. */
  answered(read: OutstandingRead): void {
    if (read.wait.list === null) return;
    this.#waiting.remove(read.wait);
    if (read.isCounted) this.#hints.loads.ended(read.nodeId);
  }

  /** Gives a read's record back. */
  end(read: OutstandingRead): void {
    this.answered(read);
    if (read.isAhead) this.#aheadReads -= 1;
    read.client = null;
    this.#pool.release(read.id);
  }

  /** A client's bytes were asked for (positive) or taken, or given up (negative). */
  countUntaken(bytes: number): void {
    this.#untakenBytes += bytes;
    assert(this.#untakenBytes >= 0, 'no more is taken than was asked for');
  }
}
