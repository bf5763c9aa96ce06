import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoiseMeter, noiseWarnings } from './noise.ts';

const quiet = { othersBusy: 0.01, stolen: 0, loadBefore: 0 };
const steady = { id: 'P1', value: 20, spread: [19, 21] } as const;

test('a quiet machine and steady rounds give no warning', () => {
  assert.deepEqual(noiseWarnings(quiet, [steady]), []);
});

test('other work, stolen time and rounds far apart are each told', () => {
  const wide = { id: 'P5b', value: 1, spread: [0.8, 1.2] } as const;
  const warnings = noiseWarnings({ othersBusy: 0.5, stolen: 0.1, loadBefore: 2 }, [steady, wide]);
  assert.equal(warnings.length, 3);
  assert.match(warnings[0] ?? '', /0\.50 of a processor/);
  assert.match(warnings[1] ?? '', /10\.0%/);
  assert.match(warnings[2] ?? '', /P5b$/);
});

test('the time that this process itself uses is nobody else’s', () => {
  const meter = new NoiseMeter();
  const end = performance.now() + 300;
  let turns = 0;
  while (performance.now() < end) turns++;
  const { othersBusy, stolen } = meter.read();
  assert.ok(turns > 0);
  assert.ok(othersBusy >= 0 && stolen >= 0 && stolen < 1, `${othersBusy} ${stolen}`);
});
