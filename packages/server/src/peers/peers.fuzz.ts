/**
 * Reads of random sizes to a node of random manners, with cancellations, dying clients and lost links in between.
 *
 * Whatever happens: each read hears exactly one answer and one end of its body, or nothing from its cancellation on; a client that
 * lives gets exactly its bytes; and at the end nothing is left on either side. Runs about two seconds; FUZZ_SECONDS makes
 * it longer, FUZZ_SEED picks the choices (what the kernel does in between differs from run to run).
 */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestClient } from './testing/cluster.ts';
import { answerBytes, blocksRequest, Cluster, patternBytes, until } from './testing/cluster.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fff_ffff);

const slabBytes = 2 * 1024 * 1024;
const sizes = [1, 500, 4096, 32 * 1024, 32 * 1024 + 1, 64 * 1024, 300_000, 1024 * 1024];

interface Asked {
  readonly first: number;
  readonly length: number;
  readonly client: ClientState;
  stage: 'asked' | 'held' | 'relaying';
}

/** A client and the bodies that were sent to it; arriving bytes are compared and forgotten. */
class ClientState {
  readonly client: TestClient;
  readonly expected: Buffer[] = [];
  /** Bodies on their way to it: one at a time, as the core has it, since what follows one that breaks off would come in its place. */
  relaying = 0;
  dead = false;

  constructor(client: TestClient) {
    this.client = client;
    client.onChunk = (chunk): void => {
      this.#compare(chunk);
    };
  }

  #compare(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.dead;) {
      const next = this.expected.shift();
      assert.ok(next !== undefined, 'a client gets only what was sent to it');
      const length = Math.min(next.length, chunk.length - at);
      assert.ok(next.subarray(0, length).equals(chunk.subarray(at, at + length)));
      if (length < next.length) this.expected.unshift(next.subarray(length));
      at += length;
    }
  }
}

let state = seed >>> 0;
function random(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 0x1_0000_0000) * limit);
}

const oneIn = (chances: number): boolean => random(chances) === 0;

class Fuzz {
  readonly slab = patternBytes(slabBytes);
  readonly cluster = new Cluster({
    peer: {
      exclusiveLinks: 3,
      maxReads: 200,
      maxWaiting: 20,
      pingMs: 100,
      minBackoffMs: 1,
      maxBackoffMs: 5,
    },
    server: { maxReads: 150 },
  });
  readonly asked = new Map<number, Asked>();
  clients: ClientState[] = [];
  readonly #file: number;
  #nextRead = 1;
  #token = 0;
  answers = 0;
  bodies = 0;

  constructor(file: number) {
    this.#file = file;
    const { core, node } = this.cluster;
    core.onAnswer = (read, { kind, bodyLength }): void => {
      const asked = this.#expect(read, 'asked');
      this.answers += 1;
      if (kind === 'failure') {
        this.asked.delete(read);
        return;
      }
      assert.equal(bodyLength, asked.length);
      if (oneIn(20)) this.cancel(read);
      else if (oneIn(5) || asked.client.relaying > 0) asked.stage = 'held';
      else this.relay(read, asked);
    };
    core.onBodyQueued = (read): void => {
      this.#expect(read, 'relaying').client.relaying -= 1;
      this.asked.delete(read);
      this.bodies += 1;
    };
    core.onBodyFailed = (read, queuedBytes): void => {
      const { client, length } = this.#expect(read, 'relaying');
      assert.ok(queuedBytes < length);
      this.asked.delete(read);
      this.kill(client);
    };
    node.onRead = (asker, { first, last }): void => this.answer(asker, first, last - first + 1);
    node.onReadCancelled = (): void => undefined;
  }

