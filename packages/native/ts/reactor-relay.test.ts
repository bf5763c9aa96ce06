import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { CommandFlag, RelayStatus } from './native.ts';
import type { ReactorOptions } from './reactor.ts';
import {
  assertSameBytes,
  connectClient,
  eventually,
  listen,
  pattern,
  settle,
  startReactor,
  writeText,
} from './test-peers.ts';
import type { Client, Recorder } from './test-peers.ts';

const { copy } = CommandFlag;

/** One connection to relay from and one to relay to, each with its peer. */
async function pair(context: TestContext, options: ReactorOptions = {}, pausedTarget = false) {
  const reactor = startReactor(context, options);
  const server = listen(reactor);
  const from = await connectClient(context, server);
  const to = await connectClient(context, server, pausedTarget);
  return { reactor, source: from.owner, sender: from.client, target: to.owner, taker: to.client };
}

/** Reads in small steps, so that the sender is held back again and again. */
async function readSlowly(client: Client, length: number): Promise<void> {
  while (client.length < length) {
    client.socket.resume();
    await settle(2);
    client.socket.pause();
    await settle(1);
  }
}

const forms = [
  { name: 'splice', flags: 0, options: {} },
  { name: 'copy', flags: copy, options: {} },
  { name: 'splice without a free pipe', flags: 0, options: { maxPipes: 0 } },
];

for (const { name, flags, options } of forms) {
  test(`${name}: bytes go across in order, between what was queued before and after`, async (context) => {
    const { reactor, source, sender, target, taker } = await pair(context, options);
    const bytes = pattern(5_000_000, 1);
    writeText(reactor, target.id, 'head:');
    reactor.relay(source.id, target.id, bytes.length, 1, flags);
    writeText(reactor, target.id, ':tail');
    reactor.mark(target.id, 2);
    sender.socket.write(bytes);
    sender.socket.write('the next');
    await eventually('all bytes', () => taker.length === bytes.length + 10);
    const got = taker.bytes();
    assert.equal(got.toString('latin1', 0, 5), 'head:');
    assertSameBytes(got.subarray(5, -5), bytes);
    assert.equal(got.toString('latin1', got.length - 5), ':tail');
    await eventually('the rest', () => source.receivedBytes === 8);
    assert.equal(source.received().toString(), 'the next');
    assert.deepEqual(source.relayed, [{ token: 1, status: RelayStatus.complete, missing: 0 }]);
    assert.deepEqual(source.order, ['relayed', 'received']);
    await eventually('the mark', () => target.sent.length === 1);
    const stats = reactor.stats();
    if (name === 'splice') assert.ok(stats.splices > 0);
    else assert.equal(stats.splices, 0);
    assert.equal(stats.pipes, name === 'splice' ? 1 : 0);
  });

  test(`${name}: a slow target gets every byte, under back-pressure`, async (context) => {
    const { reactor, source, sender, target, taker } = await pair(context, options, true);
    reactor.setBuffers(target.id, 65536, 0);
    const bytes = pattern(24 << 20, 2);
    reactor.relay(source.id, target.id, bytes.length, 1, flags);
    sender.socket.write(bytes);
    await settle(100);
    assert.ok(reactor.stats().wouldBlock > 0);
    // What is kept for it is bounded: the source waits.
    assert.ok(reactor.stats().queuedBytes < 2 << 20);
    assert.deepEqual(source.relayed, []);
    await readSlowly(taker, bytes.length);
    assertSameBytes(taker.bytes(), bytes);
    await eventually('the end', () => source.relayed.length === 1);
    assert.equal(reactor.stats().queuedBytes, 0);
  });

  test(`${name}: a target that is not reading does not hold the source of a piece`, async (context) => {
    const { reactor, source, sender, target, taker } = await pair(context, options, true);
    reactor.setBuffers(target.id, 65536, 0);
    const before = pattern(8 << 20, 3);
    const piece = pattern(1 << 20, 4);
    reactor.writeBytes(target.id, before);
    reactor.relay(source.id, target.id, piece.length, 1, flags);
    sender.socket.write(piece);
    sender.socket.write('free again');
    await eventually('the rest', () => source.receivedBytes === 10);
    assert.deepEqual(source.relayed, [{ token: 1, status: RelayStatus.complete, missing: 0 }]);
    assert.ok(taker.length === 0);
    await readSlowly(taker, before.length + piece.length);
    assertSameBytes(taker.bytes(), Buffer.concat([before, piece]));
  });

  test(`${name}: the target dies in the middle`, async (context) => {
    const { reactor, source, sender, target, taker } = await pair(context, options);
    reactor.relay(source.id, target.id, 1_000_000, 1, flags);
    sender.socket.write(pattern(300_000, 5));
    await eventually('a part', () => taker.length === 300_000);
    taker.socket.resetAndDestroy();
    await eventually('relayed', () => source.relayed.length === 1);
    assert.deepEqual(source.relayed, [
      { token: 1, status: RelayStatus.targetGone, missing: 700_000 },
    ]);
    await eventually('closed', () => target.closed !== null);
    // The rest is thrown away, and the source is as good as new.
    reactor.relay(source.id, 0, 700_000, 2, flags);
    sender.socket.write(pattern(700_000, 6));
    sender.socket.write('new');
    await eventually('the rest', () => source.receivedBytes === 3);
    assert.equal(source.received().toString(), 'new');
    assert.deepEqual(source.relayed[1], { token: 2, status: RelayStatus.complete, missing: 0 });
  });

  test(`${name}: the source dies in the middle`, async (context) => {
    const { reactor, source, sender, target, taker } = await pair(context, options);
    const bytes = pattern(300_000, 7);
    reactor.relay(source.id, target.id, 1_000_000, 1, flags);
    writeText(reactor, target.id, 'after', 9);
    sender.socket.end(bytes);
    await eventually('relayed', () => source.relayed.length === 1);
    assert.deepEqual(source.relayed, [
      { token: 1, status: RelayStatus.sourceGone, missing: 700_000 },
    ]);
    assert.equal(source.ended, 1);
    await eventually('the rest', () => taker.length === 300_005);
    assertSameBytes(taker.bytes(), Buffer.concat([bytes, Buffer.from('after')]));
    await eventually('the token', () => target.sent.length === 1);
  });
}

