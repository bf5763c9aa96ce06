import { equal, notEqual, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from './prng.ts';
import { NO_ID, SlotPool, type PoolId } from './slot-pool.ts';

test('an id finds its record until it is released, and never after', () => {
  const pool = new SlotPool(4, (slot) => ({ slot }));
  const id = pool.acquire();
  equal(pool.get(id)?.slot, id & pool.slotMask);
  pool.release(id);
  equal(pool.get(id), null);
  throws(() => {
    pool.release(id);
  });
});

test('a full pool refuses and counts, and serves again after a release', () => {
  const pool = new SlotPool(2, () => ({}));
  const first = pool.acquire();
  pool.acquire();
  equal(pool.acquire(), NO_ID);
  equal(pool.refused, 1);
  equal(pool.inUse, 2);
  pool.release(first);
  const again = pool.acquire();
  notEqual(again, NO_ID);
  notEqual(again, first);
  equal(pool.get(first), null);
});

test('no made-up id finds a record', () => {
  const pool = new SlotPool(8, () => ({}));
  const id = pool.acquire();
  pool.release(pool.acquire());
  for (const wrong of [NO_ID, id + 1, id + 2, id + 8, id + 7, id + (1 << 20), 0x7fff_ffff]) {
    equal(pool.get(wrong), null);
  }
});

test('an id whose generation is the next one of a free slot finds nothing', () => {
  const pool = new SlotPool(1, () => ({}));
  const id = pool.acquire();
  pool.release(id);
  equal(pool.get(id + 1), null);
  equal(pool.acquire(), id + 1);
});

test('records are made when first needed and then reused', () => {
  let made = 0;
  const pool = new SlotPool(1 << 20, () => ({ number: made++ }));
  for (let i = 0; i < 10_000; i++) pool.release(pool.acquire());
  equal(made, 1024);
});

test('few records rest where ids have room for many generations', () => {
  let made = 0;
  const pool = new SlotPool(4096, () => ({ number: made++ }));
  for (let i = 0; i < 10_000; i++) pool.release(pool.acquire());
  equal(made, 4);
});

test('generations go round without ever giving two records one id', () => {
  const pool = new SlotPool(1 << 20, () => ({}));
  const kept = pool.acquire();
  for (let i = 0; i < 4_000_000; i++) {
    const id = pool.acquire();
    ok(id >= 0 && id !== kept);
    pool.release(id);
  }
  notEqual(pool.get(kept), null);
});

test('a stale id stays stale for at least a million further lives', () => {
  const pool = new SlotPool(4096, () => ({}));
  const stale = pool.acquire();
  pool.release(stale);
  for (let i = 0; i < 1_000_000; i++) {
    const id = pool.acquire();
    notEqual(id, stale);
    pool.release(id);
  }
  equal(pool.get(stale), null);
});

test('random histories agree with a map of live ids', () => {
  const prng = new Prng(11, 5);
  const pool = new SlotPool(50, () => ({ owner: 0 }));
  const live = new Map<PoolId, number>();
  const dead: PoolId[] = [];
  for (let step = 1; step < 50_000; step++) {
    if (prng.chance(0.52)) {
      const id = pool.acquire();
      equal(id === NO_ID, live.size === 50);
      if (id !== NO_ID) {
        ok(!live.has(id));
        pool.get(id)!.owner = step;
        live.set(id, step);
      }
    } else if (live.size > 0) {
      const ids = [...live.keys()];
      const id = ids[prng.below(ids.length)]!;
      equal(pool.get(id)?.owner, live.get(id));
      pool.release(id);
      live.delete(id);
      dead.push(id);
      if (dead.length > 100) dead.shift();
    }
    equal(pool.inUse, live.size);
    for (const id of dead) equal(pool.get(id), null);
  }
});
