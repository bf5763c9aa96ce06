import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { SlotLists } from './slot-lists.ts';
import { NIL, SlotRecords, type SlotId } from './slot-records.ts';

function walk(records: SlotRecords, lists: SlotLists, list: number): SlotId[] {
  const slots: SlotId[] = [];
  for (let slot = lists.head(list); slot !== NIL; slot = records.next(slot)) slots.push(slot);
  return slots;
}

test('random pushes and removals agree with arrays, in both directions', () => {
  const prng = new Prng(2, 3);
  const records = new SlotRecords();
  const lists = new SlotLists(records, 3);
  const model: SlotId[][] = [[], [], []];
  const idle = Array.from({ length: 30 }, () => records.make());
  for (let step = 0; step < 20_000; step++) {
    const list = prng.below(3);
    if (prng.chance(0.5) && idle.length > 0) {
      const slot = idle.pop()!;
      lists.push(list, slot);
      model[list]!.unshift(slot);
    } else if (model[list]!.length > 0) {
      const [slot] = model[list]!.splice(prng.below(model[list]!.length), 1);
      lists.remove(list, slot!);
      idle.unshift(slot!);
    }
    equal(lists.count(list), model[list]!.length);
    equal(lists.tail(list), model[list]!.at(-1) ?? NIL);
    deepEqual(walk(records, lists, list), model[list]);
  }
});
