import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClientAnswer } from '../history/client-answer.ts';
import { checkAnswer } from './answers.ts';
import { checkReadYourWrites } from './read-your-writes.ts';
import { conclude, HandMade, rules } from './testing/hand-made.ts';

function verdict(made: HandMade, answer: ClientAnswer): string | null {
  return checkReadYourWrites(made.history, made.oracle, rules, answer);
}

/** `k` was there before, and the bucket may be a minute stale: only the write makes its old state wrong. */
function overwritten(outcome: 'done' | 'failed' | 'unknown') {
  const made = new HandMade();
  const old = made.put(10, 'k', 40);
  const write = made.written(1000, 'k', outcome);
  return { made, old, write, current: made.oracle.current('b', 'k') };
}

const staleMs = 120_000;

describe('a write that is done', () => {
  void test('is seen by the next read through the same gateway', () => {
    const { made, current } = overwritten('done');
    assert.equal(verdict(made, made.answer(current, { startedAt: 1002, staleMs })), null);
  });

  void test('makes what was there before wrong, which staleness alone would allow', () => {
    const { made, old } = overwritten('done');
    const answer = made.answer(old, { startedAt: 1003, staleMs });
    assert.equal(checkAnswer(made.history, made.oracle, rules, answer), null);
    assert.match(verdict(made, answer) ?? '', /after put 0 \(done\) through the same gateway/);
  });

  void test('makes it wrong for ever, not only for the next read', () => {
    const { made, old } = overwritten('done');
    const answer = made.answer(old, { startedAt: 90_000, staleMs });
    assert.notEqual(verdict(made, answer), null);
  });

  for (const what of ['head', 'range', 'not modified'] as const) {
    void test(`is seen by a ${what} too`, () => {
      const { made, old } = overwritten('done');
      const answer = made.answer(old, {
        startedAt: 1003,
        staleMs,
        head: what === 'head',
        range: what === 'range' ? 'bytes=1-2' : null,
        conditions: what === 'not modified' ? { ifNoneMatch: old.etag } : {},
      });
      assert.notEqual(verdict(made, answer), null);
    });
  }

  void test('may be unseen by a read that began before it ended', () => {
    const { made, old } = overwritten('done');
    assert.equal(verdict(made, made.answer(old, { startedAt: 1001.5, staleMs })), null);
  });

  void test('may be unseen through another gateway, or another life of this one', () => {
    const { made, old } = overwritten('done');
    assert.equal(verdict(made, made.answer(old, { startedAt: 1003, staleMs, gateway: 1 })), null);
    const reborn = made.answer(old, { startedAt: 1003, staleMs });
    Object.assign(reborn, { gatewayLife: 2 });
    assert.equal(verdict(made, reborn), null);
  });

  void test('counts once its gateway concluded so, though its client left', () => {
    const { made, old, write } = overwritten('done');
    write.outcome = 'unknown';
    write.endedAt = 500;
    assert.notEqual(verdict(made, made.answer(old, { startedAt: 1003, staleMs })), null);
  });

  void test('counts once its client was told, even if the gateway never concluded it', () => {
    const { made, old, write } = overwritten('done');
    write.conclusion = 'open';
    write.concludedAt = Infinity;
    assert.notEqual(verdict(made, made.answer(old, { startedAt: 1003, staleMs })), null);
  });

  void test('may be followed by others’ writes', () => {
    const { made } = overwritten('done');
    const later = made.put(1500, 'k', 7);
    assert.equal(verdict(made, made.answer(later, { startedAt: 1600, staleMs })), null);
  });

  void test('that was overwritten at once may still be seen, less than the staleness later', () => {
    const { made, current } = overwritten('done');
    made.put(1500, 'k', 7);
    assert.equal(verdict(made, made.answer(current, { startedAt: 1600, staleMs })), null);
  });
});

