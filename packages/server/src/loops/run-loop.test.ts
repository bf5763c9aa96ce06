import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { freePort } from '../testing/programs.ts';
import { until } from '../testing/rig.ts';
import type { FromLoop } from './loop-messages.ts';
import { packConfig } from './packed-config.ts';
import { runLoop } from './run-loop.ts';
import { newSharedMemory } from './shared-memory.ts';

/** Whether anybody listens at a port of the loopback. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

/** A loop that reaches no node, beside one or not, and what it told. */
async function startLoop(
  isBesideNode: boolean,
): Promise<{ port: number; told: FromLoop[]; stop: () => Promise<void> }> {
  const [port, nodePort] = [await freePort(), await freePort()];
  const { config } = readConfig(
    `
[cluster]
secret = "a secret of the cluster"
nodes = [{ id = 0, address = "127.0.0.1:${nodePort}" }]
[[clients]]
access_key_id = "one"
secret_access_key = "a secret of one"
grants = [{ bucket = "*", access = "write" }]
[gateway]
listen = "127.0.0.1:${port}"
`,
    'test',
  );
  const told: FromLoop[] = [];
  const near = isBesideNode ? { nodeId: 0, host: '127.0.0.1', port: nodePort } : null;
  const start = { loop: 1, config: packConfig(config), near, memory: newSharedMemory() };
  const loop = runLoop({ ...start, logLevel: 'silent' }, (message) => told.push(message));
  await until('it tells why it isn’t ready', () => told.some(({ kind }) => kind === 'readiness'));
  return { port, told, stop: () => loop.stop() };
}

test('beside a node a loop without the ring runs, and leaves clients to the first', async () => {
  const { port, told, stop } = await startLoop(true);
  try {
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['started', 'readiness'],
    );
    await sleep(500);
    assert.ok(!(await isListening(port)));
  } finally {
    await stop();
  }
});

test('in a process without a node it listens at once: the first has no ring either', async () => {
  const { port, told, stop } = await startLoop(false);
  try {
    assert.equal(told[0]?.kind, 'started');
    assert.ok(await isListening(port));
  } finally {
    await stop();
  }
});
