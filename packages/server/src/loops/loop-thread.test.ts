import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { LoopThread } from './loop-thread.ts';
import { packConfig } from './packed-config.ts';
import { newSharedMemory } from './shared-memory.ts';

const { config } = readConfig(
  `
[cluster]
secret = "a secret of the cluster"
nodes = [{ id = 0, address = "127.0.0.1:1" }]
[[clients]]
access_key_id = "one"
secret_access_key = "a secret of one"
grants = [{ bucket = "*", access = "write" }]
[gateway]
listen = "127.0.0.1:0"
`,
  'test',
);

/** What the real thread does, but for what a test is about: `on` hears the kinds of messages. */
const heard = (on: string): string => `
  import { parentPort } from 'node:worker_threads';
  const tell = (kind, more = {}) => parentPort.postMessage({ kind, ...more });
  const samples = (value) => new Map([['s3accel_gateway_loops', [{ labels: {}, value }]]]);
  parentPort.on('message', ({ kind }) => { ${on} });
  tell('started');
  tell('readiness', { notReady: null });`;

interface Thread {
  readonly thread: LoopThread;
  readonly deaths: string[];
}

function run(program: string): Thread {
  const deaths: string[] = [];
  const thread = new LoopThread({
    start: {
      ...{ loop: 1, near: null, logLevel: 'silent' },
      ...{ config: packConfig(config), memory: newSharedMemory() },
    },
    onDied: ({ message }) => deaths.push(message),
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  return { thread, deaths };
}

async function until(holds: () => boolean): Promise<void> {
  for (let nth = 0; nth < 500 && !holds(); nth++) await sleep(20);
  assert.ok(holds());
}

test('one that can’t start says what kept it', async () => {
  const { thread, deaths } = run(`throw new Error('the port is taken');`);
  await assert.rejects(thread.started, /the port is taken/);
  assert.deepEqual(deaths, []);
  await thread.stop(1000);
});

test('one that ends before it runs counts as not started', async () => {
  const { thread } = run('process.exit(7);');
  await assert.rejects(thread.started, /its thread ended with code 7/);
});

test('an error at any later time is told once, and nothing waits for the dead', async () => {
  const on = `if (kind === 'figures') tell('figures', { samples: samples(5) });
    else throw new Error('a bug in a loop');`;
  const { thread, deaths } = run(heard(on));
  await thread.started;
  await until(() => thread.notReady === null);
  assert.equal((await thread.figures()).get('s3accel_gateway_loops')?.[0]?.value, 5);
  await Promise.all([thread.reload(packConfig(config)), thread.figures()]);
  await until(() => deaths.length > 0);
  assert.deepEqual(deaths, ['a bug in a loop']);
  assert.equal(thread.notReady, 'a loop ended');
  // A counter never falls.
  assert.equal((await thread.figures()).get('s3accel_gateway_loops')?.[0]?.value, 5);
  await thread.reload(packConfig(config));
  await thread.stop(1000);
  assert.deepEqual(deaths, ['a bug in a loop']);
});

test('a thread that ends without a word is a death too', async () => {
  const { thread, deaths } = run(heard('process.exit(0);'));
  await thread.started;
  void thread.figures();
  await until(() => deaths.length > 0);
  assert.deepEqual(deaths, ['its thread ended with code 0']);
});

test('one that is busy counts with its last figures, and later ones are its own again', async () => {
  const on = `globalThis.asked = (globalThis.asked ?? 0) + 1;
    const until = Date.now() + (asked === 2 ? 1500 : 0);
    while (Date.now() < until);
    tell('figures', { samples: samples(asked) });`;
  const { thread } = run(heard(on));
  await thread.started;
  const figure = async (): Promise<number | undefined> =>
    (await thread.figures()).get('s3accel_gateway_loops')?.[0]?.value;
  assert.equal(await figure(), 1);
  assert.equal(await figure(), 1);
  // The late answer to the second question isn't taken for one to the third.
  assert.equal(await figure(), 3);
  await thread.stop(0);
});

test('one that doesn’t stop is ended', async () => {
  const { thread, deaths } = run(heard(''));
  await thread.started;
  await thread.stop(200);
  assert.deepEqual(deaths, []);
});
