/**
 * The packets of gossip as the core sees them. protocol/gossip-packet.ts gives them bytes, a driver sends them over UDP and
 * proves with a MAC that they come from the cluster.
 *
 * A packet fits one datagram that no network cuts into pieces. Whatever its kind, it brings news: records that changed
 * lately, the sender's own first. It carries no time of day.
 */
import type { MemberRecord } from './member-record.ts';

/**
 * ping: are you there? ack: I am, or the node is that you made me ask. relay: ask that node for me. pull: send me your
 * table. page: here is a part of it. news: for your information. claim: a ping that a node sends to its own address.
 */
export type PacketKind = 'ping' | 'ack' | 'relay' | 'pull' | 'page' | 'news' | 'claim';

export const packetKinds: readonly PacketKind[] = [
  'ping',
  'ack',
  'relay',
  'pull',
  'page',
  'news',
  'claim',
];

/** Reused by the sender: encode it during the call. */
export interface Packet {
  kind: PacketKind;
  /** The sender's node id and run. */
  sender: number;
  run: number;
  /** The sender has its place, or had it; false while it joins. */
  isMember: boolean;
  /** Chosen by who asks, repeated by who answers. */
  sequence: number;
  /**
   * ping, relay, claim: the node that is meant. ack: the node that is there. pull: the table from this node id on. page: where the
   * next page begins.
   */
  subject: number;
  /** page: no other follows. */
  isLast: boolean;
  /** Hash of the sender's table. */
  digest: number;
  updates: MemberRecord[];
}

/** Ethernet's 1,500 bytes less the heads of IPv6, UDP and what tunnels add. */
export const maxDatagramBytes = 1400;

/** Bytes of a packet besides its records: the head and the MAC. */
export const packetFixedBytes = 28 + 16;

export function newPacket(): Packet {
  return {
    kind: 'news',
    sender: 0,
    run: 0,
    isMember: false,
    sequence: 0,
    subject: 0,
    isLast: false,
    digest: 0,
    updates: [],
  };
}