describe('other operations', () => {
  void test('a deleted key isn’t there any more', () => {
    const made = new HandMade();
    const old = made.put(10, 'k', 40);
    const write = made.write({ startedAt: 1000, operation: 'delete' });
    write.versions.push(made.oracle.delete(1001, 'b', 'k', write.id).version!);
    conclude(write, 1002, 'done');
    assert.match(
      verdict(made, made.answer(old, { startedAt: 1003, staleMs })) ?? '',
      /after delete 0/,
    );
    const missing = made.oracle.current('b', 'k');
    assert.equal(verdict(made, made.answer(missing, { startedAt: 1003, staleMs })), null);
  });

  void test('a multi-delete takes each of its keys, and no other', () => {
    const made = new HandMade();
    const states = ['k', 'l', 'm'].map((key) => made.put(10, key, 40));
    const write = made.write({ startedAt: 1000, operation: 'multi-delete', keys: ['k', 'l'] });
    write.versions.push(...made.oracle.deleteAll(1001, 'b', ['k', 'l'], write.id));
    conclude(write, 1002, 'done');
    const wrong = states.map((state) =>
      verdict(made, made.answer(state, { startedAt: 1003, staleMs })),
    );
    assert.deepEqual(
      wrong.map((what) => what === null),
      [false, false, true],
    );
  });

  void test('a copy is seen at its target', () => {
    const made = new HandMade();
    made.put(10, 's', 30);
    const old = made.put(10, 'k', 40);
    const source = { bucket: 'b', key: 's' };
    const write = made.write({ startedAt: 1000, operation: 'copy', source });
    write.versions.push(made.oracle.copy(1001, 'b', 'k', 'b', 's', write.id).version!);
    conclude(write, 1002, 'done');
    assert.match(
      verdict(made, made.answer(old, { startedAt: 1003, staleMs })) ?? '',
      /after copy 0/,
    );
  });

  void test('a key that was missing is there, even where nothing is ever confirmed again', () => {
    const made = new HandMade();
    const write = made.written(1000, 'k', 'done');
    const [never, current] = made.oracle.history('b', 'k');
    const asked = { startedAt: 1003, staleMs: Infinity };
    assert.notEqual(verdict(made, made.answer(never!, asked)), null);
    assert.equal(verdict(made, made.answer(current!, asked)), null);
    assert.equal(write.versions[0], current);
  });

  void test('an immutable object that is written over is nobody’s promise', () => {
    const { made, old } = overwritten('done');
    assert.equal(verdict(made, made.answer(old, { startedAt: 1003, staleMs: Infinity })), null);
  });
});

describe('a write whose outcome is unknown', () => {
  void test('keeps reads as fresh as S3 for a minute', () => {
    const { made, old, current } = overwritten('unknown');
    for (const startedAt of [1003, 30_000, 60_900]) {
      assert.notEqual(verdict(made, made.answer(old, { startedAt, staleMs })), null);
      assert.equal(verdict(made, made.answer(current, { startedAt, staleMs })), null);
    }
  });

  void test('may take effect later: until then what is there is right', () => {
    const made = new HandMade();
    const old = made.put(10, 'k', 40);
    const write = made.write({ startedAt: 1000 });
    conclude(write, 1002, 'unknown');
    const before = made.answer(old, { startedAt: 4000, staleMs });
    write.versions.push(made.put(5000, 'k', 41, {}, write.id));
    assert.equal(verdict(made, before), null);
    assert.notEqual(verdict(made, made.answer(old, { startedAt: 5001, staleMs })), null);
  });

  void test('is no longer expected after a minute, but what was seen by then stays', () => {
    const made = new HandMade();
    const old = made.put(10, 'k', 40);
    const write = made.write({ startedAt: 1000 });
    conclude(write, 1002, 'unknown');
    made.put(50_000, 'k', 41);
    const middle = made.oracle.current('b', 'k');
    made.put(70_000, 'k', 42);
    assert.notEqual(verdict(made, made.answer(old, { startedAt: 80_000, staleMs })), null);
    assert.equal(verdict(made, made.answer(middle, { startedAt: 80_000, staleMs })), null);
  });

  void test('demands nothing while it is under way, or when it failed', () => {
    const { made, old, write } = overwritten('unknown');
    conclude(write, Infinity, 'unknown');
    assert.equal(verdict(made, made.answer(old, { startedAt: 1003, staleMs })), null);
    const failed = overwritten('failed');
    const answer = failed.made.answer(failed.old, { startedAt: 1003, staleMs });
    assert.equal(verdict(failed.made, answer), null);
  });
});

void test('of several writes the latest demand counts', () => {
  const made = new HandMade();
  made.put(10, 'k', 40);
  const first = made.written(1000, 'k', 'done');
  const second = made.written(2000, 'k', 'done');
  made.written(3000, 'k', 'failed');
  const asked = { startedAt: 4000, staleMs };
  assert.match(verdict(made, made.answer(first.versions[0]!, asked)) ?? '', /after put 1 \(done\)/);
  assert.equal(verdict(made, made.answer(second.versions[0]!, asked)), null);
});

void test('errors that say nothing of the object are none of its business', () => {
  const { made } = overwritten('done');
  assert.equal(verdict(made, made.error('k', 503, 'SlowDown', { startedAt: 1003 })), null);
});
