import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IdTable } from './id-table.ts';

test('a table finds what a Map would, whatever was deleted in between', () => {
  // Few ids that are far apart, so that runs of neighbours and wrap-around are common.
  const id = fc.nat(40).map((n) => (n * 0x10_0001) % 0x7fff_ffff);
  const step = fc.record({ id, isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new IdTable<number>(16);
      const model = new Map<number, number>();
      for (const [value, { id, isSet }] of steps.entries()) {
        if (!isSet && model.has(id)) {
          table.delete(id);
          model.delete(id);
        } else if (isSet && !model.has(id) && model.size < 16) {
          table.set(id, value);
          model.set(id, value);
        }
        assert.equal(table.size, model.size);
        for (const other of steps) assert.equal(table.get(other.id), model.get(other.id) ?? null);
      }
    }),
  );
});

test('ids beyond 32 bits are told apart', () => {
  const table = new IdTable<string>(4);
  table.set(5, 'low');
  table.set(5 + 2 ** 32, 'high');
  assert.equal(table.get(5), 'low');
  assert.equal(table.get(5 + 2 ** 32), 'high');
  table.delete(5);
  assert.equal(table.get(5), null);
  assert.equal(table.get(5 + 2 ** 32), 'high');
});

test('filing an id twice, one id too many, or forgetting an unknown one is a bug', () => {
  const table = new IdTable<string>(1);
  table.set(1, 'one');
  assert.throws(() => table.set(1, 'again'));
  assert.throws(() => table.set(2, 'two'), /no more than its pool/);
  assert.throws(() => table.delete(2), /only a filed id/);
});
