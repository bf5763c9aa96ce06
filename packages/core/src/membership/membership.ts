/**
 * Membership of the cluster's nodes, after SWIM: who is there, who has a place in the ring, and from when on.
 *
 * Every node keeps a table of all (member-table.ts), probes one other a second (prober.ts), judges those who don't answer
 * (verdicts.ts), defends its own record (identity.ts), and derives the ring from the table (ring-view.ts). Packets carry
 * what changed; tables that differ all the same are pulled (sync.ts). A node that starts joins first (joining.ts).
 *
 *     joining ── table known, no rival ──▶ member ── onLeave ──▶ leaving
 *        │                                   │                      │
 *        └── a rival answered ──▶ stopped ◀──┴───── onFarewell ─────┘
 *
 * Decides only; effects.ts makes it happen. It is told the time and is handed its randomness. Nothing here needs two
 * nodes to agree on anything at once: what differs for a while costs fills twice, never a wrong byte.
 */
import { assert } from '../base/assert.ts';
import type { Prng } from '../base/prng.ts';
import type { Member, Ring } from '../ring.ts';
import { newMembershipCounters, type MembershipCounters } from './counters.ts';
import type { MembershipEffects } from './effects.ts';
import { Identity } from './identity.ts';
import { Joining } from './joining.ts';
import { Mail } from './mail.ts';
import { vacatedPlace, type MemberRecord, type MemberStatus } from './member-record.ts';
import { MemberTable } from './member-table.ts';
import { NewsRound } from './news-round.ts';
import type { Packet } from './packet.ts';
import type { MembershipParts } from './parts.ts';
import { isMember, type Phase } from './self.ts';
import { Prober } from './prober.ts';
import { RingView } from './ring-view.ts';
import { Sync } from './sync.ts';
import { defaultTiming, type MembershipTiming } from './timing.ts';
import { Verdicts } from './verdicts.ts';

export interface MembershipOptions {
  readonly effects: MembershipEffects;
  /** This node, by its configuration. */
  readonly self: Member;
  /** The nodes that the configuration names; this one may be among them. */
  readonly seeds: readonly Member[];
  /** Seeded differently in every life of a process: it also names the run. */
  readonly prng: Prng;
  readonly timing?: MembershipTiming;
}

export class Membership {
  readonly counters: MembershipCounters = newMembershipCounters();
  readonly #parts: MembershipParts;
  readonly #verdicts: Verdicts;
  readonly #sync: Sync;
  readonly #identity: Identity;
  readonly #joining: Joining;
  readonly #prober: Prober;
  readonly #news: NewsRound;
  readonly #ringView: RingView;
  #founded = false;
  #isInside = false;

  constructor(options: MembershipOptions) {
    const { effects, self, seeds, prng, timing = defaultTiming } = options;
    const table = new MemberTable();
    const own = { ...self, run: prng.u32(), phase: 'joining' as Phase };
    const mail = new Mail(effects, own, table);
    const { counters } = this;
    this.#parts = { effects, timing, prng, self: own, table, mail, counters };
    this.#verdicts = new Verdicts(this.#parts);
    this.#sync = new Sync(this.#parts);
    this.#identity = new Identity(this.#parts);
    const others = seeds.filter(({ nodeId }) => nodeId !== self.nodeId);
    this.#joining = new Joining(this.#parts, this.#sync, others);
    this.#prober = new Prober(this.#parts, this.#verdicts, others);
    this.#news = new NewsRound(this.#parts);
    this.#ringView = new RingView(this.#parts);
  }

  get phase(): Phase {
    return this.#parts.self.phase;
  }

  /** The ring that this node published last, null before it has joined. */
  get ring(): Ring | null {
    return this.#ringView.ring;
  }

  /** All that is known of everybody, in order of node id. */
  records(): MemberRecord[] {
    return this.#parts.table.entries.map(({ record }) => record);
  }

  /** How a node fares, null when it isn't known. */
  statusOf(nodeId: number): MemberStatus | null {
    return this.#parts.table.find(nodeId)?.record.status ?? null;
  }

  /** Begins to join. Call it once. */
  onStart(now: number): void {
    this.#enter();
    this.#identity.start(now);
    this.#joining.start(now);
    this.#leave(now);
  }

  /** A packet that the cluster's key vouches for, from this host:port. */
  onPacket(now: number, from: string, packet: Packet): void {
    this.#enter();
    if (this.phase !== 'stopped') this.#receive(now, from, packet);
    this.#leave(now);
  }

