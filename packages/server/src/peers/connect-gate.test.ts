import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectGate } from './connect-gate.ts';

test('each failure doubles the pause, up to the limit', () => {
  const gate = new ConnectGate(50, 300);
  let now = 1000;
  assert.equal(gate.isOpen(now), true);
  for (const pause of [50, 100, 200, 300, 300]) {
    gate.failed(now, 1 - Number.EPSILON);
    assert.equal(gate.isOpen(now + pause - 1), false, `shut for ${pause}`);
    now += pause;
    assert.equal(gate.isOpen(now), true, `open after ${pause}`);
  }
});

test('jitter shortens a pause to half of it at most', () => {
  const gate = new ConnectGate(100, 100);
  gate.failed(0, 0);
  assert.equal(gate.isOpen(49), false);
  assert.equal(gate.isOpen(50), true);
});

test('a success opens the gate and forgets the failures', () => {
  const gate = new ConnectGate(100, 1000);
  gate.failed(0, 0.5);
  gate.failed(0, 0.5);
  gate.succeeded();
  assert.equal(gate.isOpen(0), true);
  gate.failed(0, 0);
  assert.equal(gate.isOpen(50), true);
});
