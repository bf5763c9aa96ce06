import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { constants } from 'node:os';
import { test } from 'node:test';

import { Arena, CloseReason } from './native.ts';
import { ReactorError } from './reactor.ts';
import type { ConnectionId, Reactor } from './reactor.ts';
import {
  Client,
  Recorder,
  assertSameBytes,
  connectClient,
  eventually,
  fileOf,
  listen,
  pattern,
  settle,
  startReactor,
  writeText,
} from './test-peers.ts';

function echo(reactor: Reactor): (owner: Recorder) => void {
  return (owner) => {
    owner.onBytes = (id, start, length) => {
      reactor.write(id, Arena.input, start, length);
    };
    owner.onEnd = (id) => {
      reactor.close(id);
    };
  };
}

test('bytes that arrive are delivered, and bytes written from the input arena come back', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, echo(reactor));
  const { client, owner } = await connectClient(context, server);
  client.socket.write('hello');
  await eventually('an echo', () => client.length === 5);
  assert.equal(client.bytes().toString(), 'hello');
  client.socket.end();
  await eventually('closed', () => owner.closed !== null);
  assert.deepEqual(owner.closed, { reason: CloseReason.asked, errno: 0 });
  assert.deepEqual(owner.order, ['received', 'ended', 'closed']);
  await eventually('the end', () => client.ended);
});

test('two reactors talk to each other, with numeric addresses of both families', async (context) => {
  const one = startReactor(context);
  const two = startReactor(context);
  for (const host of ['127.0.0.1', '::1']) {
    const accepted: Recorder[] = [];
    const { port } = one.listen(host, 0, 16, (id) => {
      const owner = new Recorder(one);
      owner.id = id;
      echo(one)(owner);
      accepted.push(owner);
      return owner;
    });
    const owner = new Recorder(two);
    const id = two.connect(host, port, owner);
    writeText(two, id, 'written before it was connected');
    await eventually('an echo', () => owner.receivedBytes === 31);
    assert.equal(owner.connected, 0);
    assert.match(two.peerAddress(id), host === '::1' ? /^\[::1\]:\d+$/ : /^127\.0\.0\.1:\d+$/);
    assert.equal(two.setBuffers(id, 65536, 65536), 0);
    two.close(id);
    await eventually('both closed', () => owner.closed !== null && accepted[0]!.closed !== null);
    assert.equal(two.peerAddress(id), '');
  }
});

test('a connection that is refused reports the errno and then closes', async (context) => {
  const reactor = startReactor(context);
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as net.AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const owner = new Recorder(reactor);
  const id = reactor.connect('127.0.0.1', port, owner);
  writeText(reactor, id, 'lost', 7);
  await eventually('closed', () => owner.closed !== null);
  assert.equal(owner.connected, constants.errno.ECONNREFUSED);
  assert.deepEqual(owner.sent, [{ token: 7, errno: constants.errno.ECONNREFUSED }]);
  assert.deepEqual(owner.order, ['connected', 'sent', 'closed']);
});

test('listening on a taken port throws an error with its code', async (context) => {
  const reactor = startReactor(context);
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  context.after(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const refused = (error: unknown): boolean =>
    error instanceof ReactorError && error.code === 'EADDRINUSE';
  assert.throws(() => reactor.listen('127.0.0.1', port, 16, () => new Recorder(reactor)), refused);
  const unknown = (error: unknown): boolean =>
    error instanceof ReactorError && error.code === 'EINVAL';
  assert.throws(() => reactor.connect('localhost', 80, new Recorder(reactor)), unknown);
});

test('after stopListening new connections are refused and old ones live on', async (context) => {
  const reactor = startReactor(context);
  const accepted: Recorder[] = [];
  const { listener, port } = reactor.listen('127.0.0.1', 0, 16, (id) => {
    const owner = new Recorder(reactor);
    owner.id = id;
    echo(reactor)(owner);
    accepted.push(owner);
    return owner;
  });
  const { client } = await connectClient(context, { port, accepted });
  reactor.stopListening(listener);
  const late = new Client(port);
  await eventually('a refusal', () => late.error !== null);
  assert.equal(late.error?.code, 'ECONNREFUSED');
  client.socket.write('still here');
  await eventually('an echo', () => client.length === 10);
});

test("a peer's half-close leaves the connection writable", async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  client.socket.end('last words');
  await eventually('ended', () => owner.ended === 1);
  assert.equal(owner.received().toString(), 'last words');
  await settle();
  assert.equal(owner.closed, null);
  writeText(reactor, owner.id, 'answer');
  await eventually('an answer', () => client.length === 6);
  reactor.close(owner.id);
  await eventually('closed', () => owner.closed !== null);
  assert.equal(owner.ended, 1);
});

