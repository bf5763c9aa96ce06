import assert from 'node:assert/strict';
import { ftruncateSync } from 'node:fs';
import { constants } from 'node:os';
import { test } from 'node:test';

import { dropFromPageCache } from './files.ts';
import { Arena, CloseReason, CommandFlag } from './native.ts';
import type { ConnectionId, Reactor } from './reactor.ts';
import {
  assertSameBytes,
  connectClient,
  eventually,
  fileOf,
  listen,
  pattern,
  settle,
  startReactor,
} from './test-peers.ts';

const { copy, deferrable, eager } = CommandFlag;

/** Queues `head` and a file's range as one answer. */
function answer(
  reactor: Reactor,
  id: ConnectionId,
  head: string,
  range: { descriptor: number; offset: number; length: number },
  token: number,
  flags = 0,
): void {
  const at = reactor.reserve(head.length);
  reactor.outputBuffer.write(head, at, 'latin1');
  reactor.commit(head.length);
  reactor.sendFile(id, at, head.length, range.descriptor, range.offset, range.length, token, flags);
}

for (const form of ['write', 'sendFile', 'sendFile by copy'] as const) {
  test(`${form}: a slow reader gets every byte in order, under back-pressure`, async (context) => {
    const reactor = startReactor(context);
    const server = listen(reactor);
    const { client, owner } = await connectClient(context, server, true);
    reactor.setBuffers(owner.id, 65536, 0);
    const bytes = pattern(24 << 20, 1);
    const { descriptor } = fileOf(context, bytes);
    const pieces = [0, 1, 2, 3].map((i) => ({ offset: i * (6 << 20), length: 6 << 20 }));
    for (const [i, { offset, length }] of pieces.entries()) {
      const token = i + 1;
      if (form === 'write') {
        reactor.writeBytes(owner.id, Buffer.from(`<${i}>`));
        reactor.writeBytes(owner.id, bytes.subarray(offset, offset + length), token);
      } else {
        const flags = form === 'sendFile' ? 0 : copy;
        answer(reactor, owner.id, `<${i}>`, { descriptor, offset, length }, token, flags);
      }
    }
    await settle();
    assert.ok(reactor.stats().wouldBlock > 0);
    assert.deepEqual(owner.tokens(), []);
    while (client.length < bytes.length + 12) {
      client.socket.resume();
      await settle(3);
      client.socket.pause();
      await settle(1);
    }
    const expected = pieces.flatMap(({ offset, length }, i) => [
      Buffer.from(`<${i}>`),
      bytes.subarray(offset, offset + length),
    ]);
    assertSameBytes(client.bytes(), Buffer.concat(expected));
    await eventually('the tokens', () => owner.sent.length === 4);
    assert.deepEqual(
      owner.sent,
      [1, 2, 3, 4].map((token) => ({ token, errno: 0 })),
    );
    assert.ok(reactor.stats().wouldBlock > 4);
    assert.equal(reactor.stats().queuedBytes, 0);
  });
}

test('many copied answers on one connection leave with few calls', async (context) => {
  const reactor = startReactor(context);
  const bytes = pattern(1 << 20, 2);
  const { descriptor } = fileOf(context, bytes);
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start, length) => {
      for (let i = 0; i < length; i++) {
        const block = reactor.input[start + i]!;
        const range = { descriptor, offset: block * 4096, length: 4096 };
        answer(reactor, id, `[${String(block).padStart(3, '0')}]`, range, i + 1, copy | deferrable);
      }
    };
  });
  const { client, owner } = await connectClient(context, server);
  const before = reactor.stats();
  client.socket.write(Buffer.from(Array.from({ length: 60 }, (_, i) => (i * 37) % 256)));
  await eventually('all answers', () => client.length === 60 * 4101);
  const after = reactor.stats();
  assert.ok(after.sends - before.sends <= 10, `${after.sends - before.sends} calls for 60 answers`);
  assert.equal(after.fileReads - before.fileReads, 60);
  assert.equal(after.coldReads, before.coldReads);
  const got = client.bytes();
  for (let i = 0; i < 60; i++) {
    const block = (i * 37) % 256;
    const one = got.subarray(i * 4101, (i + 1) * 4101);
    assert.equal(one.toString('latin1', 0, 5), `[${String(block).padStart(3, '0')}]`);
    assertSameBytes(one.subarray(5), bytes.subarray(block * 4096, (block + 1) * 4096));
  }
  await eventually('the tokens', () => owner.sent.length === 60);
});

test('a cold range is read by a thread, and ordered answers wait for it', async (context) => {
  for (const flags of [0, copy]) {
    const reactor = startReactor(context);
    const server = listen(reactor);
    const { client, owner } = await connectClient(context, server);
    const bytes = pattern(3 << 20, 3);
    const { descriptor } = fileOf(context, bytes);
    dropFromPageCache(descriptor, 0, 0);
    const range = { descriptor, offset: 1000, length: (3 << 20) - 1000 };
    answer(reactor, owner.id, 'cold:', range, 1, flags | eager);
    reactor.writeBytes(owner.id, Buffer.from('after'), 2, eager);
    await eventually('all bytes', () => client.length === range.length + 10);
    const got = client.bytes();
    assert.equal(got.toString('latin1', 0, 5), 'cold:');
    assertSameBytes(got.subarray(5, -5), bytes.subarray(1000));
    assert.equal(got.toString('latin1', got.length - 5), 'after');
    assert.ok(reactor.stats().coldReads > 0);
    await eventually('the tokens', () => owner.sent.length === 2);
    assert.deepEqual(owner.tokens(), [1, 2]);
  }
});

