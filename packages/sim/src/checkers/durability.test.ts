import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlotEvent, SlotEventKind } from '../history/block-event.ts';
import type { DurableRecord } from '../history/views.ts';
import { checkDurableRecord, SlotLives } from './durability.ts';
import { bytesOf, HandMade } from './testing/hand-made.ts';

describe('a record that would survive', () => {
  const made = new HandMade();
  const version = made.put(10, 'k', 64);
  const other = made.put(10, 'other', 64);
  const record = (change: Partial<DurableRecord> = {}): DurableRecord => ({
    node: 1,
    slot: 5,
    block: { bucket: 'b', key: 'k', etag: version.etag, index: 1 },
    blockBytes: 32,
    length: 32,
    bytes: bytesOf(version, 32, 32),
    isRotten: false,
    isOfAnEarlierRun: false,
    ...change,
  });
  const verdict = (change: Partial<DurableRecord>) =>
    checkDurableRecord(made.oracle, record(change));

  void test('has its bytes beside it', () => {
    assert.equal(verdict({}), null);
  });

  const torn = bytesOf(version, 32, 32);
  torn.fill(0, 16);
  for (const [what, bytes] of [
    ['nothing yet', new Uint8Array(32)],
    ['half of its bytes', torn],
    ['the block that was in the slot before', bytesOf(other, 32, 32)],
    ['a file that ends before', new Uint8Array(0)],
  ] as const) {
    void test(`is ahead of its bytes when the disk has ${what}`, () => {
      assert.match(verdict({ bytes }) ?? '', /durable record of slot 5 is ahead of its bytes/);
      assert.equal(verdict({ bytes, isRotten: true }), null);
      assert.equal(verdict({ bytes, isOfAnEarlierRun: true }), null);
    });
  }

  void test('names a block that somebody stored', () => {
    assert.match(verdict({ block: null }) ?? '', /names an identity that nobody has/);
  });
});

describe('the lives of a slot', () => {
  /** The verdict on the last of the events, all of one slot unless they say otherwise; those before must pass. */
  function verdict(...events: (SlotEventKind | Partial<SlotEvent>)[]): string | null {
    const lives = new SlotLives();
    let at = 0;
    let wrong: string | null = null;
    for (const event of events) {
      assert.equal(wrong, null);
      at += 1;
      const change = typeof event === 'string' ? { kind: event } : event;
      wrong = lives.check({ node: 0, life: 1, slot: 3, kind: 'written', at, ...change });
    }
    return wrong;
  }

  void test('a block is served once it is written, or was trusted, or was verified', () => {
    assert.equal(verdict('written', 'served', 'served'), null);
    assert.equal(verdict('trusted', 'served'), null);
    assert.equal(verdict('untrusted', 'verified', 'served'), null);
    assert.equal(verdict('trusted', 'verified', 'served'), null);
    assert.equal(verdict('untrusted', 'left', 'written', 'served'), null);
    assert.equal(verdict('untrusted', 'damaged', 'written', 'served'), null);
  });

  void test('a block of a run that did not end clean is not served unverified', () => {
    assert.match(verdict('untrusted', 'served') ?? '', /served unchecked after a crash/);
    const elsewhere = { slot: 4, kind: 'verified' } as const;
    const restored = { slot: 4, kind: 'untrusted' } as const;
    assert.match(verdict('untrusted', restored, elsewhere, 'served') ?? '', /unchecked/);
  });

  void test('what is damaged, left or of an earlier life is not served', () => {
    assert.match(verdict('untrusted', 'damaged', 'served') ?? '', /holds nothing/);
    assert.match(verdict('written', 'left', 'served') ?? '', /holds nothing/);
    assert.match(verdict('served') ?? '', /holds nothing/);
    const reborn = { life: 2, kind: 'served' } as const;
    assert.match(verdict('written', reborn) ?? '', /holds nothing/);
    const neighbour = { node: 1, kind: 'served' } as const;
    assert.match(verdict('written', neighbour) ?? '', /holds nothing/);
  });

  void test('a slot is restored once, and verified only when there is something in it', () => {
    assert.match(verdict('trusted', 'untrusted') ?? '', /restored twice/);
    assert.match(verdict('written', 'trusted') ?? '', /restored twice/);
    assert.match(verdict('verified') ?? '', /verified while it holds nothing/);
  });
});
