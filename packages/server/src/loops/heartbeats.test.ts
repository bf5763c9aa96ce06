import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats, standstillMs } from './heartbeats.ts';

test('a loop stands still once it has said nothing for a while, and no longer when it speaks again', () => {
  // The clock's word is full after 50 days.
  for (const start of [1000.5, 2 ** 31 - 1500, 2 ** 32 - 1500]) {
    const beats = new Heartbeats(new Int32Array(new SharedArrayBuffer(12)));
    for (const loop of [1, 2]) beats.beat(loop, start);
    assert.ok(!beats.standsStill(1, start + standstillMs));
    beats.beat(2, start + standstillMs);
    assert.ok(beats.standsStill(1, start + standstillMs + 2));
    assert.ok(!beats.standsStill(2, start + standstillMs + 2));
    beats.beat(1, start + standstillMs + 3);
    assert.ok(!beats.standsStill(1, start + standstillMs + 2), 'though it spoke a moment later');
  }
});
