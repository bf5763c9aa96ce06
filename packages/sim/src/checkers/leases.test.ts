import { equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Admission } from '../history/block-event.ts';
import { checkLentAdmission, Leases } from './leases.ts';
import { rules } from './testing/hand-made.ts';

const leaseMs = 1000;

function grants(leases: Leases): (at: number, holder: number, life?: number) => string | null {
  return (at, holder, life = 1) =>
    leases.granted({ owner: 0, life, holder, turn: 1, placement: '1:2', at, leaseMs });
}

describe('an owner', () => {
  test('may lend a placement to as many nodes as the rules say, and lend it anew', () => {
    const grant = grants(new Leases(rules));
    for (const at of [0, 700, 1400]) {
      equal(grant(at, 1), null);
      equal(grant(at, 2), null);
    }
  });

  test('may lend it to another once a lease is over, and not before', () => {
    const grant = grants(new Leases(rules));
    grant(0, 1);
    grant(500, 2);
    match(grant(900, 3) ?? '', /node 0 lends 1:2 to 1, 2, 3 at a time/);
    equal(grants(new Leases(rules))(0, 1), null);
    const later = grants(new Leases(rules));
    later(0, 1);
    later(500, 2);
    equal(later(1001, 3), null);
  });

  test('may lend it to another once a lease is refused, and goes by the turn that was refused', () => {
    const leases = new Leases(rules);
    const grant = grants(leases);
    const refusal = { owner: 0, life: 1, holder: 1, placement: '1:2' };
    for (const holder of [1, 2]) grant(0, holder);
    leases.refused({ ...refusal, turn: 9 });
    match(grant(1, 3) ?? '', /lends 1:2 to 1, 2, 3 at a time/);
    leases.refused({ ...refusal, holder: 3, turn: 1 });
    leases.refused({ ...refusal, turn: 1 });
    equal(grant(2, 4), null);
  });

  test('that restarted knows nothing of the leases of its earlier life', () => {
    const grant = grants(new Leases(rules));
    for (const holder of [1, 2]) grant(0, holder);
    for (const holder of [3, 4]) equal(grant(1, holder, 2), null);
  });
});

describe('a holder', () => {
  const admission: Admission = {
    node: 3,
    life: 1,
    at: 10_000,
    block: { bucket: 'b', key: 'k', etag: '"e"', index: 0 },
    admitsOnFirstRead: false,
    as: 'replica',
    lentUntil: 9000,
    isAtOnce: true,
  };

  test('may let blocks in while its lease lasts, and what waits for the disk by then', () => {
    equal(checkLentAdmission(admission), null);
  });

  test('may not long after that', () => {
    match(checkLentAdmission({ ...admission, at: 20_000 }) ?? '', /11000 ms after its lease/);
  });

  test('that owns the block by now may do as it likes', () => {
    ok(checkLentAdmission({ ...admission, at: 20_000, as: 'owner' }) === null);
  });
});
