/**
 * A gateway's peers and a node's link server on two reactors of one process, for tests: real sockets, a node that
 * answers as the test says, and a client whose reading the test controls.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import { newReadRequest, type ReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import type { ConnectionId, ReactorOptions } from '@s3-accelerator/native/reactor.ts';
import { nobody, Reactor } from '@s3-accelerator/native/reactor.ts';
import type { Log } from '../../log.ts';
import { FaultLog } from '../../log.ts';
import type { ForwardPort } from '../../passthrough/forward.ts';
import type { LinkServerOptions, PeerOptions } from '../link-options.ts';
import { defaultLinkServerOptions, defaultPeerOptions } from '../link-options.ts';
import { LinkServer } from '../link-server.ts';
import { Peers } from '../peers.ts';
import type { PeerEvents } from '../reads.ts';
import type { NodeReads } from '../served-reads.ts';

export const testSecret = new Uint8Array(Buffer.from('a secret of the test cluster'));

/** Waits until a condition holds; fails after some seconds with what was waited for. */
export async function until(what: string, holds: () => boolean, timeoutMs = 10_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A log that keeps its lines. */
export class LogLines {
  readonly lines: string[] = [];
  readonly faults: FaultLog;

  constructor() {
    const keep = (_fields: object, message: string): void => {
      this.lines.push(message);
    };
    this.faults = new FaultLog({ warn: keep, error: keep } as unknown as Log);
  }

  count(part: string): number {
    return this.lines.filter((line) => line.includes(part)).length;
  }
}

/** A node that does what the test says. */
export class ScriptedNode implements NodeReads {
  readonly reads: { asker: number; kind: string; key: string; first: number; last: number }[] = [];
  readonly cancelled: number[] = [];
  readonly messages: NodeMessage[] = [];
  readonly sent: { token: number; errno: number }[] = [];
  answer: (asker: number, request: ReadRequest) => void = () => undefined;

  onRead(asker: number, request: ReadRequest): void {
    const { kind, key, first, last } = request;
    this.reads.push({ asker, kind, key, first, last });
    this.answer(asker, request);
  }

  onReadCancelled(asker: number): void {
    this.cancelled.push(asker);
  }

  onMessage(message: NodeMessage): void {
    this.messages.push(structuredClone(message));
  }

  onSent(token: number, errno: number): void {
    this.sent.push({ token, errno });
  }
}

/** What the peers told the core, and what the core does about it. */
export class Recorder implements PeerEvents {
  readonly answers: { read: number; answer: ReadAnswer }[] = [];
  readonly queued: number[] = [];
  readonly reached: number[] = [];
  bucketChanges = 0;
  readonly failed: { read: number; queuedBytes: number }[] = [];
  onEach: (read: number, answer: ReadAnswer) => void = () => undefined;

  onAnswer(read: number, answer: ReadAnswer): void {
    this.answers.push({ read, answer: { ...answer } });
    this.onEach(read, answer);
  }

  onBodyQueued(read: number): void {
    this.queued.push(read);
  }

  onBodyFailed(read: number, queuedBytes: number): void {
    this.failed.push({ read, queuedBytes });
  }

  onNodeReached(nodeId: number): void {
    this.reached.push(nodeId);
  }

  onBucketsChanged(): void {
    this.bucketChanges += 1;
  }

  /** The answer to a read, as 'metadata', 'bytes' or the kind of failure. */
  outcome(read: number): string | undefined {
    const found = this.answers.find((each) => each.read === read)?.answer;
    return found?.kind === 'failure' ? found.failure : found?.kind;
  }
}

/** A client of the gateway: its connection, and the other end in the test's hands. */
export class TestClient {
  readonly connection: ConnectionId;
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  length = 0;
  /** What becomes of bytes that arrive; they are kept for `bytes` unless this is replaced. */
  onChunk = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
  };

  constructor(connection: ConnectionId, socket: Socket) {
    this.connection = connection;
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.length += chunk.length;
      this.onChunk(chunk);
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

export interface ClusterOptions {
  readonly peer?: Partial<PeerOptions>;
  readonly server?: Partial<LinkServerOptions>;
  readonly gatewayReactor?: ReactorOptions;
  readonly forwardPort?: ForwardPort;
}

/** Answers a blocks read with bytes, all at once. */
export function answerBytes(server: LinkServer, asker: number, bytes: Uint8Array): void {
  server.reads.beginAnswer(asker, bytes.length);
  server.reads.continueAnswer(asker, bytes);
}

const noForwardPort: ForwardPort = {
  forward: () => {
    throw new Error('this node forwards nothing');
  },
};

export class Cluster {
  readonly gatewayReactor: Reactor;
  readonly nodeReactor: Reactor;
  readonly node = new ScriptedNode();
  readonly core = new Recorder();
  readonly gatewayLog = new LogLines();
  readonly nodeLog = new LogLines();
  readonly server: LinkServer;
  readonly port: number;
  readonly peers: Peers;
  readonly #sockets: Socket[] = [];

  constructor(options: ClusterOptions = {}) {
    const small: ReactorOptions = { inputBytes: 1 << 20, outputBytes: 1 << 20, maxPipes: 64 };
    this.gatewayReactor = new Reactor({ ...small, ...options.gatewayReactor });
    this.nodeReactor = new Reactor(small);
    this.server = new LinkServer(
      {
        reactor: this.nodeReactor,
        faults: this.nodeLog.faults,
        reads: this.node,
        forwardPort: options.forwardPort ?? noForwardPort,
      },
      { ...defaultLinkServerOptions, secret: testSecret, ...options.server },
    );
    this.port = this.server.listen('127.0.0.1', 0);
    this.peers = new Peers(
      this.gatewayReactor,
      { ...defaultPeerOptions, secret: testSecret, ...options.peer },
      this.gatewayLog.faults,
      this.core,
    );
    this.peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port: this.port }]);
  }

  async client(): Promise<TestClient> {
    let connection: ConnectionId | null = null;
    const { listener, port } = this.gatewayReactor.listen('127.0.0.1', 0, 1, (id) => {
      connection = id;
      return nobody;
    });
    const socket = connect(port, '127.0.0.1');
    this.#sockets.push(socket);
    await once(socket, 'connect');
    await until('the client is accepted', () => connection !== null);
    this.gatewayReactor.stopListening(listener);
    return new TestClient(connection!, socket);
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.peers.close();
    this.server.close();
    this.gatewayReactor.stop();
    this.nodeReactor.stop();
  }
}

/** A request for `length` bytes from `first` of a version. */
export function blocksRequest(first: number, length: number, key = 'key'): ReadRequest {
  const last = first + length - 1;
  return {
    ...newReadRequest(),
    kind: 'blocks',
    bucket: 'bucket',
    key,
    first,
    last,
    partLast: last,
    etag: '"e"',
    size: last + 1,
  };
}

export function lookupRequest(bodyLimit: number, key = 'key'): ReadRequest {
  return { ...blocksRequest(0, 1, key), kind: 'lookup', bodyLimit, etag: '', size: 0, last: 0 };
}

/** Bytes that differ at every position and from file to file. */
export function patternBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
}
