import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { Arena, CloseReason } from './native.ts';
import type { ConnectionId } from './reactor.ts';
import {
  Client,
  Recorder,
  assertSameBytes,
  connectClient,
  echo,
  eventually,
  fileOf,
  listen,
  pattern,
  settle,
  startReactor,
} from './test-peers.ts';

test('a thousand connections are served at once', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, echo(reactor));
  const clients = Array.from({ length: 1000 }, () => new Client(server.port));
  context.after(() => {
    for (const client of clients) client.socket.destroy();
  });
  clients.forEach((client, i) => client.socket.write(`number ${i}`));
  await eventually('all echoes', () => clients.every((c, i) => c.length === `number ${i}`.length));
  assert.equal(reactor.stats().connections, 1000);
  clients.forEach((client, i) => {
    assert.equal(client.bytes().toString(), `number ${i}`);
  });
  for (const client of clients) client.socket.end();
  await eventually('all closed', () => server.accepted.every((owner) => owner.closed !== null));
  assert.equal(reactor.stats().connections, 0);
});

test('a full input arena delays receiving and loses nothing', async (context) => {
  const reactor = startReactor(context, { inputBytes: 65536, receiveBytes: 16384 });
  const server = listen(reactor);
  const sent = Array.from({ length: 20 }, (_, i) => pattern(200_000, i + 1));
  const clients = sent.map((bytes) => {
    const client = new Client(server.port);
    client.socket.end(bytes);
    return client;
  });
  context.after(() => {
    for (const client of clients) client.socket.destroy();
  });
  await eventually(
    'all bytes',
    () => server.accepted.length === 20 && server.accepted.every((owner) => owner.ended === 1),
  );
  const got = server.accepted.map((owner) => owner.received());
  for (const bytes of sent) assert.ok(got.some((candidate) => candidate.equals(bytes)));
});

test('a full event array delays accepting and receiving and loses nothing', async (context) => {
  const reactor = startReactor(context, { maxEvents: 4 });
  const server = listen(reactor, echo(reactor));
  const clients = Array.from({ length: 50 }, () => new Client(server.port));
  context.after(() => {
    for (const client of clients) client.socket.destroy();
  });
  clients.forEach((client, i) => client.socket.end(String(i)));
  await eventually('all echoes', () => clients.every((client) => client.ended));
  clients.forEach((client, i) => {
    assert.equal(client.bytes().toString(), String(i));
  });
  await eventually('all closed', () => server.accepted.every((owner) => owner.closed !== null));
});

test('a full output arena and command buffer execute early', async (context) => {
  const reactor = startReactor(context, { outputBytes: 4096, maxCommands: 8 });
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const bytes = pattern(300_001, 9);
  for (let at = 0; at < bytes.length; at += 1000) {
    reactor.writeBytes(owner.id, bytes.subarray(at, Math.min(at + 1000, bytes.length)), at + 1);
  }
  await eventually('all bytes', () => client.length === bytes.length);
  assertSameBytes(client.bytes(), bytes);
  await eventually('all tokens', () => owner.sent.length === 301);
  assert.ok(owner.sent.every(({ token, errno }, i) => token === i * 1000 + 1 && errno === 0));
  assert.throws(() => reactor.reserve(4097), RangeError);
});

test('early execution inside a batch keeps the input that is still being read', async (context) => {
  const reactor = startReactor(context, { outputBytes: 4096, maxCommands: 4 });
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      for (let at = start; at < start + length; at += 10) {
        reactor.write(id, Arena.input, at, Math.min(10, start + length - at));
      }
    };
  });
  const one = await connectClient(context, server);
  const two = await connectClient(context, server);
  const bytes = [pattern(20_000, 1), pattern(20_000, 2)];
  one.client.socket.write(bytes[0]!);
  two.client.socket.write(bytes[1]!);
  await eventually('both', () => one.client.length + two.client.length === 40_000);
  assertSameBytes(one.client.bytes(), bytes[0]!);
  assertSameBytes(two.client.bytes(), bytes[1]!);
});

test('bytes of the input are sent from there, within a batch and for a reader that comes late', async (context) => {
  const reactor = startReactor(context, { outputBytes: 4096 });
  let received = 0;
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      received += 1;
      reactor.writeBytes(id, reactor.input.subarray(start, start + length));
    };
  });
  const { client } = await connectClient(context, server);
  const bytes = pattern(4_000_000, 7);
  client.socket.pause();
  client.socket.write(bytes);
  const before = reactor.stats().commands;
  await eventually('the first', () => received > 0);
  await settle();
  client.socket.resume();
  await eventually('all bytes', () => client.length === bytes.length);
  assertSameBytes(client.bytes(), bytes);
  // Copies would have gone through the output arena, 4 KiB with each command.
  assert.ok(reactor.stats().commands - before <= received);
});

test('a deadline closes an idle connection, and progress postpones it', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.deadline(owner.id, 600);
  });
  const idle = await connectClient(context, server);
  const busy = await connectClient(context, server);
  const started = Date.now();
  const ticking = setInterval(() => busy.client.socket.write('.'), 100);
  await eventually('the idle one closed', () => idle.owner.closed !== null);
  const waited = Date.now() - started;
  assert.deepEqual(idle.owner.closed, { reason: CloseReason.idle, errno: 0 });
  assert.ok(waited >= 500 && waited < 2000, `closed after ${waited} ms`);
  assert.equal(busy.owner.closed, null);
  clearInterval(ticking);
  await eventually('the busy one closed too', () => busy.owner.closed !== null);
});

