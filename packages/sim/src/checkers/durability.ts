/**
 * Durability (SPEC §4.6): a record that would survive a crash is never ahead of the bytes that would, and no block of a
 * run that didn't end clean is served before it was compared with its checksum.
 *
 * The first half looks at what the disk would keep, whenever something became durable there. A record of another block
 * than the bytes in its place is the other half of the same rule: a slot is used again only after its record is cleared.
 * The second half follows each slot through the events of a life.
 */
import type { SlotEvent } from '../history/block-event.ts';
import type { DurableRecord } from '../history/views.ts';
import type { Oracle } from '../oracle/oracle.ts';
import { wrongBlock } from './stored-blocks.ts';

/** Called after each sync of a disk for the records that it would keep. */
export function checkDurableRecord(oracle: Oracle, record: DurableRecord): string | null {
  const { node, slot, block, blockBytes, length, bytes } = record;
  // What an earlier run left is compared before it is used, so only this run's records promise anything.
  if (record.isRotten || record.isOfAnEarlierRun) return null;
  const where = `node ${node}, the durable record of slot ${slot}`;
  if (block === null) return `${where}: names an identity that nobody has`;
  const wrong = wrongBlock(oracle, block, blockBytes, length, bytes);
  return wrong === null ? null : `${where} is ahead of its bytes: ${wrong}`;
}

/** Follows the slots of all nodes. */
export class SlotLives {
  /** By node; a slot that isn't in holds nothing. */
  readonly #nodes = new Map<number, { life: number; slots: Map<number, 'good' | 'unchecked'> }>();

  /** Called for every event of a slot, in order. */
  check(event: SlotEvent): string | null {
    const { node, slot, kind } = event;
    const slots = this.#slotsOf(event);
    const state = slots.get(slot) ?? 'empty';
    const where = `node ${node}, slot ${slot}`;
    switch (kind) {
      case 'trusted':
      case 'untrusted':
        if (state !== 'empty') return `${where}: restored twice`;
        slots.set(slot, kind === 'trusted' ? 'good' : 'unchecked');
        return null;
      case 'written':
        slots.set(slot, 'good');
        return null;
      case 'verified':
        if (state === 'empty') return `${where}: verified while it holds nothing`;
        slots.set(slot, 'good');
        return null;
      case 'damaged':
      case 'left':
        slots.delete(slot);
        return null;
      case 'served':
        if (state === 'empty') return `${where}: served while it holds nothing`;
        return state === 'unchecked' ? `${where}: served unchecked after a crash` : null;
    }
  }

  #slotsOf({ node, life }: SlotEvent): Map<number, 'good' | 'unchecked'> {
    const known = this.#nodes.get(node);
    if (known?.life === life) return known.slots;
    const slots = new Map<number, 'good' | 'unchecked'>();
    this.#nodes.set(node, { life, slots });
    return slots;
  }
}
