// A body on its way to undici: every byte once and in order, in memory that isn't written again before the socket has sent it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { Pool } from 'undici';
import { certificate, certificateKey } from '@s3-accelerator/load/testing/tls-front.ts';
import { RequestBody } from './request-body.ts';

const kib = 1024;

/** Bytes that say where in a body they stand. */
function pattern(start: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += 1) bytes[at] = ((start + at) * 2654435761) >>> 24;
  return bytes;
}

/** A socket that keeps what it is given, as the kernel's caller does, and looks at the bytes only when they are due. */
class SlowSocket extends Writable {
  readonly pieces: number[] = [];
  received = 0;
  #due: (() => void) | null = null;

  constructor() {
    super({ highWaterMark: 64 * kib });
  }

  override _write(bytes: Buffer, _encoding: string, callback: () => void): void {
    this.#due = () => {
      assert.ok(bytes.equals(pattern(this.received, bytes.length)), `at ${this.received}`);
      this.received += bytes.length;
      this.pieces.push(bytes.length);
      callback();
    };
  }

  sendOne(): boolean {
    const due = this.#due;
    this.#due = null;
    due?.();
    return due !== null;
  }
}

/** What undici does with a stream: writes what comes, pauses it when the socket has enough, resumes it when that is sent. */
function carry(body: RequestBody, socket: SlowSocket): void {
  body.on('data', (bytes: Buffer) => {
    if (!socket.write(bytes)) body.pause();
  });
  body.on('end', () => socket.end());
  socket.on('drain', () => body.resume());
}

/** Writes `length` bytes as `sizes` has it, obeying the answers, while the socket sends at its pace. */
async function send(length: number, size: (at: number) => number): Promise<SlowSocket> {
  let drains = 0;
  const body = new RequestBody(length, () => (drains += 1));
  const socket = new SlowSocket();
  carry(body, socket);
  const input = Buffer.alloc(256 * kib);
  let held = false;
  for (let at = 0, seen = 0; at < length || !socket.writableFinished;) {
    if (held && drains > seen) held = false;
    seen = drains;
    for (let writes = 0; writes < 4 && !held && at < length; writes += 1) {
      const bytes = input.subarray(0, Math.min(size(at), length - at));
      bytes.set(pattern(at, bytes.length));
      held = !body.write(bytes);
      // The memory that bytes arrive in is used again at once.
      bytes.fill(0xee);
      at += bytes.length;
      if (at === length) body.end();
    }
    await nextTurn();
    socket.sendOne();
  }
  return socket;
}

describe('a body on its way', () => {
  for (const [what, length, size] of [
    ['large pieces', 3_000_001, () => 64 * kib],
    ['pieces of every size', 3_000_001, (at: number) => ((at * 7919) % 200_000) + 1],
    ['more than a block at once', 3_000_001, () => 200 * kib],
    ['small pieces', 60_000, () => 700],
    ['one byte', 1, () => 1],
  ] as const) {
    test(`arrives whole and in order: ${what}`, async () => {
      const socket = await send(length, size);
      assert.equal(socket.received, length);
    });
  }

  test('leaves in blocks while the socket is slower than the writer', async () => {
    const { pieces } = await send(2048 * kib, () => 16 * kib);
    assert.ok(pieces.length <= 2048 / 64, `${pieces.length} pieces`);
  });

  test('of a few small pieces in one turn leaves at once', async () => {
    const { pieces } = await send(3 * 700, () => 700);
    assert.deepEqual(pieces, [2100]);
  });

  test('that is given up frees what waits, and takes no more', async () => {
    const body = new RequestBody(1024 * kib, () => assert.fail('drained'));
    while (body.write(pattern(0, 64 * kib))) assert.ok(body.readableLength === 0);
    body.destroy();
    await once(body, 'close');
    assert.equal(body.write(pattern(0, 1)), false);
  });

  test('through a socket that never asks for a pause is never written over', async () => {
    const length = 4096 * kib;
    const body = new RequestBody(length, () => undefined);
    const kept: Buffer[] = [];
    body.on('data', (bytes: Buffer) => kept.push(bytes));
    for (let at = 0; at < length; at += 128 * kib) {
      body.write(pattern(at, 128 * kib));
      await nextTurn();
      await nextTurn();
    }
    body.end();
    await once(body, 'end');
    assert.ok(Buffer.concat(kept).equals(pattern(0, length)));
  });
});

describe('a body that undici carries to an origin that takes its time', () => {
  for (const [name, createServer] of [
    ['http', (take: http.RequestListener) => http.createServer(take)],
    [
      'https',
      (take: http.RequestListener) =>
        https.createServer({ cert: certificate, key: certificateKey }, take),
    ],
  ] as const) {
    test(`arrives as it was written, by ${name}`, async () => {
      const length = 16 * 1024 * kib + 1;
      let received = 0;
      const server = createServer((incoming, answer) => {
        void (async () => {
          for await (const bytes of incoming as AsyncIterable<Buffer>) {
            assert.ok(bytes.equals(pattern(received, bytes.length)), `at ${received}`);
            received += bytes.length;
            if (received % 7 === 0) await sleep(2);
          }
          answer.end();
        })().catch((error: unknown) => {
          answer.destroy(error as Error);
        });
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const pool = new Pool(`${name}://127.0.0.1:${port}`, {
        connect: { ca: certificate, servername: 'localhost' },
      });
      let written = 0;
      const input = Buffer.alloc(100 * kib);
      const fill = (): void => {
        for (let room = true; room && written < length;) {
          const bytes = input.subarray(0, Math.min(input.length, length - written));
          bytes.set(pattern(written, bytes.length));
          written += bytes.length;
          room = body.write(bytes);
        }
        if (written === length) body.end();
      };
      const body = new RequestBody(length, () => setImmediate(fill));
      fill();
      const headers = { 'content-length': String(length) };
      try {
        const { statusCode } = await pool.request({ method: 'PUT', path: '/', headers, body });
        assert.equal(statusCode, 200);
        assert.equal(received, length);
      } finally {
        await pool.destroy();
        server.close();
      }
    });
  }
});
