/**
 * Writes packets: fills each up with news and hands it to the driver.
 *
 * Every packet of a member begins with its own record, so that whoever hears it for the first time knows it. A packet to
 * somebody who isn't alive in the table says so next: that is how a suspected node learns of it, and can contradict.
 */
import type { MembershipEffects } from './effects.ts';
import { recordBytes, type MemberRecord } from './member-record.ts';
import type { MemberTable } from './member-table.ts';
import { maxDatagramBytes, newPacket, packetFixedBytes, type PacketKind } from './packet.ts';
import { isMember, type Self } from './self.ts';

export class Mail {
  readonly #effects: MembershipEffects;
  readonly #self: Self;
  readonly #table: MemberTable;
  readonly #packet = newPacket();
  #room = 0;

  constructor(effects: MembershipEffects, self: Self, table: MemberTable) {
    this.#effects = effects;
    this.#self = self;
    this.#table = table;
  }

  /** Sends a packet that asks or answers, with what news fits. `addressee` is -1 when it isn't known. */
  send(
    address: string,
    kind: Exclude<PacketKind, 'page'>,
    sequence: number,
    subject: number,
    addressee: number,
  ): void {
    this.#begin(kind, sequence, subject);
    const entry = addressee === this.#self.nodeId ? null : this.#table.find(addressee);
    if (entry !== null && entry.record.status !== 'alive') this.#add(entry.record);
    if (isMember(this.#self)) this.#table.takeNews(this.#room, this.#packet.updates);
    this.#effects.send(address, this.#packet);
  }

  /** Sends the table from node id `from` on, as much of it as fits. */
  sendPage(address: string, sequence: number, from: number): void {
    this.#begin('page', sequence, from);
    const { entries } = this.#table;
    let index = this.#table.indexOf(from);
    while (index < entries.length && this.#add(entries[index]!.record)) index += 1;
    this.#packet.isLast = index === entries.length;
    this.#packet.subject = entries[index]?.record.nodeId ?? 0;
    this.#effects.send(address, this.#packet);
  }

  #begin(kind: PacketKind, sequence: number, subject: number): void {
    const { nodeId, run } = this.#self;
    const packet = this.#packet;
    packet.kind = kind;
    packet.sender = nodeId;
    packet.run = run;
    packet.isMember = isMember(this.#self);
    packet.sequence = sequence;
    packet.subject = subject;
    packet.isLast = false;
    packet.digest = this.#table.digest;
    packet.updates = [];
    this.#room = maxDatagramBytes - packetFixedBytes;
    const own = this.#table.find(nodeId);
    if (packet.isMember && own !== null) this.#add(own.record);
  }

  /** False when the record doesn't fit any more. One that is there already fits always. */
  #add(record: MemberRecord): boolean {
    const { updates } = this.#packet;
    if (updates[0]?.nodeId === record.nodeId) return true;
    const size = recordBytes(record);
    if (size > this.#room) return false;
    updates.push(record);
    this.#room -= size;
    return true;
  }
}