test('a deferrable cold range steps aside, and its answer follows in one piece', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const bytes = pattern(1 << 20, 4);
  const { descriptor } = fileOf(context, bytes);
  dropFromPageCache(descriptor, 0, 0);
  const range = { descriptor, offset: 512 * 1024, length: 8192 };
  answer(reactor, owner.id, 'cold:', range, 1, copy | deferrable);
  reactor.writeBytes(owner.id, Buffer.from('warm'), 2);
  await eventually('all bytes', () => client.length === 8192 + 9);
  const got = client.bytes();
  assert.equal(got.toString('latin1', 0, 9), 'warmcold:');
  assertSameBytes(got.subarray(9), bytes.subarray(range.offset, range.offset + 8192));
  await eventually('the tokens', () => owner.sent.length === 2);
  assert.deepEqual(owner.sent, [
    { token: 2, errno: 0 },
    { token: 1, errno: 0 },
  ]);
  assert.equal(reactor.stats().coldReads, 1);
});

test('closing waits for answers that stepped aside', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const bytes = pattern(1 << 20, 5);
  const { descriptor } = fileOf(context, bytes);
  dropFromPageCache(descriptor, 0, 0);
  answer(reactor, owner.id, '', { descriptor, offset: 0, length: 65536 }, 1, copy | deferrable);
  reactor.close(owner.id);
  await eventually('the end', () => client.ended);
  assertSameBytes(client.bytes(), bytes.subarray(0, 65536));
  await eventually('the token', () => owner.sent.length === 1);
});

test('a copied range that may step aside and that the file no longer has: not a byte of it, and EIO', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const { descriptor } = fileOf(context, pattern(2 << 20, 6));
  ftruncateSync(descriptor, 100_000);
  const flags = copy | deferrable;
  const short = { descriptor, offset: 98_000, length: 4096 };
  answer(reactor, owner.id, 'short', short, 1, flags);
  answer(reactor, owner.id, 'long', { descriptor, offset: 0, length: 1 << 20 }, 2, flags);
  answer(reactor, owner.id, 'bad', { descriptor: 1_000_000, offset: 0, length: 10 }, 3, flags);
  reactor.writeBytes(owner.id, Buffer.from('fine'), 4, eager);
  await eventually('all tokens', () => owner.sent.length === 4);
  const errnoOf = (token: number): number | undefined =>
    owner.sent.find((sent) => sent.token === token)?.errno;
  const { EIO, EBADF } = constants.errno;
  assert.deepEqual([1, 2, 3, 4].map(errnoOf), [EIO, EIO, EBADF, 0]);
  await eventually('the good answer', () => client.length === 4);
  assert.equal(client.bytes().toString(), 'fine');
  assert.equal(owner.closed, null);
});

test('in a stream in order nothing follows a copied range that the file no longer has', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { descriptor } = fileOf(context, pattern(2 << 20, 6));
  ftruncateSync(descriptor, 100_000);
  const { EIO } = constants.errno;
  for (const [offset, length] of [
    [98_000, 4096],
    [0, 1 << 20],
    [200_000, 10],
  ] as const) {
    const { client, owner } = await connectClient(context, server);
    answer(reactor, owner.id, 'head', { descriptor, offset, length }, 1, copy);
    reactor.writeBytes(owner.id, Buffer.from('taken for the missing bytes'), 2);
    await eventually('closed', () => owner.closed !== null);
    assert.deepEqual(owner.closed, { reason: CloseReason.file, errno: EIO });
    assert.deepEqual(
      owner.sent.map(({ token, errno }) => [token, errno]),
      [
        [1, EIO],
        [2, EIO],
      ],
    );
    await eventually('the end', () => client.ended || client.error !== null);
    assert.equal(client.length, 0);
  }
});

test('a sendfile range that the file no longer has closes the connection', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const { descriptor } = fileOf(context, pattern(1 << 20, 7));
  ftruncateSync(descriptor, 100_000);
  answer(reactor, owner.id, 'head', { descriptor, offset: 0, length: 1 << 20 }, 1);
  reactor.mark(owner.id, 2);
  await eventually('closed', () => owner.closed !== null);
  const { EIO } = constants.errno;
  assert.deepEqual(owner.closed, { reason: CloseReason.file, errno: EIO });
  assert.deepEqual(
    owner.sent.map(({ token, errno }) => [token, errno]),
    [
      [1, EIO],
      [2, EIO],
    ],
  );
  await eventually('the end', () => client.ended || client.error !== null);
  assert.ok(client.length < 1 << 20);
});

