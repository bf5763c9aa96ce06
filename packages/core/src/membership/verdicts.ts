/**
 * What this node makes of the others, and how long they have to prove it wrong.
 *
 *     alive ── probe failed ──▶ suspect ── suspicion over ──▶ down ── grace over ──▶ down, without a place
 *       ▲                          │                            │
 *       └── higher incarnation ────┴────────────────────────────┘   (only the member itself raises it)
 *
 *     transition                       function
 *     anything that others tell        learn
 *     alive → suspect                  suspect
 *     suspect → down, place is lost    onTick
 *
 * Each node keeps its own deadlines, from when it learned; whichever comes first decides for all, for the outcome spreads.
 *
 * Whoever finds fewer than half of the ring running is more likely cut off itself than right, and waits ten times the grace
 * before it takes places: so a node or a few that are cut off for minutes don't come back with a ring of their own.
 */
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';
import { isPlaced, isRunning, merge, vacatedPlace, type MemberRecord } from './member-record.ts';
import type { MemberEntry } from './member-table.ts';
import { suspicionMs } from './timing.ts';

/** How many graces a member that is down keeps its place while most others are down too. */
const minorityGraces = 10;

export class Verdicts {
  readonly #parts: MembershipParts;
  /** The earliest of the entries' deadlines, or earlier. */
  #deadline = Infinity;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  get deadline(): number {
    return this.#deadline;
  }

  /** Takes in what somebody says of another node. */
  learn(now: number, told: MemberRecord): void {
    const known = this.#parts.table.find(told.nodeId);
    const record = known === null ? told : merge(known.record, told);
    if (record !== known?.record) this.#set(now, record);
  }

  /** Nobody could reach this member. */
  suspect(now: number, nodeId: number): void {
    const record = this.#parts.table.find(nodeId)?.record;
    if (record?.status === 'alive') this.#set(now, { ...record, status: 'suspect' });
  }

  /** Ends what is due. */
  onTick(now: number): void {
    if (now < this.#deadline) return;
    const { table, counters, timing } = this.#parts;
    for (const entry of table.entries) {
      if (now < entry.deadline) continue;
      entry.deadline = Infinity;
      const { record } = entry;
      if (record.status === 'suspect') {
        counters.downs += 1;
        this.#set(now, { ...record, status: 'down' });
      } else if (!entry.isSpared && this.#isMinority()) {
        entry.isSpared = true;
        entry.deadline = now + (minorityGraces - 1) * timing.graceMs;
      } else {
        counters.removals += 1;
        this.#set(now, { ...record, place: vacatedPlace(record.place) });
      }
    }
    this.#deadline = Infinity;
    for (const entry of table.entries) this.#deadline = Math.min(this.#deadline, entry.deadline);
  }

  /** This process stood still for a while and heard nobody: all get that much more time. */
  postpone(ms: number): void {
    for (const entry of this.#parts.table.entries) entry.deadline += ms;
    this.#deadline += ms;
  }

  stop(): void {
    for (const entry of this.#parts.table.entries) entry.deadline = Infinity;
    this.#deadline = Infinity;
  }

  /** Begins to count for a table that was learned before this node was a member. */
  begin(now: number): void {
    for (const entry of this.#parts.table.entries) this.#schedule(now, entry);
  }

  #set(now: number, record: MemberRecord): void {
    const { table, effects, counters } = this.#parts;
    const before = table.find(record.nodeId)?.record;
    const entry = table.set(record);
    if (entry === null) {
      counters.recordsRefused += 1;
      return;
    }
    const same = before?.status === record.status && isPlaced(before) === isPlaced(record);
    if (same && before.incarnation === record.incarnation) return;
    this.#schedule(now, entry);
    if (!same) effects.memberChanged(record);
  }

  #schedule(now: number, entry: MemberEntry): void {
    const { self, table, timing } = this.#parts;
    const { record } = entry;
    entry.deadline = Infinity;
    entry.isSpared = false;
    if (record.nodeId === self.nodeId || !isMember(self)) return;
    if (record.status === 'suspect') entry.deadline = now + suspicionMs(timing, table.size);
    // One that left takes its own place along; should that word be lost, it ends like any other's.
    else if (record.status !== 'alive' && isPlaced(record)) entry.deadline = now + timing.graceMs;
    this.#deadline = Math.min(this.#deadline, entry.deadline);
  }

  /** Whether fewer than half of the ring's members run, as far as this node knows. */
  #isMinority(): boolean {
    let placed = 0;
    let running = 0;
    for (const { record } of this.#parts.table.entries) {
      if (!isPlaced(record)) continue;
      placed += 1;
      if (isRunning(record)) running += 1;
    }
    return running * 2 < placed;
  }
}
