import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { alignedMemory, crc32c, openDirect, preallocate } from './files.ts';
import { native } from './native.ts';
import type { Reactor } from './reactor.ts';
import { eventually, fileOf, pattern, startReactor, temporaryFolder } from './test-peers.ts';

interface Outcome {
  readonly errno: number;
  readonly bytes: number;
  readonly checksum: number;
}

/** What comes of one piece of work. */
async function outcomeOf(reactor: Reactor, begin: (token: number) => void): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  reactor.files.owner = {
    onDisk: (token, errno, bytes, checksum) => {
      assert.equal(token, 77);
      outcomes.push({ errno, bytes, checksum });
    },
  };
  begin(77);
  await eventually('the outcome', () => outcomes.length === 1);
  return outcomes[0]!;
}

function slabOf(context: TestContext, bytes: number): { descriptor: number; path: string } {
  const path = join(temporaryFolder(context), 'slab');
  const descriptor = openDirect(path);
  context.after(() => {
    closeSync(descriptor);
  });
  preallocate(descriptor, bytes);
  return { descriptor, path };
}

const { EIO, EBADF } = constants.errno;

test('the checksum is CRC32C', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(0)), 0);
});

test('processors without the instruction come to the same checksum, for every length and alignment', () => {
  const bytes = pattern(5000, 3);
  for (let start = 0; start < 9; start++) {
    for (const length of [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 1023, 4096, 4991]) {
      const part = bytes.subarray(start, start + length);
      const portable = native.checksumOf(part, true);
      assert.equal(portable, native.checksumOf(part, false), `${start}, ${length}`);
    }
  }
});

test('a write tells the checksum of as many bytes as it was asked for', async (context) => {
  const reactor = startReactor(context);
  const { descriptor } = slabOf(context, 1 << 20);
  const memory = alignedMemory(1 << 20);
  memory.set(pattern(1 << 20, 5));
  reactor.files.registerFillMemory(memory);
  for (const checked of [0, 1, 4096, 8000, 8192]) {
    const { errno, bytes, checksum } = await outcomeOf(reactor, (token) => {
      reactor.files.write(descriptor, 4096, 65536, 8192, checked, token);
    });
    assert.deepEqual({ errno, bytes }, { errno: 0, bytes: 8192 });
    assert.equal(checksum, crc32c(memory.subarray(65536, 65536 + checked)));
  }
  assert.throws(() => {
    reactor.files.write(descriptor, 0, 0, 4096, 4097, 1);
  }, /checked/);
});

test('a range of a file has the checksum of its bytes, and another one when a bit flips', async (context) => {
  const reactor = startReactor(context);
  const { descriptor, path } = slabOf(context, 3 << 20);
  const memory = alignedMemory(1 << 20);
  const bytes = pattern(1 << 20, 9);
  memory.set(bytes);
  reactor.files.registerFillMemory(memory);
  const { checksum: written } = await outcomeOf(reactor, (token) => {
    reactor.files.write(descriptor, 1 << 20, 0, 1 << 20, 1 << 20, token);
  });
  const check = (length: number): Promise<Outcome> =>
    outcomeOf(reactor, (token) => {
      reactor.files.checksum(descriptor, 1 << 20, length, token);
    });
  for (const length of [1, 4095, 4096, 300_001, (1 << 20) - 1]) {
    const { errno, checksum } = await check(length);
    assert.deepEqual(
      { errno, checksum },
      { errno: 0, checksum: crc32c(bytes.subarray(0, length)) },
    );
  }
  assert.equal((await check(1 << 20)).checksum, written);
  const buffered = openSync(path, 'r+');
  writeSync(buffered, Buffer.from([bytes[700_000]! ^ 4]), 0, 1, (1 << 20) + 700_000);
  closeSync(buffered);
  assert.notEqual((await check(1 << 20)).checksum, written);
});

test('a range that the file no longer has can’t be checked', async (context) => {
  const reactor = startReactor(context);
  const { descriptor, path } = slabOf(context, 1 << 20);
  truncateSync(path, 600_000);
  const check = (fileOffset: number, length: number): Promise<Outcome> =>
    outcomeOf(reactor, (token) => {
      reactor.files.checksum(descriptor, fileOffset, length, token);
    });
  assert.equal((await check(0, 1 << 20)).errno, EIO);
  assert.equal((await check(1 << 20, 1)).errno, EIO);
  assert.equal((await check(0, 500_000)).errno, 0);
  assert.throws(() => {
    reactor.files.checksum(descriptor, 100, 4096, 1);
  }, /multiple of 4096/);
});

test('a file that was cut gets its length back, with zeros', async (context) => {
  const reactor = startReactor(context);
  const { descriptor, path } = fileOf(context, pattern(8192, 4));
  truncateSync(path, 4096);
  const allocate = (bytes: number): Promise<Outcome> =>
    outcomeOf(reactor, (token) => {
      reactor.files.allocate(descriptor, bytes, token);
    });
  assert.equal((await allocate(8192)).errno, 0);
  assert.ok(
    readFileSync(path).equals(
      Buffer.concat([pattern(8192, 4).subarray(0, 4096), Buffer.alloc(4096)]),
    ),
  );
  assert.notEqual((await allocate(2 ** 50)).errno, 0);
});

test('pieces are written where they belong and made durable', async (context) => {
  const reactor = startReactor(context);
  const { descriptor, path } = fileOf(context, Buffer.alloc(100));
  const readOnly = openSync(path, 'r');
  context.after(() => {
    closeSync(readOnly);
  });
  const write = (to: number): Promise<Outcome> =>
    outcomeOf(reactor, (token) => {
      const bytes = Buffer.from('abcdefghij');
      reactor.files.writePieces(to, bytes, Float64Array.of(90, 3, 10, 5, 198, 2), token);
      // Copied during the call: what comes after can't change them.
      bytes.fill(0);
    });
  assert.deepEqual(await write(readOnly), { errno: EBADF, bytes: 0, checksum: 0 });
  assert.deepEqual(await write(descriptor), { errno: 0, bytes: 10, checksum: 0 });
  const expected = Buffer.alloc(200);
  expected.write('abc', 90);
  expected.write('defgh', 10);
  expected.write('ij', 198);
  assert.ok(readFileSync(path).equals(expected));
});

test('pieces outside of the bytes throw', (context) => {
  const reactor = startReactor(context);
  const write = (bytes: number, ...pieces: number[]): void => {
    reactor.files.writePieces(0, new Uint8Array(bytes), Float64Array.from(pieces), 1);
  };
  assert.throws(() => {
    write(10, 0, 11);
  }, /pieces/);
  assert.throws(() => {
    write(10, 0, 5, 0, 6);
  }, /pieces/);
  assert.throws(() => {
    write(10, -1, 5);
  }, /pieces/);
  assert.throws(() => {
    write(10);
  }, /too short/);
});