test('a stall of the loop is not taken for idle connections', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.deadline(owner.id, 700);
  });
  const { client, owner } = await connectClient(context, server);
  await settle(300);
  // From an immediate, so that the timers come before the sockets when the loop goes on.
  setImmediate(() => {
    client.socket.write('arrives during the stall');
    const until = performance.now() + 1500;
    while (performance.now() < until);
  });
  await eventually('the bytes', () => owner.receivedBytes === 24);
  assert.equal(owner.closed, null);
});

test('nothing leaks when many peers go away in the middle of their answers', async (context) => {
  const reactor = startReactor(context, { maxPipes: 4 });
  const bytes = pattern(4 << 20, 7);
  const { descriptor } = fileOf(context, bytes);
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id) => {
      reactor.sendFile(id, 0, 0, descriptor, 0, bytes.length, 1, 0);
      reactor.sendFile(id, 0, 0, descriptor, 0, bytes.length, 2, 1);
      reactor.relay(id, id, 1 << 20, 3);
    };
    owner.onEnd = (id) => {
      reactor.close(id);
    };
  });
  const openFiles = (): number => readdirSync('/proc/self/fd').length;
  await connectClient(context, server);
  const before = openFiles();
  for (let round = 0; round < 10; round++) {
    const clients = Array.from({ length: 100 }, () => new Client(server.port));
    for (const [i, { socket }] of clients.entries()) {
      socket.write('one');
      if (i % 3 === 0) socket.once('data', () => socket.resetAndDestroy());
      else if (i % 3 === 1) setTimeout(() => socket.destroy(), 10);
      else socket.once('connect', () => socket.resetAndDestroy());
    }
    await eventually('all gone', () => reactor.stats().connections === 1);
  }
  await eventually('all files closed', () => openFiles() <= before + 8);
  const stats = reactor.stats();
  assert.equal(stats.queuedBytes, 0);
  for (const owner of server.accepted.slice(1)) {
    if (owner.receivedBytes === 0) continue;
    assert.deepEqual(
      owner.tokens().toSorted((a, b) => a - b),
      [1, 2],
    );
    assert.equal(owner.relayed.length, 1);
  }
});

test('no deadline means that an idle connection stays', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.deadline(owner.id, 300);
    reactor.deadline(owner.id, 0);
  });
  const { owner } = await connectClient(context, server);
  await settle(900);
  assert.equal(owner.closed, null);
});

test('connections beyond the limit are reset and counted', async (context) => {
  const reactor = startReactor(context, { maxConnections: 3 });
  const server = listen(reactor);
  const clients = Array.from({ length: 5 }, () => new Client(server.port));
  context.after(() => {
    for (const client of clients) client.socket.destroy();
  });
  await eventually('two refused', () => reactor.stats().refused === 2);
  await eventually(
    'two errors',
    () => clients.filter((client) => client.error !== null).length === 2,
  );
  assert.equal(server.accepted.length, 3);
  assert.throws(() => reactor.connect('127.0.0.1', server.port, new Recorder(reactor)), /EMFILE/);
  reactor.reset(server.accepted[0]!.id);
  await eventually('one gone', () => server.accepted[0]!.closed !== null);
  await connectClient(context, server);
});

test('bad commands throw and name themselves', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { owner } = await connectClient(context, server);
  const { id } = owner;
  const { length } = reactor.output;
  const rejected = async (give: () => void, message: RegExp): Promise<void> => {
    const thrown = new Promise<Error>((resolve) => {
      process.once('uncaughtException', resolve);
    });
    give();
    assert.match((await thrown).message, message);
  };
  // Outside of a batch the microtask that submits is where it surfaces.
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    await rejected(() => {
      reactor.write(id, Arena.output, length - 1, 2);
    }, /write: bytes out of bounds/);
    await rejected(() => {
      reactor.write(id, Arena.fill, 0, 1);
    }, /write: bytes out of bounds/);
    await rejected(() => {
      reactor.write(id, 9, 0, 1);
    }, /write: unknown arena 9/);
    await rejected(() => {
      reactor.write(id, Arena.output, -1, 1);
    }, /write: bytes out of bounds/);
    await rejected(() => {
      reactor.sendFile(id, length, 1, 0, 0, 1);
    }, /sendFile: head out of bounds/);
    await rejected(() => {
      reactor.sendFile(id, 0, 0, -1, 0, 1);
    }, /sendFile: negative descriptor/);
    await rejected(() => {
      reactor.sendFile(id, 0, 0, 0, -5_000_000_000, 1);
    }, /sendFile: range out of bounds/);
    await rejected(() => {
      reactor.relay(id, 0, -1, 0);
    }, /relay: negative length/);
    await rejected(() => {
      reactor.retain(id, reactor.input.length, 1);
    }, /retain: bytes out of bounds/);
    await rejected(() => {
      reactor.retain(id, 0, reactor.input.length);
    }, /retain: more than the input arena can hold/);
    await rejected(() => {
      reactor.deadline(id, -1);
    }, /deadline: negative/);
    await rejected(() => {
      reactor.receiveLimit(id, 65537);
    }, /receiveLimit: more than/);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of before) process.on('uncaughtException', listener);
  }
  assert.equal(owner.closed, null);
  assert.throws(() => reactor.files.write(0, 0, 0, 4096, 0, 1), /fill memory/);
  assert.throws(() => reactor.setBuffers('x' as unknown as ConnectionId, 0, 0), RangeError);
});
