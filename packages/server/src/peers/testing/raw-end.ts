/**
 * One end of a link on a plain socket, for tests: does the handshake properly and then lets the test write any bytes.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import {
  decodeFrameHeader,
  frameHeaderBytes,
  newFrameHeader,
} from '@s3-accelerator/protocol/frame.ts';
import type { LinkPurpose } from '@s3-accelerator/protocol/handshake.ts';
import type { Handshake } from '../link-handshake.ts';
import { AnsweringHandshake, AskingHandshake } from '../link-handshake.ts';
import { testSecret } from './cluster.ts';

export interface RawFrame {
  readonly type: number;
  readonly requestId: number;
  readonly payload: Buffer;
}

export class RawEnd {
  readonly socket: Socket;
  readonly frames: RawFrame[] = [];
  open = false;
  closed = false;
  purpose: LinkPurpose | null = null;
  onFrame: (frame: RawFrame) => void = () => undefined;
  readonly #handshake: Handshake;
  #pending = Buffer.alloc(0);

  constructor(socket: Socket, handshake: Handshake) {
    this.socket = socket;
    this.#handshake = handshake;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('data', (chunk) => {
      this.#pending = Buffer.concat([this.#pending, chunk]);
      while (this.#passFrame());
    });
    const first = handshake.begin();
    if (first !== null) socket.write(first);
  }

  /** Connects to a link server. */
  static ask(port: number, purpose: LinkPurpose): RawEnd {
    const socket = connect(port, '127.0.0.1');
    return new RawEnd(socket, new AskingHandshake(testSecret, purpose));
  }

  #passFrame(): boolean {
    const header = newFrameHeader();
    const bytes = this.#pending;
    if (bytes.length < frameHeaderBytes || decodeFrameHeader(bytes, 0, header) !== null)
      return false;
    const end = frameHeaderBytes + header.payloadLength;
    if (bytes.length < end) return false;
    if (this.open) {
      const { type, requestId } = header;
      const frame = { type, requestId, payload: bytes.subarray(frameHeaderBytes, end) };
      this.frames.push(frame);
      this.onFrame(frame);
    } else {
      const { send, outcome } = this.#handshake.onFrame(header, bytes, frameHeaderBytes, end);
      if (send !== null) this.socket.write(send);
      this.open = outcome.kind === 'open';
      if (outcome.kind === 'open') this.purpose = outcome.purpose;
    }
    this.#pending = bytes.subarray(Math.min(bytes.length, end + header.bodyLength));
    return true;
  }
}

/** A node on plain sockets: every link that is opened to it is handed to the test. */
export async function rawNode(
  onEnd: (end: RawEnd) => void,
): Promise<{ readonly port: number; readonly close: () => void }> {
  const ends: RawEnd[] = [];
  const server = createServer((socket) => {
    const end = new RawEnd(socket, new AnsweringHandshake(testSecret));
    ends.push(end);
    onEnd(end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    for (const { socket } of ends) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
