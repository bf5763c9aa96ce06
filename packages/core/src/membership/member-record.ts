/**
 * What the nodes tell each other about one of them, and how two such records become one.
 *
 * A record has two parts, and each only ever grows:
 *
 * - its *life*: how it fares. A higher incarnation wins; within one, alive < suspect < down < left. Only the node itself
 *   raises its incarnation: that is how it contradicts those who suspect it.
 * - its *place* in the ring: a counter that is odd while the node has a place and even while it has none, with the weight
 *   and the address that go with it. Only the node itself makes it odd; anybody may take the place of a node that has
 *   been down for the whole grace, which makes it even.
 *
 * Merging takes the greater of each part, so it doesn't matter in which order records arrive, nor how often: all nodes
 * that have heard the same end with the same table, without any vote. An old record that somebody plays back changes
 * nothing, for it is never the greater one.
 */
import { hashText, mix32 } from '../base/hash.ts';

/**
 * How a node fares. suspect: didn't answer, may still speak for itself. down: didn't, or said that it stops. left: gave its
 * place up and is gone for good.
 */
export type MemberStatus = 'alive' | 'suspect' | 'down' | 'left';

/** In ascending order. */
export const memberStatuses: readonly MemberStatus[] = ['alive', 'suspect', 'down', 'left'];

export interface MemberRecord {
  readonly nodeId: number;
  /** 0 for a node that is only known from a configuration file. */
  readonly incarnation: number;
  readonly status: MemberStatus;
  /** Random name of the process's life. */
  readonly run: number;
  /** Odd: in the ring. */
  readonly place: number;
  readonly weight: number;
  /** host:port of links and of gossip. */
  readonly address: string;
}

/** Figures of a record stay below these; a packet with others is refused. */
export const maxIncarnation = 0x7fff_ffff;
export const maxPlace = 0x1f_ffff;
export const maxWeight = 1_000_000_000;
/** The longest IPv6 address there is, in brackets, with a port. */
export const maxAddressLength = 53;

/** Bytes of a record on the wire, its address aside (protocol/gossip-packet.ts). */
const recordFixedBytes = 22;

/** Bytes of a record on the wire. */
export function recordBytes(record: MemberRecord): number {
  return recordFixedBytes + record.address.length;
}

/** Whether the node has a place in the ring. */
export function isPlaced(record: MemberRecord): boolean {
  return record.place % 2 === 1;
}

/** The place after this one that is none; at the very end of the counter the same. */
export function vacatedPlace(place: number): number {
  const next = place % 2 === 1 ? place + 1 : place;
  return next < maxPlace ? next : place;
}

/** The place after this one that is one; at the very end of the counter the same. */
export function renewedPlace(place: number): number {
  const next = place % 2 === 1 ? place + 2 : place + 1;
  return next <= maxPlace ? next : place;
}

/** Whether the node is taken to run: alive or suspected. */
export function isRunning(record: MemberRecord): boolean {
  return record.status === 'alive' || record.status === 'suspect';
}

/** Negative, 0 or positive as `a`'s life comes before, is, or comes after `b`'s. */
export function compareLife(a: MemberRecord, b: MemberRecord): number {
  if (a.incarnation !== b.incarnation) return a.incarnation - b.incarnation;
  const byStatus = memberStatuses.indexOf(a.status) - memberStatuses.indexOf(b.status);
  return byStatus !== 0 ? byStatus : a.run - b.run;
}

/** The same for places. Weight and address decide only between nodes that were given one id. */
export function comparePlace(a: MemberRecord, b: MemberRecord): number {
  if (a.place !== b.place) return a.place - b.place;
  if (a.weight !== b.weight) return a.weight - b.weight;
  if (a.address === b.address) return 0;
  return a.address < b.address ? -1 : 1;
}

/** The least record that is neither before `a` nor before `b`: `a` itself when `b` adds nothing. */
export function merge(a: MemberRecord, b: MemberRecord): MemberRecord {
  const life = compareLife(b, a) > 0 ? b : a;
  const place = comparePlace(b, a) > 0 ? b : a;
  if (life === place) return life;
  const { nodeId, incarnation, status, run } = life;
  const { weight, address } = place;
  return { nodeId, incarnation, status, run, place: place.place, weight, address };
}

/** 32 bits of a record's place, weight and address. */
export function hashPlace(record: MemberRecord): number {
  const hash = mix32(mix32(record.nodeId ^ 0x9e3779b9) + record.place);
  return mix32(mix32(hash + record.weight) ^ hashText(record.address));
}

/** 32 bits of a whole record: the same only for equal records, but for chance. */
export function hashRecord(record: MemberRecord): number {
  let hash = mix32(hashPlace(record) ^ record.incarnation);
  hash = mix32(hash + memberStatuses.indexOf(record.status));
  return mix32(hash ^ record.run);
}