  /** Somebody, a gateway for example, holds a ring of this version. */
  onVersionSeen(now: number, version: number): void {
    this.#enter();
    if (isMember(this.#parts.self)) this.#ringView.onVersionSeen(now, version);
    this.#leave(now);
  }

  /** Gives the place in the ring up for good. The node goes on answering until its farewell. */
  onLeave(now: number): void {
    this.#enter();
    const { self, table } = this.#parts;
    if (self.phase === 'member') {
      self.phase = 'leaving';
      const { record } = table.find(self.nodeId)!;
      table.set({ ...record, place: vacatedPlace(record.place) });
    }
    this.#leave(now);
  }

  /**
   * The process stops: tells some others, so that nobody has to find out. A member keeps its place for the grace, in case it
   * comes back; one that was leaving has left.
   */
  onFarewell(now: number): void {
    this.#enter();
    const { self, table } = this.#parts;
    if (isMember(self)) {
      const { record } = table.find(self.nodeId)!;
      table.set({ ...record, status: self.phase === 'leaving' ? 'left' : 'down' });
      this.#news.sayFarewell();
    }
    this.#stop();
    this.#leave(now);
  }

  /** Call it once `nextDeadline()` has passed. */
  onTick(now: number): void {
    this.#enter();
    const late = now - this.nextDeadline();
    if (late > this.#parts.timing.probeMs) {
      this.counters.lateTicks += 1;
      this.#prober.excuse();
      this.#verdicts.postpone(late);
    }
    if (this.#identity.onTick(now)) this.#onUncontested(now);
    if (this.#joining.onTick(now)) this.#onTableKnown(now, true);
    this.#prober.onTick(now);
    this.#verdicts.onTick(now);
    this.#news.onTick(now);
    this.#ringView.onTick(now);
    this.#leave(now);
  }

  /** The moment that `onTick` is due, Infinity when there is none. */
  nextDeadline(): number {
    return Math.min(
      this.#identity.deadline,
      this.#joining.deadline,
      this.#prober.deadline,
      this.#verdicts.deadline,
      this.#news.deadline,
      this.#ringView.deadline,
    );
  }

  #receive(now: number, from: string, packet: Packet): void {
    const { self } = this.#parts;
    if (packet.sender === self.nodeId && packet.run === self.run) {
      this.#identity.onOwnPacket(now);
      return;
    }
    this.#identity.watch(from, packet);
    if (packet.kind === 'ack' && this.#identity.onAck(from, packet)) {
      this.#stop();
      return;
    }
    for (const record of packet.updates) {
      if (record.nodeId === self.nodeId && isMember(self)) this.#identity.onOwnRecord(now, record);
      else this.#verdicts.learn(now, record);
    }
    if (packet.isMember) this.#sync.compare(now, from, packet.digest);
    this.#answer(now, from, packet);
  }

  #answer(now: number, from: string, packet: Packet): void {
    const { mail, self } = this.#parts;
    const { kind, sequence, subject, sender } = packet;
    switch (kind) {
      case 'ping':
      case 'claim':
        // Whoever was meant: the asker sees who is here.
        mail.send(from, 'ack', sequence, self.nodeId, sender);
        break;
      case 'ack':
        this.#prober.onAck(packet);
        break;
      case 'relay':
        this.#prober.onRelay(now, from, packet);
        break;
      case 'pull':
        mail.sendPage(from, sequence, subject);
        break;
      case 'page':
        if (this.phase !== 'joining') this.#sync.onPage(from, packet);
        else if (this.#joining.onPage(from, packet)) this.#onTableKnown(now, false);
        break;
      case 'news':
        break;
    }
  }

  #onTableKnown(now: number, founded: boolean): void {
    this.#founded = founded;
    this.#identity.claim(now);
  }

  /** Nobody else claims this node's id and address. */
  #onUncontested(now: number): void {
    const { self, effects } = this.#parts;
    if (isMember(self)) {
      this.#identity.reassert();
      return;
    }
    self.phase = 'member';
    this.#identity.establish();
    this.#verdicts.begin(now);
    this.#prober.start(now);
    effects.joined(this.#founded);
  }

  #stop(): void {
    this.#parts.self.phase = 'stopped';
    this.#identity.stop();
    this.#joining.stop();
    this.#prober.stop();
    this.#verdicts.stop();
    this.#news.stop();
    this.#ringView.stop();
  }

  #enter(): void {
    assert(!this.#isInside, 'effects never call membership back');
    this.#isInside = true;
  }

  #leave(now: number): void {
    this.#news.look(now);
    this.#ringView.look(now);
    this.#isInside = false;
  }
}
