import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LinkedList, type Linked } from './linked-list.ts';

class Item implements Linked<Item> {
  list: LinkedList<Item> | null = null;
  before: Item | null = null;
  after: Item | null = null;
}

function contents(list: LinkedList<Item>): Item[] {
  const items: Item[] = [];
  for (let item = list.first; item !== null; item = item.after) items.push(item);
  return items;
}

test('a list keeps its records in the order that an array would', () => {
  const step = fc.record({
    item: fc.nat(7),
    op: fc.constantFrom('append', 'remove', 'replace', 'shift'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const items = Array.from({ length: 8 }, () => new Item());
      const list = new LinkedList<Item>();
      let model: Item[] = [];
      for (const { item: index, op } of steps) {
        const item = items[index]!;
        if (op === 'shift') {
          assert.equal(list.shift(), model.shift() ?? null);
        } else if (op === 'append' && item.list === null) {
          list.append(item);
          model.push(item);
        } else if (op === 'remove' && item.list === list) {
          list.remove(item);
          model = model.filter((other) => other !== item);
        } else if (op === 'replace' && item.list === list) {
          const by = items.find((other) => other.list === null);
          if (by === undefined) continue;
          list.replace(item, by);
          model = model.map((other) => (other === item ? by : other));
        }
        assert.deepEqual(contents(list), model);
        assert.equal(list.size, model.length);
        assert.equal(list.last, model.at(-1) ?? null);
      }
    }),
  );
});

test('a record in two lists is a bug', () => {
  const item = new Item();
  new LinkedList<Item>().append(item);
  assert.throws(() => new LinkedList<Item>().append(item), /one list at a time/);
});

test('removing a record from a list that it is not in is a bug', () => {
  assert.throws(() => new LinkedList<Item>().remove(new Item()), /that it is in/);
});
