import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Admission } from '../history/block-event.ts';
import { Admissions } from './admission.ts';
import { HandMade, requestOf, rules, type Asked } from './testing/hand-made.ts';

const blockBytes = 32;

function run() {
  const made = new HandMade();
  const version = made.put(10, 'k', 100);
  const admissions = new Admissions(made.history, made.oracle, rules, blockBytes);
  const admit = (at: number, change: Partial<Admission> = {}): string | null => {
    const admission: Admission = {
      node: 1,
      life: 1,
      at,
      block: { bucket: 'b', key: 'k', etag: version.etag, index: 1 },
      admitsOnFirstRead: false,
      as: 'owner',
      lentUntil: -Infinity,
      isAtOnce: false,
      ...change,
    };
    made.history.admitted(admission);
    return admissions.check(admission);
  };
  const read = (asked: Asked) => made.answer(version, asked);
  return { made, version, admit, read };
}

/** How many such admissions in a row pass before one doesn't; at most 50 are tried. */
function passing(admit: () => string | null): number {
  for (let count = 0; count < 50; count += 1) if (admit() !== null) return count;
  return 50;
}

describe('a block', () => {
  void test('is let in on its second read, however many times', () => {
    const { admit, read } = run();
    read({ startedAt: 100 });
    read({ startedAt: 200, range: 'bytes=40-41' });
    assert.equal(
      passing(() => admit(201)),
      50,
    );
  });

  void test('is let in at once where its bucket says so, or another node had it', () => {
    const { admit } = run();
    assert.equal(
      passing(() => admit(201, { admitsOnFirstRead: true })),
      50,
    );
    assert.equal(
      passing(() => admit(201, { isAtOnce: true })),
      50,
    );
  });

  void test('is let in by its owner, a replica or a stand-in, by nobody else', () => {
    const { admit, read } = run();
    read({ startedAt: 100 });
    read({ startedAt: 200 });
    for (const as of ['owner', 'replica', 'stand-in'] as const) {
      assert.equal(admit(201, { as }), null);
    }
    assert.match(admit(201, { as: 'other' }) ?? '', /node 1 let in block 1 .* isn't its own/);
    assert.notEqual(admit(201, { as: 'other', admitsOnFirstRead: true }), null);
  });
});

describe('a first read lets in nothing, but for a few by chance', () => {
  const first: readonly [what: string, reads: readonly Asked[]][] = [
    ['no read at all', []],
    ['one read', [{ startedAt: 100 }]],
    ['reads of other blocks', [{ startedAt: 100 }, { startedAt: 150, range: 'bytes=0-31' }]],
    ['reads of heads', [{ startedAt: 100 }, { startedAt: 150, head: true }]],
    ['reads that came later', [{ startedAt: 100 }, { startedAt: 300 }]],
    ['reads two windows ago', [{ startedAt: 100 }, { startedAt: -20_000 }]],
    [
      'reads of nothing new',
      [{ startedAt: 100 }, { startedAt: 150, conditions: { ifNoneMatch: '*' } }],
    ],
    ['ranges that are not there', [{ startedAt: 100 }, { startedAt: 150, range: 'bytes=100-' }]],
  ];
  for (const [what, reads] of first) {
    void test(`after ${what}`, () => {
      const { admit, read } = run();
      for (const asked of reads) read(asked);
      assert.equal(
        passing(() => admit(201)),
        3,
      );
    });
  }

  void test('after reads of another version', () => {
    const { made, admit, read } = run();
    read({ startedAt: 100 });
    read({ startedAt: 150 });
    const other = made.put(160, 'k', 90);
    const block = { bucket: 'b', key: 'k', etag: other.etag, index: 1 };
    assert.equal(
      passing(() => admit(201, { block })),
      3,
    );
    const never = { ...block, etag: '"never"' };
    assert.notEqual(admit(201, { block: never }), null);
  });

  void test('though a read that has no head yet may be of any version', () => {
    const { admit, read } = run();
    read({ startedAt: 100 }).etag = '';
    read({ startedAt: 150 }).etag = '';
    assert.equal(
      passing(() => admit(201)),
      50,
    );
  });

  void test('though a read counts twice whose fetch was given up before the block came', () => {
    for (const [what, change, may] of [
      ['given up', {}, true],
      ['still under way', { endedAt: Infinity }, false],
      ['ended well', { end: 'answered' }, false],
      ['of another node', { node: 0 }, false],
      ['of another life', { life: 2 }, false],
      ['of other blocks', { request: requestOf('k', { range: 'bytes=64-99' }) }, false],
      [
        'of another version',
        { request: requestOf('k', { conditions: { ifMatch: '"x"' } }) },
        false,
      ],
      ['of the head alone', { request: requestOf('k', { head: true }) }, false],
    ] as const) {
      const { made, admit, read } = run();
      read({ startedAt: 100 });
      const fetch = made.fetch({ request: requestOf('k'), sentAt: 110, node: 1 });
      Object.assign(fetch, { end: 'cut', endedAt: 120 }, change);
      assert.equal(
        passing(() => admit(201)),
        may ? 50 : 3,
        what,
      );
    }
  });

  void test('and the more is read the more chance there is', () => {
    const { made, admit } = run();
    for (let i = 0; i < 1000; i += 1) made.lookup({ arrivedAt: i });
    assert.equal(
      passing(() => admit(201)),
      33,
    );
  });
});
