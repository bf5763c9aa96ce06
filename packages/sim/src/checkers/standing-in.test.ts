import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StandIns } from './standing-in.ts';
import { rules } from './testing/hand-made.ts';

const gateway = { gateway: 0, gatewayLife: 1 };
const read = { ...gateway, node: 2, ranked: [1, 2, 3], at: 1000 };

describe('a node stands in', () => {
  void test('for an owner that failed the gateway a moment ago', () => {
    const standIns = new StandIns(rules);
    standIns.failed({ ...gateway, node: 1, at: 900 });
    assert.equal(standIns.check(read), null);
    assert.equal(standIns.check({ ...read, node: 3 }), null);
  });

  void test('for none that never failed it, or only another gateway, or its life before', () => {
    const standIns = new StandIns(rules);
    standIns.failed({ ...gateway, node: 3, at: 900 });
    standIns.failed({ gateway: 1, gatewayLife: 1, node: 1, at: 900 });
    standIns.failed({ gateway: 0, gatewayLife: 0, node: 1, at: 900 });
    assert.match(standIns.check(read) ?? '', /never failed it/);
  });

  void test('no longer than the owner is suspected', () => {
    const standIns = new StandIns(rules);
    standIns.failed({ ...gateway, node: 1, at: 100 });
    assert.equal(standIns.check({ ...read, at: 600 }), null);
    assert.match(standIns.check({ ...read, at: 601 }) ?? '', /failed it last 501 ms ago/);
    standIns.failed({ ...gateway, node: 1, at: 600 });
    assert.equal(standIns.check({ ...read, at: 601 }), null);
  });

  void test('only as one of the next candidates, and not for itself', () => {
    const standIns = new StandIns(rules);
    standIns.failed({ ...gateway, node: 1, at: 900 });
    assert.match(standIns.check({ ...read, node: 4 }) ?? '', /no candidate/);
    assert.match(standIns.check({ ...read, node: 1 }) ?? '', /for itself/);
    assert.match(standIns.check({ ...read, ranked: [] }) ?? '', /for itself/);
  });
});