test('our half-close leaves the connection readable', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  writeText(reactor, owner.id, 'done');
  reactor.shutdown(owner.id);
  await eventually('the end', () => client.ended);
  assert.equal(client.bytes().toString(), 'done');
  client.socket.write('and now you');
  await eventually('bytes', () => owner.receivedBytes === 11);
  reactor.mark(owner.id, 3);
  await eventually('a refused mark', () => owner.sent.length === 1);
  assert.deepEqual(owner.sent, [{ token: 3, errno: constants.errno.EPIPE }]);
});

test('a reset by the peer closes with the error, after the bytes that came before it', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  client.socket.write('x');
  await eventually('a byte', () => owner.receivedBytes === 1);
  client.socket.resetAndDestroy();
  await eventually('closed', () => owner.closed !== null);
  assert.deepEqual(owner.closed, {
    reason: CloseReason.error,
    errno: constants.errno.ECONNRESET,
  });
});

test('a reset is noticed while receiving is paused', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.pause(owner.id);
  });
  const { client, owner } = await connectClient(context, server);
  await settle();
  client.socket.resetAndDestroy();
  await eventually('closed', () => owner.closed !== null);
  assert.equal(owner.closed?.errno, constants.errno.ECONNRESET);
});

test('our reset reaches the peer as one', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  reactor.reset(owner.id);
  await eventually('an error', () => client.error !== null);
  assert.equal(client.error?.code, 'ECONNRESET');
  assert.deepEqual(owner.closed, { reason: CloseReason.asked, errno: 0 });
});

test('input split byte by byte is retained until it is whole', async (context) => {
  const reactor = startReactor(context);
  const whole: string[] = [];
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      const text = reactor.inputBuffer.toString('latin1', start, start + length);
      if (text.endsWith('\n')) whole.push(text);
      else reactor.retain(id, start, length);
    };
  });
  const { client } = await connectClient(context, server);
  const message = 'one line that comes in pieces\n';
  for (const letter of message) {
    client.socket.write(letter);
    await settle(1);
  }
  await eventually('a line', () => whole.length === 1);
  assert.deepEqual(whole, [message]);
});

test('retaining twice keeps both pieces in order', async (context) => {
  const reactor = startReactor(context);
  const seen: string[] = [];
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      seen.push(reactor.inputBuffer.toString('latin1', start, start + length));
      if (seen.length > 1) return;
      reactor.retain(id, start, 2);
      reactor.retain(id, start + 4, 2);
    };
  });
  const { client } = await connectClient(context, server);
  client.socket.write('abcdef');
  await eventually('a first piece', () => seen.length === 1);
  client.socket.write('gh');
  await eventually('a second piece', () => seen.length === 2);
  assert.deepEqual(seen, ['abcdef', 'abefgh']);
});

test('pipelined requests of one packet are all answered in order', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      for (let at = start; at < start + length; at += 4) {
        const offset = reactor.reserve(8);
        reactor.output.set(reactor.input.subarray(at, at + 4), offset);
        reactor.output.set(reactor.input.subarray(at, at + 4), offset + 4);
        reactor.commit(8);
        reactor.write(id, Arena.output, offset, 8);
      }
    };
  });
  const { client } = await connectClient(context, server);
  const before = reactor.stats().sends;
  client.socket.write(Array.from({ length: 100 }, (_, i) => String(i).padStart(4, '0')).join(''));
  await eventually('all answers', () => client.length === 800);
  const expected = Array.from({ length: 100 }, (_, i) => String(i).padStart(4, '0').repeat(2));
  assert.equal(client.bytes().toString(), expected.join(''));
  assert.equal(reactor.stats().sends - before, 1, 'one call sends them all');
});

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

test('a paused connection receives nothing until it is resumed', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.pause(owner.id);
  });
  const { client, owner } = await connectClient(context, server);
  client.socket.end('waiting');
  await settle(100);
  assert.deepEqual(owner.order, []);
  reactor.resume(owner.id);
  await eventually('ended', () => owner.ended === 1);
  assert.equal(owner.received().toString(), 'waiting');
});

