import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { dropFromPageCache } from './files.ts';
import { Reactor } from './reactor.ts';
import {
  Client,
  Recorder,
  connectClient,
  eventually,
  fileOf,
  listen,
  pattern,
  settle,
  startReactor,
} from './test-peers.ts';

const reactorUrl = new URL('./reactor.ts', import.meta.url).href;

/** Runs a module in a process of its own. */
function runAlone(source: string): { status: number | null; output: string } {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status: run.status, output: run.stdout + run.stderr };
}

const echoOwner = `{
  onConnected() {}, onEnded(id) { reactor.close(id); }, onClosed() {}, onRelayed() {}, onSent() {},
  onReceived(id, start, length) { reactor.write(id, 1, start, length); },
}`;

test('a reactor works in a worker thread, and ends with it', async () => {
  for (const orderly of [true, false]) {
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(reactorUrl)}).then(({ Reactor }) => {
        const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
        const { port } = reactor.listen('127.0.0.1', 0, 16, () => (${echoOwner}));
        parentPort.on('message', () => { reactor.stop(); parentPort.close(); });
        parentPort.postMessage(port);
      });`,
      { eval: true },
    );
    const port = await new Promise<number>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    const client = new Client(port);
    client.socket.write('from another thread');
    await eventually('an echo', () => client.length === 19);
    const exited = new Promise<number>((resolve) => worker.once('exit', resolve));
    if (orderly) worker.postMessage('stop');
    else await worker.terminate();
    assert.equal(await exited, orderly ? 0 : 1);
    await eventually('the end', () => client.ended || client.error !== null);
    client.socket.destroy();
  }
});

test('several reactors of one process and one port share the connections', async (context) => {
  const reactors = [startReactor(context), startReactor(context)];
  const counts = [0, 0];
  let port = 0;
  for (const [i, reactor] of reactors.entries()) {
    ({ port } = reactor.listen('127.0.0.1', port, 128, (id) => {
      counts[i]!++;
      const owner = new Recorder(reactor);
      owner.id = id;
      return owner;
    }));
  }
  const clients = Array.from({ length: 60 }, () => new Client(port));
  context.after(() => {
    for (const client of clients) client.socket.destroy();
  });
  await eventually('all accepted', () => counts[0]! + counts[1]! === 60);
  assert.ok(counts[0]! > 0 && counts[1]! > 0, `shared as ${counts.join(' and ')}`);
});

/**
 * A process with a reactor in its main thread and one in another, at one port, and clients that go on and on sending to both.
 * `ending` runs while they do.
 */
const twoThreads = (ending: string): string => `
  import net from 'node:net';
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  import { setTimeout as later } from 'node:timers/promises';
  const { Reactor } = await import(${JSON.stringify(reactorUrl)});
  let accepted = 0;
  const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
  const { port } = reactor.listen('127.0.0.1', 0, 128, () => { accepted++; return (${echoOwner}); });
  const worker = new Worker(\`
    import { parentPort, workerData } from 'node:worker_threads';
    import(${JSON.stringify(reactorUrl)}).then(({ Reactor }) => {
      const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
      let accepted = 0;
      let isBroken = false;
      reactor.listen('127.0.0.1', workerData, 128, () => {
        if (isBroken) throw new Error('a bug in an owner');
        accepted++;
        return (${echoOwner});
      });
      parentPort.on('message', (what) => {
        if (what === 'break') isBroken = true;
        else parentPort.postMessage(accepted);
      });
      parentPort.postMessage('listening');
    });
  \`, { eval: true, workerData: port });
  await once(worker, 'message');
  let echoed = 0;
  const connect = () => {
    const client = net.connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    client.on('data', (bytes) => { echoed += bytes.length; client.write(bytes); });
    client.write(Buffer.alloc(20_000, 1));
  };
  for (let i = 0; i < 40; i++) connect();
  while (accepted < 1 || echoed < 4_000_000) await later(5);
  worker.postMessage('how many');
  const [elsewhere] = await once(worker, 'message');
  console.log('shared', accepted > 0 && elsewhere > 0 && accepted + elsewhere === 40);
  ${ending}
`;

test('two threads with a reactor each share a port, and the process may end in the middle of it', () => {
  const { status, output } = runAlone(twoThreads('process.exit(3);'));
  assert.equal(status, 3, output);
  assert.match(output, /shared true/);
});

test('an error of the main thread ends the process, whatever reactors of other threads are at', () => {
  const { status, output } = runAlone(twoThreads(`throw new Error('a bug in main');`));
  assert.equal(status, 1, output);
  assert.match(output, /a bug in main/);
});

test('an error of one thread’s owner ends that thread alone, and says so', () => {
  const { status, output } = runAlone(
    twoThreads(`
      const failed = once(worker, 'error');
      worker.postMessage('break');
      const more = setInterval(connect, 5);
      const [error] = await failed;
      clearInterval(more);
      const before = echoed;
      while (echoed < before + 1_000_000) await later(5);
      console.log('failed:', error.message);
      process.exit(0);`),
  );
  assert.equal(status, 0, output);
  assert.match(output, /failed: a bug in an owner/);
});

test('stopping with everything in flight is clean, and afterwards every call says so', async (context) => {
  const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
  const server = listen(reactor);
  const { descriptor } = fileOf(context, pattern(8 << 20, 1));
  const from = await connectClient(context, server);
  const to = await connectClient(context, server, true);
  dropFromPageCache(descriptor, 0, 0);
  reactor.files.registerFillMemory(new Uint8Array(8 << 20));
  reactor.sendFile(to.owner.id, 0, 0, descriptor, 0, 8 << 20, 1, 0);
  reactor.sendFile(to.owner.id, 0, 0, descriptor, 4 << 20, 4096, 2, 3);
  reactor.relay(from.owner.id, to.owner.id, 10 << 20, 3);
  from.client.socket.write(pattern(4 << 20, 2));
  for (let i = 0; i < 8; i++) reactor.files.read(descriptor, i << 20, i << 20, 1 << 20, i + 1);
  reactor.connect('127.0.0.1', server.port, new Recorder(reactor));
  await settle(5);
  reactor.stop();
  reactor.stop();
  assert.throws(() => reactor.listen('127.0.0.1', 0, 1, () => new Recorder(reactor)), /closed/);
  assert.throws(() => reactor.stats(), /closed/);
  to.client.socket.resume();
  for (const { client } of [from, to]) {
    await eventually('the peers see it', () => client.ended || client.error !== null);
  }
});

test('a reactor can be stopped from within a batch', async (context) => {
  const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id) => {
      reactor.writeBytes(id, Buffer.from('never sent'));
      reactor.stop();
    };
  });
  const { client } = await connectClient(context, server);
  client.socket.write('stop');
  await eventually('the end', () => client.ended || client.error !== null);
  assert.equal(client.length, 0);
});

