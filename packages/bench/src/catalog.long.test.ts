// Every group of figures is measured once, small: so that none of them rots between two runs of the whole benchmark.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groups } from './catalog.ts';
import { NotMeasurable } from './figure.ts';
import { tinyRun } from './testing/tiny-run.ts';

for (const { ids, about, measure } of groups) {
  test(`${ids.join(', ')}: ${about}`, { timeout: 300_000 }, async () => {
    let outcome;
    try {
      outcome = await tinyRun(() => true, measure);
    } catch (error) {
      // A machine that can't show a figure says why, which is an outcome too.
      if (!(error instanceof NotMeasurable)) throw error;
      assert.notEqual(error.message, '');
      return;
    }
    const { figures, comparisons } = outcome;
    assert.ok(figures.length + comparisons.length > 0);
    for (const { id, value } of figures) {
      assert.ok(
        ids.some((known) => id.startsWith(known)),
        id,
      );
      assert.ok(Number.isFinite(value), `${id} is ${value}`);
    }
    for (const { system, cpuUs } of comparisons) assert.ok(cpuUs >= 0, system);
  });
}
