import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  alignedMemory,
  dropFromPageCache,
  lentPagesSurvive,
  lock,
  openDirect,
  preallocate,
  raiseFileLimit,
} from './files.ts';
import type { Reactor } from './reactor.ts';
import {
  assertSameBytes,
  connectClient,
  eventually,
  fileOf,
  listen,
  pattern,
  settle,
  startReactor,
  temporaryFolder,
} from './test-peers.ts';

interface Outcome {
  readonly token: number;
  readonly errno: number;
  readonly bytes: number;
}

function outcomesOf(reactor: Reactor): Outcome[] {
  const outcomes: Outcome[] = [];
  reactor.files.owner = {
    onDisk: (token, errno, bytes) => outcomes.push({ token, errno, bytes }),
  };
  return outcomes;
}

test('slots are written with O_DIRECT, synced and read back', async (context) => {
  const reactor = startReactor(context);
  const outcomes = outcomesOf(reactor);
  const path = join(temporaryFolder(context), 'slab');
  const descriptor = openDirect(path);
  context.after(() => {
    closeSync(descriptor);
  });
  preallocate(descriptor, 4 << 20);
  assert.equal(statSync(path).size, 4 << 20);
  const memory = alignedMemory(2 << 20);
  const bytes = pattern(1 << 20, 1);
  memory.set(bytes);
  reactor.files.registerFillMemory(memory);
  for (let i = 0; i < 4; i++) reactor.files.write(descriptor, i << 20, 0, 1 << 20, 1 << 20, i + 1);
  await eventually('the writes', () => outcomes.length === 4);
  assert.deepEqual(
    outcomes.map(({ token }) => token).toSorted((a, b) => a - b),
    [1, 2, 3, 4],
  );
  assert.ok(outcomes.every(({ errno, bytes: wrote }) => errno === 0 && wrote === 1 << 20));
  reactor.files.sync(descriptor, 5);
  reactor.files.read(descriptor, 2 << 20, 1 << 20, 1 << 20, 6);
  await eventually('the sync and the read', () => outcomes.length === 6);
  assert.ok(outcomes.every(({ errno }) => errno === 0));
  assertSameBytes(Buffer.from(memory.subarray(1 << 20)), bytes);
  assertSameBytes(readFileSync(path), Buffer.concat([bytes, bytes, bytes, bytes]));
  assert.equal(reactor.stats().diskWrites, 4);
});

test('errors of reads, writes and syncs come back as errno', async (context) => {
  const reactor = startReactor(context);
  const outcomes = outcomesOf(reactor);
  const { descriptor, path } = fileOf(context, pattern(10_000, 2));
  reactor.files.registerFillMemory(alignedMemory(65536));
  const readOnly = openSync(path, 'r');
  context.after(() => {
    closeSync(readOnly);
  });
  reactor.files.read(descriptor, 8000, 0, 4096, 1);
  reactor.files.write(readOnly, 0, 0, 4096, 0, 2);
  reactor.files.sync(1_000_000, 3);
  await eventually('all three', () => outcomes.length === 3);
  const { EIO, EBADF } = constants.errno;
  assert.deepEqual(
    outcomes.toSorted((a, b) => a.token - b.token),
    [
      { token: 1, errno: EIO, bytes: 2000 },
      { token: 2, errno: EBADF, bytes: 0 },
      { token: 3, errno: EBADF, bytes: 0 },
    ],
  );
});

test('a write makes no file longer, for what is between would read as zeros', async (context) => {
  const reactor = startReactor(context);
  const outcomes = outcomesOf(reactor);
  const { descriptor, path } = fileOf(context, pattern(10_000, 2));
  reactor.files.registerFillMemory(alignedMemory(65536));
  reactor.files.write(descriptor, 8192, 0, 4096, 0, 1);
  reactor.files.write(descriptor, 65536, 0, 4096, 0, 2);
  reactor.files.write(descriptor, 4096, 0, 4096, 0, 3);
  await eventually('all three', () => outcomes.length === 3);
  const { EIO } = constants.errno;
  assert.deepEqual(
    outcomes.toSorted((a, b) => a.token - b.token),
    [
      { token: 1, errno: EIO, bytes: 0 },
      { token: 2, errno: EIO, bytes: 0 },
      { token: 3, errno: 0, bytes: 4096 },
    ],
  );
  assert.equal(statSync(path).size, 10_000);
});