test('pausing holds back a peer that sends more than the kernel keeps', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.pause(owner.id);
  });
  const { client, owner } = await connectClient(context, server);
  const bytes = pattern(32 << 20, 3);
  client.socket.end(bytes);
  await settle(200);
  assert.equal(owner.receivedBytes, 0);
  assert.ok(client.socket.writableLength > 0, 'the peer is held back');
  reactor.resume(owner.id);
  await eventually('all bytes', () => owner.ended === 1);
  assertSameBytes(owner.received(), bytes);
});

test('a receive limit leaves what follows a head in the kernel, for a relay', async (context) => {
  const reactor = startReactor(context);
  const body = pattern(700_000, 6);
  const server = listen(reactor, (owner) => {
    reactor.receiveLimit(owner.id, 16);
    owner.onBytes = (id, _start, length) => {
      assert.equal(length, 16);
      reactor.relay(id, id, body.length, 1);
    };
  });
  const { client, owner } = await connectClient(context, server);
  for (let i = 1; i <= 2; i++) {
    client.socket.write(Buffer.concat([Buffer.alloc(16), body]));
    await eventually('the body', () => client.length === i * body.length);
  }
  assertSameBytes(client.bytes(), Buffer.concat([body, body]));
  assert.equal(owner.receivedBytes, 32);
  assert.equal(owner.relayed.length, 2);
  assert.equal(reactor.stats().copiedBytes, 0);
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
  client.socket.write('arrives during the stall');
  const until = performance.now() + 1500;
  while (performance.now() < until);
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

test('commands for a connection that is gone do nothing and give their tokens back', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { owner } = await connectClient(context, server);
  const dead = owner.id;
  reactor.reset(dead);
  writeText(reactor, dead, 'late', 5);
  reactor.relay(dead, 0, 10, 6);
  reactor.mark(dead, 7);
  await eventually('closed', () => owner.closed !== null);
  assert.deepEqual(owner.tokens(), [5, 7]);
  assert.ok(owner.sent.every(({ errno }) => errno === constants.errno.ECANCELED));
  assert.deepEqual(owner.relayed, [{ token: 6, status: 1, missing: 10 }]);
  // The slot is used again by somebody else; the old id must not reach them.
  const next = await connectClient(context, server);
  for (let i = 0; i < 3; i++) writeText(reactor, dead, 'to nobody');
  reactor.reset(dead);
  writeText(reactor, next.owner.id, 'to you');
  await eventually('an answer', () => next.client.length === 6);
  assert.equal(next.client.bytes().toString(), 'to you');
  assert.equal(next.owner.closed, null);
});

test('a token given in the batch that delivers closed still comes back', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  owner.onClosed = (id) => {
    owner.order.push('closed');
    reactor.mark(id, 9);
  };
  client.socket.resetAndDestroy();
  await eventually('the token', () => owner.sent.length === 1);
  assert.deepEqual(owner.order, ['closed', 'sent']);
  assert.equal(owner.sent[0]!.errno, constants.errno.ECANCELED);
});

test('closing sends everything first and spares the answer from a reset by unread input', async (context) => {
  const reactor = startReactor(context);
  const answer = pattern(3_000_000, 4);
  const server = listen(reactor, (owner) => {
    reactor.pause(owner.id);
    reactor.writeBytes(owner.id, answer, 1);
    reactor.close(owner.id);
  });
  const client = new Client(server.port);
  context.after(() => client.socket.destroy());
  client.socket.pause();
  client.socket.write(pattern(500_000, 5));
  await settle(150);
  client.socket.resume();
  await eventually('the end', () => client.ended || client.error !== null);
  assert.equal(client.error, null);
  assertSameBytes(client.bytes(), answer);
  client.socket.end();
  const owner = server.accepted[0]!;
  await eventually('closed', () => owner.closed !== null);
  assert.deepEqual(owner.tokens(), [1]);
  assert.equal(owner.receivedBytes, 0);
});

test('a closing connection whose peer never closes is let go after a while', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    reactor.close(owner.id);
  });
  const { owner } = await connectClient(context, server);
  const started = Date.now();
  await eventually('closed', () => owner.closed !== null);
  assert.ok(Date.now() - started < 3000);
  assert.equal(reactor.stats().connections, 0);
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
  assert.throws(() => reactor.writeFile(0, 0, 0, 4096, 1), /fill memory/);
  assert.throws(() => reactor.setBuffers('x' as unknown as ConnectionId, 0, 0), RangeError);
});