test('an exception in an owner ends the process', () => {
  const { status, output } = runAlone(`
    import net from 'node:net';
    const { Reactor } = await import(${JSON.stringify(reactorUrl)});
    const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
    const { port } = reactor.listen('127.0.0.1', 0, 16, () => { throw new Error('a bug in an owner'); });
    net.connect(port, '127.0.0.1');
  `);
  assert.equal(status, 1);
  assert.match(output, /a bug in an owner/);
});

test('a bad command inside a batch ends the process and names itself', () => {
  const { status, output } = runAlone(`
    import net from 'node:net';
    const { Reactor } = await import(${JSON.stringify(reactorUrl)});
    const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
    const { port } = reactor.listen('127.0.0.1', 0, 16, (id) => {
      reactor.write(id, 0, -1, 10);
      return ${echoOwner};
    });
    net.connect(port, '127.0.0.1');
  `);
  assert.equal(status, 1);
  assert.match(output, /write: bytes out of bounds/);
});

test('without free descriptors accepting pauses, without spinning, and goes on later', () => {
  const { status, output } = runAlone(`
    import { closeSync, openSync } from 'node:fs';
    import net from 'node:net';
    import { setTimeout as later } from 'node:timers/promises';
    const { Reactor } = await import(${JSON.stringify(reactorUrl)});
    const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
    let accepted = 0;
    const { port } = reactor.listen('127.0.0.1', 0, 16, () => { accepted++; return ${echoOwner}; });
    await later(50);
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    // One descriptor for each client; none is left for the server's side.
    closeSync(taken.pop());
    const clients = [net.connect(port, '127.0.0.1')];
    await later(50);
    const before = { rounds: reactor.stats().rounds, accepted };
    closeSync(taken.pop());
    clients.push(net.connect(port, '127.0.0.1'));
    await later(500);
    const rounds = reactor.stats().rounds - before.rounds;
    for (const descriptor of taken) closeSync(descriptor);
    await later(300);
    console.log(JSON.stringify({ before: before.accepted, rounds, after: accepted }));
    for (const client of clients) client.destroy();
    reactor.stop();
  `);
  assert.equal(status, 0, output);
  const figures = JSON.parse(output.trim().split('\n').at(-1)!) as Record<string, number>;
  assert.equal(figures['before'], 0);
  assert.equal(figures['after'], 2);
  assert.ok(figures['rounds']! < 50, `${figures['rounds']} rounds in half a second`);
});

test('a reactor that listens keeps the process alive, and one that was stopped lets it end', () => {
  const { status, output } = runAlone(`
    const { Reactor } = await import(${JSON.stringify(reactorUrl)});
    const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
    setTimeout(() => { console.log('still here'); reactor.stop(); }, 50).unref();
  `);
  assert.equal(status, 0);
  assert.match(output, /still here/);
});

test('onBatchEnd runs after the events of a batch and before commands from outside leave', async (context) => {
  const reactor = startReactor(context);
  const order: string[] = [];
  const queued: { id: Recorder['id']; text: string }[] = [];
  reactor.onBatchEnd = () => {
    order.push('end');
    for (const { id, text } of queued.splice(0)) reactor.writeBytes(id, Buffer.from(text));
  };
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id) => {
      order.push('bytes');
      queued.push({ id, text: 'from a batch' });
    };
  });
  const { client, owner } = await connectClient(context, server);
  order.length = 0;
  client.socket.write('x');
  await eventually('an answer', () => client.length === 12);
  assert.deepEqual(order.slice(0, 2), ['bytes', 'end']);
  queued.push({ id: owner.id, text: ', then later' });
  reactor.schedule();
  reactor.schedule();
  await eventually('the rest', () => client.length === 24);
  assert.equal(client.bytes().toString(), 'from a batch, then later');
});

test('commands from promises that settle inside a batch keep their order', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id) => {
      void Promise.resolve().then(() => {
        reactor.writeBytes(id, Buffer.from('second'));
      });
      reactor.writeBytes(id, Buffer.from('first '));
    };
  });
  const { client } = await connectClient(context, server);
  client.socket.write('x');
  await eventually('both', () => client.length === 12);
  assert.equal(client.bytes().toString(), 'first second');
});