test('answers without a body are plain writes in every form', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  for (const [i, flags] of [0, copy, copy | deferrable].entries()) {
    answer(reactor, owner.id, `head${i}`, { descriptor: 0, offset: 0, length: 0 }, i + 1, flags);
  }
  reactor.sendFile(owner.id, 0, 0, 0, 0, 0, 9, copy);
  await eventually('all tokens', () => owner.sent.length === 4);
  assert.ok(owner.sent.every(({ errno }) => errno === 0));
  await eventually('all heads', () => client.length === 15);
  assert.equal(client.bytes().toString(), 'head0head1head2');
});

test('every token comes back exactly once when the peer resets mid-answer', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const bytes = pattern(8 << 20, 8);
  const { descriptor } = fileOf(context, bytes);
  for (const cold of [false, true]) {
    const { client, owner } = await connectClient(context, server, true);
    if (cold) dropFromPageCache(descriptor, 0, 0);
    const range = { descriptor, offset: 0, length: 4 << 20 };
    answer(reactor, owner.id, 'a', range, 1);
    answer(reactor, owner.id, 'b', range, 2, copy);
    answer(reactor, owner.id, 'c', { ...range, length: 4096 }, 3, copy | deferrable);
    reactor.writeBytes(owner.id, bytes.subarray(0, 1 << 20), 4);
    reactor.mark(owner.id, 5);
    answer(reactor, owner.id, 'd', range, 6, eager);
    reactor.relay(owner.id, owner.id, 100, 7);
    if (!cold) await settle();
    client.socket.resetAndDestroy();
    await eventually('closed', () => owner.closed !== null);
    await settle();
    assert.deepEqual(
      owner.tokens().toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    );
    // It was source and target of its own relay: either may be found dead first.
    assert.deepEqual(
      owner.relayed.map(({ token, missing }) => [token, missing]),
      [[7, 100]],
    );
    assert.equal(owner.order.at(-1), 'closed');
  }
  assert.equal(reactor.stats().queuedBytes, 0);
});

test('a read that ends after its connection died is forgotten', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { descriptor } = fileOf(context, pattern(1 << 20, 12));
  for (const flags of [0, copy, copy | deferrable]) {
    const { owner } = await connectClient(context, server);
    dropFromPageCache(descriptor, 0, 0);
    const before = reactor.stats().coldReads;
    answer(reactor, owner.id, '', { descriptor, offset: 65536, length: 65536 }, 1, flags);
    await Promise.resolve();
    assert.equal(reactor.stats().coldReads, before + 1);
    // The thread is done long before the loop hears of it, and by then the connection is gone.
    const until = performance.now() + 50;
    while (performance.now() < until);
    reactor.reset(owner.id);
    await eventually('closed', () => owner.closed !== null);
    assert.deepEqual(owner.sent, [{ token: 1, errno: constants.errno.ECANCELED }]);
  }
});

test('tokens that are not eager ride with the next batch, or come after a few milliseconds', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server);
  const started = performance.now();
  reactor.writeBytes(owner.id, Buffer.from('one'), 1);
  await eventually('a token', () => owner.sent.length === 1);
  assert.ok(performance.now() - started < 500);
  owner.onBytes = (id) => {
    reactor.writeBytes(id, Buffer.from('two'), 2, eager);
  };
  const before = reactor.stats().batches;
  client.socket.write('x');
  await eventually('a token', () => owner.sent.length === 2);
  assert.equal(reactor.stats().batches - before, 2);
});

test('fill memory can be written from, and is copied when the socket is full', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server, true);
  reactor.setBuffers(owner.id, 65536, 0);
  const memory = new Uint8Array(pattern(4 << 20, 10));
  const expected = Buffer.from(memory);
  reactor.files.registerFillMemory(memory);
  reactor.write(owner.id, Arena.fill, 0, memory.length, 1);
  await settle();
  memory.fill(0);
  client.socket.resume();
  await eventually('all bytes', () => client.length === memory.length);
  assertSameBytes(client.bytes(), expected);
});

test('a thousand stalled readers leave the others alone', async (context) => {
  const reactor = startReactor(context);
  const bytes = pattern(4 << 20, 11);
  const { descriptor } = fileOf(context, bytes);
  const server = listen(reactor, (owner) => {
    owner.onBytes = (id, start) => {
      const large = reactor.input[start] === 76;
      answer(reactor, id, '', { descriptor, offset: 0, length: large ? 4 << 20 : 4096 }, 1);
    };
  });
  const stalled = [];
  for (let i = 0; i < 200; i++) {
    const { client } = await connectClient(context, server, true);
    client.socket.write('L');
    stalled.push(client);
  }
  await settle();
  const { client } = await connectClient(context, server);
  const started = performance.now();
  for (let i = 1; i <= 100; i++) {
    client.socket.write('s');
    await eventually('a small answer', () => client.length === i * 4096);
  }
  assert.ok(performance.now() - started < 5000);
  assert.ok(reactor.stats().queuedBytes < 1 << 20, 'nothing is kept in memory for them');
});
