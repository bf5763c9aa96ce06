import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinyRun } from '../testing/tiny-run.ts';
import { measureHits } from './hits.ts';

test('the time to the first byte of a hit is measured from outside, with real processes', async () => {
  const figures = await tinyRun((id) => id === 'P5', measureHits);
  assert.deepEqual(
    figures.map(({ id }) => id),
    ['P5a', 'P5b'],
  );
  for (const { value, spread, unit, note } of figures) {
    assert.equal(unit, 'ms');
    assert.ok(value > 0 && spread[0] <= value && value <= spread[1]);
    assert.match(note, /CPU a request/);
  }
});