test('after its target died the source receives nothing before its owner knows', async (context) => {
  const { reactor, source, sender, target } = await pair(context);
  reactor.pause(source.id);
  sender.socket.write(pattern(1000, 8));
  sender.socket.write('next');
  await settle();
  source.onRelayed = (id, _token, status, missing) => {
    assert.equal(status, RelayStatus.targetGone);
    reactor.relay(id, 0, missing, 0);
  };
  reactor.relay(source.id, target.id, 1000, 1);
  reactor.reset(target.id);
  reactor.resume(source.id);
  await eventually('the rest', () => source.receivedBytes > 0);
  assert.equal(source.received().toString(), 'next');
});

test('relays to nobody drop the bytes, also more than fit into 32 bits', async (context) => {
  const { reactor, source, sender } = await pair(context);
  reactor.relay(source.id, 0, 5 * 2 ** 30, 1);
  sender.socket.write(pattern(1_000_000, 9));
  await settle();
  assert.equal(source.receivedBytes, 0);
  sender.socket.end();
  await eventually('relayed', () => source.relayed.length === 1);
  assert.deepEqual(source.relayed[0], {
    token: 1,
    status: RelayStatus.sourceGone,
    missing: 5 * 2 ** 30 - 1_000_000,
  });
});

test('relays of one source follow each other, and two sources keep their places at one target', async (context) => {
  const reactor = startReactor(context);
  const server = listen(reactor);
  const one = await connectClient(context, server);
  const two = await connectClient(context, server);
  const target = await connectClient(context, server);
  const bytes = [pattern(700_000, 10), pattern(800_000, 11), pattern(900_000, 12)];
  reactor.relay(one.owner.id, target.owner.id, bytes[0]!.length, 1);
  reactor.relay(two.owner.id, target.owner.id, bytes[1]!.length, 2);
  reactor.relay(one.owner.id, target.owner.id, bytes[2]!.length, 3);
  two.client.socket.write(bytes[1]!);
  await eventually('the second', () => two.owner.relayed.length === 1);
  assert.equal(target.client.length, 0);
  one.client.socket.write(Buffer.concat([bytes[0]!, bytes[2]!]));
  await eventually('all bytes', () => target.client.length === 2_400_000);
  assertSameBytes(target.client.bytes(), Buffer.concat(bytes));
  assert.deepEqual(
    one.owner.relayed.map(({ token }) => token),
    [1, 3],
  );
});

test('pipes are shared, bounded and given back', async (context) => {
  const reactor = startReactor(context, { maxPipes: 2 });
  const server = listen(reactor);
  const pairs: { owner: Recorder; sender: Client; taker: Client; bytes: Buffer }[] = [];
  for (let i = 0; i < 6; i++) {
    const from = await connectClient(context, server);
    const to = await connectClient(context, server, true);
    reactor.setBuffers(to.owner.id, 16384, 0);
    const bytes = pattern(6 << 20, 20 + i);
    reactor.relay(from.owner.id, to.owner.id, bytes.length, 1);
    from.client.socket.write(bytes);
    pairs.push({ owner: from.owner, sender: from.client, taker: to.client, bytes });
  }
  await settle(200);
  assert.equal(reactor.stats().pipes, 2);
  for (const { taker } of pairs) taker.socket.resume();
  for (const { owner, taker, bytes } of pairs) {
    await eventually('all bytes', () => taker.length === bytes.length);
    assertSameBytes(taker.bytes(), bytes);
    assert.equal(owner.relayed.length, 1);
  }
  assert.ok(reactor.stats().pipes <= 2);
});

