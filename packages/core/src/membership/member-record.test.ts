import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import {
  compareLife,
  comparePlace,
  hashRecord,
  isPlaced,
  maxPlace,
  memberStatuses,
  merge,
  renewedPlace,
  vacatedPlace,
  type MemberRecord,
} from './member-record.ts';

const prng = new Prng(11, 12);

/** Of few values, so that ties are common. */
function anyRecord(): MemberRecord {
  return {
    nodeId: 1,
    incarnation: prng.below(3),
    status: memberStatuses[prng.below(4)]!,
    run: prng.below(2),
    place: prng.below(3),
    weight: 1 + prng.below(2),
    address: ['10.0.0.1:1', '10.0.0.2:1'][prng.below(2)]!,
  };
}

test('merging takes order, repetition and grouping no notice: tables that heard the same are equal', () => {
  for (let i = 0; i < 20_000; i++) {
    const [a, b, c] = [anyRecord(), anyRecord(), anyRecord()];
    deepEqual(merge(a, b), merge(b, a));
    deepEqual(merge(merge(a, b), c), merge(a, merge(b, c)));
    equal(merge(a, { ...a }), a);
    const merged = merge(a, b);
    ok(compareLife(merged, a) >= 0 && compareLife(merged, b) >= 0);
    ok(comparePlace(merged, a) >= 0 && comparePlace(merged, b) >= 0);
    deepEqual(merge(merged, a), merged);
  }
});

test('equal records have equal hashes, others do not', () => {
  const seen = new Map<number, string>();
  for (let i = 0; i < 20_000; i++) {
    const record = anyRecord();
    const text = JSON.stringify(record);
    const hash = hashRecord(record);
    equal(seen.get(hash) ?? text, text);
    seen.set(hash, text);
  }
});

test('places are given and taken in turn, and never past the end of the counter', () => {
  equal(vacatedPlace(1), 2);
  equal(vacatedPlace(2), 2);
  equal(renewedPlace(2), 3);
  equal(renewedPlace(3), 5);
  equal(vacatedPlace(maxPlace), maxPlace);
  equal(renewedPlace(maxPlace), maxPlace);
  ok(isPlaced({ ...anyRecord(), place: renewedPlace(8) }));
});
