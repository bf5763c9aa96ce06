/**
 * Rings (SPEC §6, docs/membership.md): versions are totally ordered, and a version is one ring; a process only ever goes on to a newer
 * one; between two rings only those keys move whose owner is gone or whose new owner has come; and once faults have stopped, all
 * that run place by one ring, the one of the nodes that run.
 */
import type { RingRecord } from '../history/ring-record.ts';
import type { ClusterView } from '../history/views.ts';

export class Rings {
  readonly #byVersion = new Map<number, RingRecord>();
  readonly #last = new Map<string, RingRecord>();

  /** Called as a process adopts a ring. */
  adopted(record: RingRecord): string | null {
    const { by, version } = record;
    const { loop = 0 } = by;
    const name = `${by.process} ${by.id}${loop === 0 ? '' : ` loop ${loop}`}`;
    const life = `${name}.${by.life}`;
    const last = this.#last.get(life);
    this.#last.set(life, record);
    if (last !== undefined && version <= last.version) {
      return `${name} went from ring ${last.version} back to ring ${version}`;
    }
    const known = this.#byVersion.get(version);
    if (known !== undefined) return isSame(known, record) ? null : `ring ${version} is two rings`;
    for (const owner of record.owners) {
      if (owner === -1 && record.members.length > 0)
        return `ring ${version} leaves a key to nobody`;
      if (owner !== -1 && !record.members.includes(owner))
        return `ring ${version} has an owner ${owner} outside`;
    }
    for (const other of this.#byVersion.values()) {
      const moved = needlesslyMoved(other, record);
      if (moved !== null) return moved;
    }
    this.#byVersion.set(version, record);
    return null;
  }
}

/** Whether all that run are at one, some time after the last fault. */
export function checkAgreement({ running, processes }: ClusterView): string | null {
  const wanted = running.join();
  const [first] = processes;
  for (const { name, version, members } of processes) {
    if (members.join() !== wanted) {
      return `${name} places by a ring of nodes ${members.join()}, and nodes ${wanted} run`;
    }
    if (version !== first!.version) {
      return `${name} places by ring ${version} and ${first!.name} by ring ${first!.version}`;
    }
  }
  return null;
}

function isSame(one: RingRecord, other: RingRecord): boolean {
  return one.members.join() === other.members.join() && one.owners.join() === other.owners.join();
}

/** A key that another node owns, though its owner stayed and the new one was there before. */
function needlesslyMoved(one: RingRecord, other: RingRecord): string | null {
  for (const [key, owner] of one.owners.entries()) {
    const newOwner = other.owners[key]!;
    if (owner === newOwner) continue;
    if (!other.members.includes(owner) || !one.members.includes(newOwner)) continue;
    return `between rings ${one.version} and ${other.version} a key moved from node ${owner} to node ${newOwner}, which both have`;
  }
  return null;
}
