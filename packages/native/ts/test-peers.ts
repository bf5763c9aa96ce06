/** What the native tests share: an owner that writes down what happened, peers on plain node:net, files of known bytes. */
import assert from 'node:assert/strict';
import { mkdtempSync, openSync, rmSync, writeFileSync, fsyncSync, closeSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { Arena } from './native.ts';
import { Reactor } from './reactor.ts';
import type { ConnectionId, ConnectionOwner, ReactorOptions } from './reactor.ts';

const patienceMs = 20_000;

/** Resolves once the condition holds; it is asked again every few milliseconds. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  const giveUp = Date.now() + patienceMs;
  while (!condition()) {
    if (Date.now() > giveUp) assert.fail(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Long enough for anything that is wrongly under way to show. */
export function settle(milliseconds = 60): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Writes down everything that happens on a connection; tests add behaviour through the two hooks. */
export class Recorder implements ConnectionOwner {
  id = 0 as ConnectionId;
  connected: number | null = null;
  ended = 0;
  closed: { reason: number; errno: number } | null = null;
  readonly sent: { token: number; errno: number }[] = [];
  readonly relayed: { token: number; status: number; missing: number }[] = [];
  /** The order of events, by name. */
  readonly order: string[] = [];
  receivedBytes = 0;
  onBytes: ((id: ConnectionId, start: number, length: number) => void) | null = null;
  onEnd: ((id: ConnectionId) => void) | null = null;
  readonly #reactor: Reactor;
  readonly #chunks: Buffer[] = [];

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  tokens(): number[] {
    return this.sent.map((sent) => sent.token);
  }

  onConnected(id: ConnectionId, errno: number): void {
    this.id = id;
    this.connected = errno;
    this.order.push('connected');
  }

  onReceived(id: ConnectionId, start: number, length: number): void {
    this.order.push('received');
    this.receivedBytes += length;
    this.#chunks.push(Buffer.from(this.#reactor.input.subarray(start, start + length)));
    this.onBytes?.(id, start, length);
  }

  onEnded(id: ConnectionId): void {
    this.ended++;
    this.order.push('ended');
    this.onEnd?.(id);
  }

  onClosed(_id: ConnectionId, reason: number, errno: number): void {
    assert.equal(this.closed, null, 'closed comes once');
    this.closed = { reason, errno };
    this.order.push('closed');
  }

  onRelayed(_id: ConnectionId, token: number, status: number, missing: number): void {
    this.relayed.push({ token, status, missing });
    this.order.push('relayed');
  }

  onSent(_id: ConnectionId, token: number, errno: number): void {
    this.sent.push({ token, errno });
    this.order.push('sent');
  }
}

/** Makes an owner send back what arrives, and close after the peer's end. */
export function echo(reactor: Reactor): (owner: Recorder) => void {
  return (owner) => {
    owner.onBytes = (id, start, length) => {
      reactor.write(id, Arena.input, start, length);
    };
    owner.onEnd = (id) => {
      reactor.close(id);
    };
  };
}

/** A reactor that is stopped when the test ends. */
export function startReactor(context: TestContext, options: ReactorOptions = {}): Reactor {
  const reactor = new Reactor({ readThreads: 2, writeThreads: 1, ...options });
  context.after(() => {
    reactor.stop();
  });
  return reactor;
}

/** A listening reactor; `accepted` holds the owner of each connection in order. */
export function listen(
  reactor: Reactor,
  prepare: (owner: Recorder) => void = () => undefined,
): { port: number; accepted: Recorder[] } {
  const accepted: Recorder[] = [];
  const { port } = reactor.listen('127.0.0.1', 0, 1024, (id) => {
    const owner = new Recorder(reactor);
    owner.id = id;
    accepted.push(owner);
    prepare(owner);
    return owner;
  });
  return { port, accepted };
}

/** A client that reads only when asked to, and keeps what it read. */
export class Client {
  readonly socket: net.Socket;
  readonly chunks: Buffer[] = [];
  length = 0;
  ended = false;
  error: NodeJS.ErrnoException | null = null;

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => {
      this.chunks.push(chunk);
      this.length += chunk.length;
    });
    this.socket.on('end', () => (this.ended = true));
    this.socket.on('error', (error) => (this.error = error));
  }

  bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

/** Connects a client to a listening reactor and returns it with its owner on the other side. */
export async function connectClient(
  context: TestContext,
  { port, accepted }: { port: number; accepted: Recorder[] },
  paused = false,
): Promise<{ client: Client; owner: Recorder }> {
  const before = accepted.length;
  const client = new Client(port);
  context.after(() => client.socket.destroy());
  if (paused) client.socket.pause();
  await eventually('an accepted connection', () => accepted.length > before);
  return { client, owner: accepted[before]! };
}

/** Bytes that differ at every place, so that a shifted or repeated piece shows. */
export function pattern(length: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = (seed * 2654435761) >>> 0 || 1;
  for (let i = 0; i + 4 <= length; i += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, i);
  }
  bytes.fill(seed & 255, length - (length % 4));
  return bytes;
}

/** A folder of its own on the disk of the temporary files, removed when the test ends. */
export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 's3-accelerator-native-'));
  context.after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A file of known bytes, written through to the disk, and a descriptor that reads it. */
export function fileOf(context: TestContext, bytes: Buffer): { descriptor: number; path: string } {
  const path = join(temporaryFolder(context), 'bytes');
  writeFileSync(path, bytes);
  const descriptor = openSync(path, 'r+');
  fsyncSync(descriptor);
  context.after(() => {
    closeSync(descriptor);
  });
  return { descriptor, path };
}

/** Compares without printing megabytes when it fails. */
export function assertSameBytes(actual: Buffer, expected: Buffer): void {
  assert.equal(actual.length, expected.length, 'lengths differ');
  let at = 0;
  if (!actual.equals(expected)) while (actual[at] === expected[at]) at++;
  assert.ok(actual.equals(expected), `bytes differ from ${at} on`);
}

/** Queues text as one write. */
export function writeText(reactor: Reactor, id: ConnectionId, text: string, token = 0): void {
  reactor.writeBytes(id, Buffer.from(text), token);
}