test('bytes that a dead target left in a pipe reach nobody else', async (context) => {
  const reactor = startReactor(context, { maxPipes: 1 });
  const server = listen(reactor);
  for (let round = 1; round <= 3; round++) {
    const stalled = await connectClient(context, server);
    const dying = await connectClient(context, server, true);
    reactor.setBuffers(dying.owner.id, 16384, 0);
    reactor.relay(stalled.owner.id, dying.owner.id, 8 << 20, 1);
    stalled.client.socket.write(pattern(8 << 20, round));
    await settle(80);
    assert.equal(reactor.stats().pipes, 1);
    reactor.reset(dying.owner.id);
    reactor.reset(stalled.owner.id);
    const from = await connectClient(context, server);
    const to = await connectClient(context, server);
    const bytes = pattern(300_000, 100 + round);
    const before = reactor.stats().splices;
    reactor.relay(from.owner.id, to.owner.id, bytes.length, 1);
    from.client.socket.write(bytes);
    await eventually('all bytes', () => to.client.length >= bytes.length);
    await settle(20);
    assertSameBytes(to.client.bytes(), bytes);
    assert.ok(reactor.stats().splices > before, 'it went through a pipe');
  }
});

test('a trickle is passed on at once, however much is still to come', async (context) => {
  for (const flags of [0, copy]) {
    const { reactor, source, sender, target, taker } = await pair(context);
    reactor.relay(source.id, target.id, 1 << 20, 1, flags);
    for (let i = 1; i <= 20; i++) {
      const started = performance.now();
      sender.socket.write('a few bytes');
      await eventually('the bytes', () => taker.length === i * 11);
      assert.ok(performance.now() - started < 150, 'nothing held them back');
    }
    assert.equal(source.relayed.length, 0);
  }
});

test('a relay of nothing is complete at once', async (context) => {
  const { reactor, source, sender, target, taker } = await pair(context);
  reactor.relay(source.id, target.id, 0, 1);
  writeText(reactor, target.id, 'next');
  await eventually('relayed', () => source.relayed.length === 1);
  await eventually('bytes', () => taker.length === 4);
  sender.socket.write('normal');
  await eventually('bytes', () => source.receivedBytes === 6);
});

test('a relay to a connection that is gone reports all of it missing', async (context) => {
  const { reactor, source, target } = await pair(context);
  reactor.reset(target.id);
  await eventually('closed', () => target.closed !== null);
  reactor.relay(source.id, target.id, 1234, 1);
  await eventually('relayed', () => source.relayed.length === 1);
  assert.deepEqual(source.relayed, [{ token: 1, status: RelayStatus.targetGone, missing: 1234 }]);
});

test('closing the source ends its relay; the target keeps what had come', async (context) => {
  const { reactor, source, sender, target, taker } = await pair(context);
  reactor.relay(source.id, target.id, 1000, 1);
  sender.socket.write('half');
  await eventually('bytes', () => taker.length === 4);
  reactor.close(source.id);
  writeText(reactor, target.id, ' done');
  await eventually('relayed', () => source.relayed.length === 1);
  assert.deepEqual(source.relayed, [{ token: 1, status: RelayStatus.sourceGone, missing: 996 }]);
  await eventually('bytes', () => taker.length === 9);
  assert.equal(taker.bytes().toString(), 'half done');
});

test('an early answer of a target that stops reading is delivered before it closes', async (context) => {
  const { reactor, source, sender, target, taker } = await pair(context, {}, true);
  reactor.relay(source.id, target.id, 64 << 20, 1);
  sender.socket.write(pattern(64 << 20, 13));
  await settle(100);
  taker.socket.write('refused');
  taker.socket.resetAndDestroy();
  await eventually('closed', () => target.closed !== null);
  assert.equal(target.received().toString(), 'refused');
  await eventually('relayed', () => source.relayed.length === 1);
  assert.equal(source.relayed[0]!.status, RelayStatus.targetGone);
  assert.ok(
    target.closed!.errno === constants.errno.ECONNRESET ||
      target.closed!.errno === constants.errno.EPIPE,
  );
});

test('a paused source relays nothing until it is resumed', async (context) => {
  const { reactor, source, sender, target, taker } = await pair(context);
  reactor.pause(source.id);
  reactor.relay(source.id, target.id, 5, 1);
  sender.socket.write('bytes');
  await settle(80);
  assert.equal(taker.length, 0);
  reactor.resume(source.id);
  await eventually('bytes', () => taker.length === 5);
});

test('a quiet relay receives nothing behind its bytes until the source speaks again', async (context) => {
  const { reactor, source, sender, target, taker } = await pair(context);
  for (let round = 1; round <= 20; round++) {
    const before = reactor.stats().receives;
    reactor.relay(source.id, target.id, 100_000, round, CommandFlag.quiet);
    sender.socket.write(pattern(100_000, round));
    await eventually('relayed', () => source.relayed.length === round);
    await eventually('taken', () => taker.length === round * 100_000);
    assert.equal(reactor.stats().receives, before, 'the bytes were spliced, nothing else was read');
  }
  sender.socket.write('more');
  await eventually('later bytes', () => source.receivedBytes === 4);
  reactor.relay(source.id, target.id, 5, 99, CommandFlag.quiet);
  sender.socket.end('ended');
  await eventually('the end', () => source.ended === 1);
  assert.deepEqual(source.relayed.at(-1), {
    token: 99,
    status: RelayStatus.complete,
    missing: 0,
  });
});