  #expect(read: number, stage: Asked['stage']): Asked {
    const asked = this.asked.get(read);
    assert.ok(asked !== undefined, `read ${read} is over`);
    assert.equal(asked.stage, stage);
    return asked;
  }

  send(): void {
    const alive = this.clients.filter(({ dead }) => !dead);
    const client = alive[random(alive.length)];
    if (client === undefined) return;
    const length = sizes[random(sizes.length)]!;
    const first = random(slabBytes - length);
    const read = this.#nextRead++;
    this.asked.set(read, { first, length, client, stage: 'asked' });
    this.cluster.peers.sendRead(read, 1, blocksRequest(first, length));
  }

  relay(read: number, asked: Asked): void {
    asked.stage = 'relaying';
    const { first, length, client } = asked;
    client.relaying += 1;
    if (!client.dead) client.expected.push(this.slab.subarray(first, first + length));
    this.cluster.peers.relayBody(read, client.client.connection);
  }

  relayIfHeld(read: number, asked: Asked): void {
    const { stage, client } = asked;
    if (stage === 'held' && (client.dead || client.relaying === 0)) this.relay(read, asked);
  }

  /** Cancels a read. One whose body is on its way leaves its client with an unknown part of it, so the client goes too. */
  cancel(read: number): void {
    const { stage, client } = this.asked.get(read)!;
    this.asked.delete(read);
    this.cluster.peers.cancelRead(read);
    if (stage === 'relaying') this.kill(client);
  }

  kill(client: ClientState): void {
    if (client.dead) return;
    client.dead = true;
    this.cluster.gatewayReactor.reset(client.client.connection);
  }

  answer(asker: number, first: number, length: number): void {
    const { server } = this.cluster;
    const bytes = this.slab.subarray(first, first + length);
    switch (random(9)) {
      case 0:
        server.reads.answerFailure(asker, 'changed', null);
        break;
      case 1:
        answerBytes(server, asker, bytes);
        break;
      case 2:
        this.#answerInPieces(asker, bytes);
        break;
      case 3:
        setTimeout(() => this.answer(asker, first, length), random(20));
        break;
      default:
        server.reads.answerBytesFromFile(asker, this.#file, first, length, ++this.#token);
    }
  }

  #answerInPieces(asker: number, bytes: Uint8Array): void {
    const { server } = this.cluster;
    const breaksOff = oneIn(10);
    let at = 0;
    server.reads.beginAnswer(asker, bytes.length);
    const next = (): void => {
      if (breaksOff && at > bytes.length / 2) {
        server.reads.abortAnswer(asker);
        return;
      }
      const piece = bytes.subarray(at, at + 1 + random(100_000));
      at += piece.length;
      server.reads.continueAnswer(asker, piece);
      if (at < bytes.length) setImmediate(next);
    };
    next();
  }

  async step(): Promise<void> {
    for (let count = random(12); count > 0; count--) this.send();
    for (const [read, asked] of [...this.asked]) {
      if (oneIn(60)) this.cancel(read);
      else if (oneIn(4)) this.relayIfHeld(read, asked);
    }
    for (const client of this.clients) {
      const { socket } = client.client;
      if (oneIn(30)) socket.pause();
      else if (oneIn(4)) socket.resume();
      if (!client.dead && oneIn(400)) this.kill(client);
      if (!client.dead && oneIn(400)) {
        client.dead = true;
        socket.resetAndDestroy();
      }
    }
    if (oneIn(150)) {
      // Every link goes, and the node comes back at once.
      this.cluster.server.close();
      const port = this.cluster.server.listen('127.0.0.1', 0);
      this.cluster.peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port }]);
    }
    const alive = this.clients.filter(({ dead }) => !dead).length;
    if (alive < 5) {
      this.clients = this.clients.filter(({ dead }) => !dead);
      this.clients.push(new ClientState(await this.cluster.client()));
    }
    if (oneIn(3)) await new Promise((resolve) => setTimeout(resolve, random(8)));
    else await new Promise((resolve) => setImmediate(resolve));
  }

  async settle(): Promise<void> {
    const { peers, server } = this.cluster;
    for (const { client } of this.clients) client.socket.resume();
    await until('every read is over', () => {
      for (const [read, asked] of this.asked) {
        this.relayIfHeld(read, asked);
      }
      return this.asked.size === 0;
    });
    await until('nothing is left at the gateway', () => peers.readsUnderWay === 0);
    await until('nor at the node', () => server.reads.underWay === 0);
    await until('every send was told', () => this.cluster.node.sent.length === this.#token);
    const tokens = new Set(this.cluster.node.sent.map(({ token }) => token));
    assert.equal(tokens.size, this.#token);
    for (const client of this.clients) {
      await until('a client has its bytes', () => client.dead || client.expected.length === 0);
    }
    assert.deepEqual(
      this.cluster.gatewayLog.lines.filter((line) => line.includes('protocol')),
      [],
    );
  }
}

test(`reads survive whatever happens (seed ${seed})`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'peers-fuzz-'));
  const path = join(directory, 'slab');
  writeFileSync(path, patternBytes(slabBytes));
  const file = openSync(path, 'r');
  const fuzz = new Fuzz(file);
  try {
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) await fuzz.step();
    await fuzz.settle();
    assert.ok(fuzz.answers > 100 && fuzz.bodies > 50, `only ${fuzz.answers} answers`);
  } finally {
    fuzz.cluster.stop();
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
});