test('a direct write that is not aligned, or outside of the memory, throws', (context) => {
  const reactor = startReactor(context);
  reactor.files.registerFillMemory(alignedMemory(65536));
  assert.throws(() => reactor.files.write(0, 100, 0, 4096, 0, 1), /multiples of 4096/);
  assert.throws(() => reactor.files.write(0, 0, 100, 4096, 0, 1), /multiples of 4096/);
  assert.throws(() => reactor.files.write(0, 0, 0, 100, 0, 1), /multiples of 4096/);
  assert.throws(() => reactor.files.write(0, 0, 65536, 4096, 0, 1), /fill memory/);
  assert.throws(() => reactor.files.read(0, 0, 65535, 2, 1), /fill memory/);
  assert.throws(() => reactor.files.read(0, -1, 0, 2, 1), RangeError);
});

test('pages that were lent to a slow client keep their bytes on this disk', (context) => {
  const folder = temporaryFolder(context);
  assert.equal(lentPagesSurvive(folder), 'yes');
  assert.deepEqual(readdirSync(folder), [], 'the trial leaves nothing behind');
  assert.throws(() => lentPagesSurvive(join(folder, 'missing')), /ENOENT/);
});

test(
  'a memory file system changes lent pages, and the trial says so',
  { skip: !existsSync('/dev/shm') && 'no /dev/shm here' },
  () => {
    assert.notEqual(lentPagesSurvive('/dev/shm'), 'yes');
  },
);

test('a slow client gets the old bytes of a slot that was overwritten meanwhile', async (context) => {
  const reactor = startReactor(context);
  const outcomes = outcomesOf(reactor);
  const server = listen(reactor);
  const { client, owner } = await connectClient(context, server, true);
  const path = join(temporaryFolder(context), 'slab');
  const direct = openDirect(path);
  const buffered = openSync(path, 'r');
  context.after(() => {
    closeSync(direct);
    closeSync(buffered);
  });
  preallocate(direct, 1 << 20);
  const memory = alignedMemory(2 << 20);
  const before = pattern(1 << 20, 3);
  memory.set(before);
  memory.set(pattern(1 << 20, 4), 1 << 20);
  reactor.files.registerFillMemory(memory);
  reactor.files.write(direct, 0, 0, 1 << 20, 0, 1);
  await eventually('the first bytes', () => outcomes.length === 1);
  reactor.sendFile(owner.id, 0, 0, buffered, 0, 1 << 20, 7, 0);
  await eventually('taken by the kernel', () => owner.sent.length === 1);
  reactor.files.write(direct, 0, 1 << 20, 1 << 20, 0, 2);
  await eventually('the next bytes', () => outcomes.length === 2);
  await settle();
  client.socket.resume();
  await eventually('all bytes', () => client.length === 1 << 20);
  assertSameBytes(client.bytes(), before);
  assertSameBytes(readFileSync(path), pattern(1 << 20, 4));
});

test('a lock refuses a second descriptor until the first is closed', (context) => {
  const path = join(temporaryFolder(context), 'lock');
  const first = openSync(path, 'w');
  const second = openSync(path, 'r');
  context.after(() => {
    closeSync(second);
  });
  assert.equal(lock(first), true);
  assert.equal(lock(second), false);
  closeSync(first);
  assert.equal(lock(second), true);
  assert.throws(() => lock(1_000_000), /EBADF/);
});

test('aligned memory is zeroed, and preallocating too much says why', (context) => {
  const memory = alignedMemory(10_000);
  assert.equal(memory.length, 10_000);
  assert.ok(memory.every((byte) => byte === 0));
  const { descriptor } = fileOf(context, pattern(10, 1));
  assert.throws(() => preallocate(descriptor, 2 ** 50), /ENOSPC|EFBIG/);
  assert.throws(() => {
    dropFromPageCache(1_000_000, 0, 0);
  }, /EBADF/);
});

test('the limit of open files is raised', () => {
  const limit = raiseFileLimit();
  assert.ok(limit >= 256);
  assert.equal(raiseFileLimit(), limit);
});
