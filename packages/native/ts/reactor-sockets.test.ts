import assert from 'node:assert/strict';
import net from 'node:net';
import { constants } from 'node:os';
import { test } from 'node:test';

import { Arena, CloseReason } from './native.ts';
import { ReactorError } from './reactor.ts';
import type { ConnectionId } from './reactor.ts';
import {
  Client,
  Recorder,
  assertSameBytes,
  connectClient,
  echo,
  eventually,
  listen,
  pattern,
  settle,
  startReactor,
  writeText,
} from './test-peers.ts';

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

test('a reset that was noticed before receiving was paused is told', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor, (owner) => {
    owner.onBytes = () => {
      reactor.pause(owner.id);
    };
  });
  const { client, owner } = await connectClient(context, server);
  // Bytes and reset arrive together: the bytes are delivered first, and the reset waits behind them.
  client.socket.write('x');
  client.socket.resetAndDestroy();
  await eventually('closed', () => owner.closed !== null);
  assert.equal(owner.receivedBytes, 1);
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
  const next: { client: Client; owner: Recorder }[] = [];
  for (let i = 0; i < 3; i++) next.push(await connectClient(context, server));
  const slot = (id: ConnectionId): number => id & 0x3ffff;
  assert.ok(next.some((peer) => slot(peer.owner.id) === slot(dead)));
  for (let i = 0; i < 3; i++) writeText(reactor, dead, 'to nobody');
  reactor.reset(dead);
  for (const { owner: alive } of next) writeText(reactor, alive.id, 'to you');
  await eventually('the answers', () => next.every(({ client }) => client.length >= 6));
  await settle();
  for (const peer of next) {
    assert.equal(peer.client.bytes().toString(), 'to you');
    assert.equal(peer.owner.closed, null);
  }
});

test('a token given in the batch that delivers closed still comes back', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const next: Recorder[] = [];
  owner.onClosed = (id) => {
    owner.order.push('closed');
    reactor.mark(id, 9);
    // Whoever connects before the token is delivered must not get the slot.
    setImmediate(() => {
      for (let i = 0; i < 3; i++) {
        next.push(new Recorder(reactor));
        reactor.connect('127.0.0.1', server.port, next[i]!);
      }
    });
  };
  client.socket.resetAndDestroy();
  await eventually('the token', () => owner.sent.length === 1);
  assert.deepEqual(owner.order, ['closed', 'sent']);
  await eventually('the others', () => next.length === 3 && next.every((o) => o.connected === 0));
  assert.ok(next.every(({ sent }) => sent.length === 0));
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
  const { client, owner } = await connectClient(context, server);
  const started = Date.now();
  await eventually('the end', () => client.ended);
  assert.ok(Date.now() - started < 500, 'the FIN goes first');
  await eventually('closed', () => owner.closed !== null);
  assert.ok(Date.now() - started < 3000);
  assert.equal(reactor.stats().connections, 0);
});
