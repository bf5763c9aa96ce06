// Clients of a metadata service as a gateway keeps them, with a clock and a service that each test plays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimedScope } from '../auth/signing-keys.ts';
import type { ClientFacts } from './answers.ts';
import { ClientDirectory, directoryTickMs, type DirectoryLimits } from './client-directory.ts';

const facts: ClientFacts = {
  signingKey: new Uint8Array(32),
  tokenDigest: null,
  expiresAtMs: Infinity,
  grants: [],
};
const noon = Date.UTC(2026, 10, 30, 12);
const claimOf = (accessKeyId: string, day = '20261130'): ClaimedScope => ({
  accessKeyId,
  day,
  region: 'us-east-1',
});

/** Answers are held until `answer` is called; the clock stands until `pass` is. */
class Played {
  now = 0;
  readonly asked: string[] = [];
  readonly askedFor = new Set<string>();
  readonly forgotten: string[] = [];
  failures = 0;
  known = new Set(['reader']);
  isDown = false;
  readonly directory: ClientDirectory;
  #held: (() => void)[] = [];

  constructor(limits: Partial<DirectoryLimits> = {}) {
    this.directory = new ClientDirectory({
      ask: async ({ accessKeyId, day }) => {
        this.asked.push(accessKeyId);
        this.askedFor.add(day);
        await new Promise<void>((resolve) => this.#held.push(resolve));
        if (this.isDown) throw new Error('down');
        return this.known.has(accessKeyId) ? facts : null;
      },
      forget: ({ accessKeyId }) => this.forgotten.push(accessKeyId),
      onFailed: () => (this.failures += 1),
      refreshMs: 60_000,
      keepMs: 600_000,
      now: () => this.now,
      wallClock: () => noon + this.now,
      limits,
    });
  }

  async answer(): Promise<void> {
    for (const release of this.#held.splice(0)) release();
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }

  pass(ms: number): void {
    const end = this.now + ms;
    while (this.now < end) {
      this.now = Math.min(end, this.now + directoryTickMs);
      this.directory.tick();
    }
  }

  find(id = 'reader'): boolean {
    return this.directory.find(id, '20261130', 'us-east-1') !== null;
  }

  /** How a lookup comes out, when the service answers if it is asked. */
  async lookup(claimed = claimOf('reader')): Promise<string> {
    let later = '';
    const outcome = this.directory.lookup(claimed, (said) => (later = said));
    if (outcome !== null) return outcome;
    await this.answer();
    return later;
  }
}

test('a client is asked about once, however many wait for it', async () => {
  const played = new Played();
  const outcomes: string[] = [];
  for (let waiter = 0; waiter < 100; waiter += 1) {
    assert.equal(
      played.directory.lookup(claimOf('reader'), (outcome) => outcomes.push(outcome)),
      null,
    );
  }
  assert.equal(played.find(), false);
  await played.answer();
  assert.deepEqual(outcomes, Array<string>(100).fill('known'));
  assert.deepEqual(played.asked, ['reader']);
  assert.equal(played.find(), true);
  assert.equal(await played.lookup(), 'known');
  assert.equal(played.asked.length, 1);
});

test('one in use is asked about again halfway, in the background', async () => {
  const played = new Played();
  await played.lookup();
  for (let second = 0; second < 600; second += 1) {
    played.pass(1000);
    assert.equal(played.find(), true, `after ${second} s`);
    await played.answer();
  }
  assert.ok(played.asked.length >= 19 && played.asked.length <= 22, `${played.asked.length} times`);
});

const minutes = 60_000;
const isKnown = (played: Played, day: string): boolean =>
  played.directory.find('reader', day, 'us-east-1') !== null;

test('who is active before midnight is known after it, also when the service is down by then', async () => {
  const played = new Played();
  played.pass(11 * 60 * minutes + 40 * minutes);
  await played.lookup();
  for (let second = 0; second < 20 * 60 - 1; second += 1) {
    played.pass(1000);
    assert.equal(played.find(), true, `${second} s after 23:40`);
    await played.answer();
  }
  assert.ok(played.askedFor.has('20261201'));
  played.isDown = true;
  played.pass(2000);
  assert.equal(isKnown(played, '20261201'), true);
});

test('at any other time, and for who is not active, nobody asks about the next day', async () => {
  const played = new Played();
  await played.lookup();
  for (let second = 0; second < 300; second += 1) {
    played.pass(1000);
    played.find();
    await played.answer();
  }
  assert.deepEqual([...played.askedFor], ['20261130']);
  const idle = new Played();
  idle.pass(11 * 60 * minutes + 55 * minutes);
  await idle.lookup();
  idle.pass(4 * minutes);
  assert.deepEqual([...idle.askedFor], ['20261130']);
  // A presigned URL of yesterday's is no reason to ask about its morrow.
  const old = new Played();
  old.pass(11 * 60 * minutes + 55 * minutes);
  await old.lookup(claimOf('reader', '20261129'));
  old.pass(40_000);
  assert.equal(isKnown(old, '20261129'), true);
  await old.answer();
  assert.deepEqual([...old.askedFor], ['20261129']);
});

test('one that nobody uses is not asked about, and stale after refreshMs', async () => {
  const played = new Played();
  await played.lookup();
  played.pass(60_000);
  assert.equal(played.find(), false);
  assert.equal(played.asked.length, 1);
});

test('what find said is recalled in time, so that it is in use for refreshMs at most', async () => {
  const played = new Played();
  await played.lookup();
  played.isDown = true;
  let lentUntil = 0;
  let isLent = false;
  for (let step = 0; step < 70_000 / 50; step += 1) {
    played.now += 50;
    if (step % 5 === 0) played.directory.tick();
    if (played.forgotten.splice(0).length > 0) isLent = false;
    isLent ||= played.find();
    if (isLent) lentUntil = played.now;
  }
  assert.ok(lentUntil <= 60_000, `in use until ${lentUntil}`);
  assert.ok(lentUntil > 59_000);
});

test('a key that is taken back is forgotten at once when the service says so', async () => {
  const played = new Played();
  await played.lookup();
  played.known.clear();
  played.pass(31_000);
  assert.equal(played.find(), true);
  played.forgotten.length = 0;
  await played.answer();
  assert.deepEqual(played.forgotten, ['reader']);
  assert.equal(played.find(), false);
  assert.equal(await played.lookup(), 'unknown');
});

test('"no such key" is remembered for five seconds', async () => {
  const played = new Played();
  assert.equal(await played.lookup(claimOf('nobody')), 'unknown');
  assert.equal(await played.lookup(claimOf('nobody', '20261129')), 'unknown');
  assert.equal(played.asked.length, 1);
  played.known.add('nobody');
  played.pass(5000);
  assert.equal(await played.lookup(claimOf('nobody')), 'known');
});

test('while the service is down the last good answer counts, without waiting, until it is keepMs old', async () => {
  const played = new Played();
  await played.lookup();
  played.isDown = true;
  played.pass(60_000);
  assert.equal(await played.lookup(), 'known', 'the first waits for the service to fail');
  const before = played.asked.length;
  let waited = 0;
  while (played.now < 599_000) {
    played.pass(500);
    if (played.find()) continue;
    const outcome = played.directory.lookup(claimOf('reader'), () => undefined);
    if (outcome === null) waited += 1;
    else assert.equal(outcome, 'known', `at ${played.now}`);
    await played.answer();
  }
  assert.equal(waited, 0);
  const tries = played.asked.length - before;
  assert.ok(tries > 100 && tries <= 540, `${tries} tries in 539 s`);
  played.pass(3000);
  assert.equal(played.find(), false);
  assert.equal(await played.lookup(), 'unavailable');
});

test('once the service is back it is believed again', async () => {
  const played = new Played();
  await played.lookup();
  played.isDown = true;
  played.pass(100_000);
  await played.lookup();
  played.isDown = false;
  played.known.clear();
  played.pass(1500);
  await played.lookup();
  await played.answer();
  assert.equal(await played.lookup(), 'unknown');
});

test('a client that is not known yet fails while the service is down, which is asked once a second', async () => {
  const played = new Played();
  played.isDown = true;
  for (let request = 0; request < 100; request += 1) {
    assert.equal(await played.lookup(claimOf(`new-${request}`)), 'unavailable');
    played.pass(100);
  }
  assert.ok(played.asked.length <= 11, `asked ${played.asked.length} times`);
});

test('invented key ids are asked about within a budget, and known clients are not held up by it', async () => {
  const played = new Played();
  await played.lookup();
  const outcomes = new Map<string, number>();
  for (let request = 0; request < 5000; request += 1) {
    const outcome = await played.lookup(claimOf(`invented-${request}`));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    played.now += 1;
  }
  const asked = played.asked.length - 1;
  assert.ok(asked <= 200 + 500 + 1, `asked ${asked} times in five seconds`);
  assert.equal(outcomes.get('busy'), 5000 - asked);
  assert.equal(played.directory.counters.busy, 5000 - asked);
  assert.equal(await played.lookup(claimOf('reader', '20261129')), 'known', 'another day of hers');
  played.now += 60_000;
  assert.equal(await played.lookup(), 'known', 'and once stale');
});

test('key ids and days that make no sense are never asked about', async () => {
  const played = new Played();
  assert.equal(await played.lookup(claimOf('a/b')), 'unknown');
  assert.equal(await played.lookup(claimOf('x'.repeat(129))), 'unknown');
  for (const day of ['20261120', '20261202', '20260231', '99999999']) {
    assert.equal(await played.lookup(claimOf('reader', day)), 'skewed', day);
  }
  for (const day of ['20261122', '20261130', '20261201']) {
    played.now = day === '20261201' ? 12 * 3_600_000 - 1000 : 0;
    assert.notEqual(await played.lookup(claimOf('reader', day)), 'skewed', day);
  }
  assert.ok(!played.asked.includes('a/b'));
});

test('all of it is bounded: clients, unknown keys, lookups under way', async () => {
  const played = new Played({
    maxClients: 10,
    maxUnknown: 10,
    maxLookups: 5,
    newKeysPerSecond: 1e6,
    newKeysBurst: 1e6,
  });
  for (let client = 0; client < 50; client += 1) {
    played.known.add(`client-${client}`);
    assert.equal(await played.lookup(claimOf(`client-${client}`)), 'known');
    assert.equal(await played.lookup(claimOf(`nobody-${client}`)), 'unknown');
  }
  assert.equal(played.directory.size, 10);
  assert.equal(played.find('client-49'), true);
  assert.equal(played.find('client-39'), false);
  const asked = played.asked.length;
  assert.equal(await played.lookup(claimOf('nobody-45')), 'unknown');
  assert.equal(played.asked.length, asked, 'the latest are remembered');
  const outcomes = Array.from({ length: 8 }, (_, nth) =>
    played.directory.lookup(claimOf(`another-${nth}`), () => undefined),
  );
  assert.deepEqual(outcomes, [...Array<null>(5).fill(null), 'busy', 'busy', 'busy']);
  await played.answer();
});
