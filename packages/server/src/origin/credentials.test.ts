// Credentials that end: renewed before they do, kept while they last, never waited for.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { RenewedCredentials, type IssuedCredentials } from './credentials.ts';

const minute = 60_000;
const start = 1_800_000_000_000;

/** An issuer whose answers a test gives one by one. */
class Issuer {
  readonly asked: number[] = [];
  readonly failures: (readonly [message: string, areValid: boolean])[] = [];
  lifeMs = 60 * minute;
  fails = false;
  readonly credentials: RenewedCredentials;

  constructor(lifeMs = 60 * minute) {
    this.lifeMs = lifeMs;
    this.credentials = new RenewedCredentials(() => this.#issue(), {
      onFailed: ({ message }, areValid) => this.failures.push([message, areValid]),
    });
  }

  async #issue(): Promise<IssuedCredentials> {
    this.asked.push((Date.now() - start) / minute);
    await Promise.resolve();
    if (this.fails) throw new Error('nobody there');
    return {
      accessKeyId: `id-${this.asked.length}`,
      secretAccessKey: 'secret',
      expiresAtMs: Date.now() + this.lifeMs,
    };
  }

  get id(): string | null {
    return this.credentials.current()?.accessKeyId ?? null;
  }
}

/** Lets so much time pass, in steps, so that each timer finds the time it was set for. */
async function pass(ms: number, stepMs = 500): Promise<void> {
  await answered();
  for (let passed = 0; passed < ms; passed += stepMs) {
    mock.timers.tick(Math.min(stepMs, ms - passed));
    await answered();
  }
}

/** Lets the issuer's answer arrive. */
async function answered(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: start }));
afterEach(() => mock.timers.reset());

test('there are none before the issuer has answered, and then there are', async () => {
  const issuer = new Issuer();
  assert.equal(issuer.id, null);
  await issuer.credentials.firstTried;
  assert.equal(issuer.id, 'id-1');
});

test('they are renewed five minutes before they end', async () => {
  const issuer = new Issuer();
  await issuer.credentials.firstTried;
  await pass(55 * minute - 1000);
  assert.equal(issuer.id, 'id-1');
  await pass(2000);
  assert.equal(issuer.id, 'id-2');
  assert.deepEqual(issuer.asked, [0, 55]);
});

test('short ones are renewed halfway there', async () => {
  const issuer = new Issuer(4 * minute);
  await pass(8 * minute);
  assert.deepEqual(issuer.asked, [0, 2, 4, 6, 8]);
});

test('an issuer of credentials that have ended is asked once a second at most', async () => {
  const issuer = new Issuer(-minute);
  await pass(10_000);
  assert.equal(issuer.id, null);
  assert.ok(issuer.asked.length <= 11, `asked ${issuer.asked.length} times`);
});

test('those without an end are asked for once', async () => {
  const issuer = new Issuer(Infinity);
  await pass(100 * minute, minute);
  assert.equal(issuer.id, 'id-1');
  assert.equal(issuer.asked.length, 1);
});

test('old ones stay in use until they end while the issuer fails, and new ones come once it answers', async () => {
  const issuer = new Issuer();
  await issuer.credentials.firstTried;
  issuer.fails = true;
  await pass(60 * minute - 1000);
  assert.equal(issuer.id, 'id-1');
  assert.ok(issuer.failures.length >= 9, 'several tries before the end');
  assert.deepEqual(issuer.failures.at(-1), ['nobody there', true]);
  await pass(60_000);
  assert.equal(issuer.id, null);
  assert.deepEqual(issuer.failures.at(-1), ['nobody there', false]);
  issuer.fails = false;
  await pass(31_000);
  assert.notEqual(issuer.id, null);
});

test('a failing issuer is asked less and less often, down to twice a minute', async () => {
  const issuer = new Issuer();
  issuer.fails = true;
  await pass(10 * minute);
  const seconds = issuer.asked.slice(0, 7).map((at) => Math.round(at * 60));
  assert.deepEqual(seconds, [0, 1, 3, 7, 15, 31, 61]);
  assert.ok(issuer.asked.length <= 26, `asked ${issuer.asked.length} times`);
});

test('asking while it is asked already asks once', async () => {
  const issuer = new Issuer();
  await Promise.all([issuer.credentials.renew(), issuer.credentials.renew()]);
  await issuer.credentials.firstTried;
  assert.equal(issuer.asked.length, 1);
});

test('once stopped it asks no more', async () => {
  const issuer = new Issuer(4 * minute);
  await issuer.credentials.firstTried;
  issuer.credentials.stop();
  await issuer.credentials.renew();
  await pass(60 * minute, minute);
  assert.equal(issuer.asked.length, 1);
});
