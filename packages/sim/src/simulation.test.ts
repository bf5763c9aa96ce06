import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optionsOf, simulate } from './simulation.ts';

describe('a run', () => {
  test('is fixed by its seed, to the last effect', () => {
    for (const seed of [3, 4]) {
      const once = simulate(optionsOf(seed));
      const again = simulate(optionsOf(seed));
      assert.equal(once.traceHash, again.traceHash);
      assert.deepEqual([...once.situations], [...again.situations]);
      assert.equal(once.simulatedMs, again.simulatedMs);
    }
    assert.notEqual(simulate(optionsOf(3)).traceHash, simulate(optionsOf(4)).traceHash);
  });

  test('does the same when somebody reads along', () => {
    let lines = 0;
    const read = simulate(optionsOf(5), () => (lines += 1));
    assert.equal(read.traceHash, simulate(optionsOf(5)).traceHash);
    assert.ok(lines > 1000);
  });

  test('does without a fault that was taken away what its seed says otherwise', () => {
    const options = optionsOf(6);
    const plain = {
      ...options,
      faults: { ...options.faults, originPercent: 0, lostWritePercent: 0 },
    };
    const { failure, situations } = simulate(plain);
    assert.equal(failure, null);
    assert.equal(situations.get('origin fault'), undefined);
  });

  test('that breaks an invariant fails, and says which and where', () => {
    const options = optionsOf(7);
    const broken = { ...options, delays: { ...options.delays, clientMs: -10 } };
    const { failure } = simulate(broken);
    assert.equal(failure?.checker, 'assertion');
    assert.match(failure.what, /nothing happens in the past[^]*exchanges\.ts/);
  });
});

test('seeds from 0 on pass, with 500 requests each', () => {
  for (let seed = 0; seed < 20; seed++) {
    const { failure, requests } = simulate(optionsOf(seed));
    assert.equal(failure, null, `seed ${seed}`);
    assert.ok(requests >= 500, `seed ${seed}`);
  }
});
