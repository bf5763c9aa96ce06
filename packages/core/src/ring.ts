/**
 * The ring: an immutable, versioned list of the storage nodes that blocks are placed on.
 *
 * Every process ranks members by the same arithmetic (placement.ts), so equal rings place equally.
 * Rings are compared by version alone: versions are totally ordered, and a newer ring replaces an
 * older one whole. A version is an epoch that grows with every change (membership/ring-view.ts) and,
 * for rings that two nodes arrived at independently, a hash of the members: whoever sees both
 * prefers the same one, until a ring that comes after both replaces it.
 *
 * Invariants: members are in order of node id, ids are unique, weights are positive.
 */
import { assert } from './base/assert.ts';
import { hashText, mix32 } from './base/hash.ts';

/** The most members that a ring can have, and the most node ids that a cluster can know over its life. */
export const maxMembers = 2048;

/** One storage node of a ring. */
export interface Member {
  /** Unique, 0 to 2^32 − 1. */
  readonly nodeId: number;
  /** Its share relative to the others', usually the size of its disk. */
  readonly weight: number;
  /** host:port that gateways and nodes reach it at. */
  readonly address: string;
}

/** Epochs stay below 2^32, so that epoch and hash together are a safe integer. */
const hashSpan = 2 ** 21;

/** The version of the ring of these members, in order of node id, at an epoch. */
export function ringVersion(epoch: number, members: readonly Member[]): number {
  assert(epoch >= 0 && epoch <= 0xffff_ffff, 'ring: epoch out of range');
  let hash = members.length;
  for (const { nodeId, weight, address } of members) {
    hash = mix32(mix32(hash ^ nodeId) + weight);
    hash = mix32(hash ^ hashText(address));
  }
  return epoch * hashSpan + (hash >>> 11);
}

/** The epoch of a version. */
export function epochOf(version: number): number {
  return Math.floor(version / hashSpan);
}

export class Ring {
  readonly version: number;
  /** In order of node id. */
  readonly members: readonly Member[];
  /** All weights are the same: members are ranked by hash alone, without a logarithm. */
  readonly isEqual: boolean;
  /** One hashed word a member, in the order of `members`: what sets their scores apart. */
  readonly salts: Int32Array;

  /** Asserts the invariants: rings from outside are checked before they get here. */
  constructor(version: number, members: readonly Member[]) {
    assert(members.length <= maxMembers, 'ring: too many members');
    this.version = version;
    this.members = members.toSorted((a, b) => a.nodeId - b.nodeId);
    this.salts = new Int32Array(members.length);
    let isEqual = true;
    let last = -1;
    for (const [i, member] of this.members.entries()) {
      assert(member.nodeId > last, 'ring: node ids are unique and not negative');
      assert(member.nodeId <= 0xffff_ffff, 'ring: node ids have 32 bits');
      assert(member.weight > 0 && member.weight <= 1e15, 'ring: weight out of range');
      last = member.nodeId;
      if (member.weight !== this.members[0]!.weight) isEqual = false;
      this.salts[i] = mix32(mix32(member.nodeId ^ 0x9e3779b9) + 0x7f4a7c15);
    }
    this.isEqual = isEqual;
  }

  /** The member with this node id, or null. */
  member(nodeId: number): Member | null {
    let low = 0;
    let high = this.members.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const member = this.members[middle]!;
      if (member.nodeId === nodeId) return member;
      if (member.nodeId < nodeId) low = middle + 1;
      else high = middle - 1;
    }
    return null;
  }
}
