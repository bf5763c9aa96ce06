/**
 * A server for tests of method: it answers GETs of a dataset's objects with the right bytes, counts what it sees by its own
 * clock, and does as little else as it can. It checks no signature.
 */
import type { ConnectionId, ConnectionOwner } from '@s3-accelerator/native/reactor.ts';
import { Reactor, nobody } from '@s3-accelerator/native/reactor.ts';
import { writeContent } from '../dataset/content.ts';
import { Dataset } from '../dataset/dataset.ts';
import type { DatasetPlan } from '../plan/plan.ts';

const headEnd = Buffer.from('\r\n\r\n');
const requestLine = /^GET \/[^/ ]+\/(\S*) /;
const rangeHeader = /\r\nrange: bytes=(\d+)-(\d+)\r\n/;

export class CountingServer {
  readonly port: number;
  /** Answered requests, and the bytes of their bodies. */
  requests = 0;
  bytes = 0;
  /** From a request's arrival until its answer was handed to the kernel, over all requests, in milliseconds. */
  heldMs = 0;
  readonly #reactor = new Reactor();
  readonly #dataset: Dataset;
  readonly #delayMs: number;

  constructor(plan: DatasetPlan, delayMs = 0) {
    this.#dataset = new Dataset(plan);
    this.#delayMs = delayMs;
    const owner: ConnectionOwner = {
      ...nobody,
      onReceived: (id, start, length) => this.#received(id, start, length),
      onEnded: (id) => this.#reactor.close(id),
    };
    this.port = this.#reactor.listen('127.0.0.1', 0, 1024, () => owner).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  clear(): void {
    this.requests = 0;
    this.bytes = 0;
    this.heldMs = 0;
  }

  stop(): void {
    this.#reactor.stop();
  }

  #received(id: ConnectionId, start: number, length: number): void {
    const bytes = this.#reactor.inputBuffer.subarray(start, start + length);
    const end = bytes.indexOf(headEnd);
    if (end < 0) {
      this.#reactor.retain(id, start, length);
      return;
    }
    const answer = this.#answerTo(bytes.toString('latin1', 0, end + 2));
    if (this.#delayMs === 0) this.#send(id, answer, performance.now());
    else setTimeout(this.#send.bind(this, id, answer, performance.now()), this.#delayMs);
  }

  #answerTo(head: string): Buffer {
    const key = requestLine.exec(head)?.[1] ?? '';
    const object = Number(key.slice(this.#dataset.prefix.length));
    if (!key.startsWith(this.#dataset.prefix) || !(object < this.#dataset.objects)) {
      return Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    }
    const size = this.#dataset.size(object);
    const range = rangeHeader.exec(head);
    const first = range === null ? 0 : Number(range[1]);
    const length = range === null ? size : Number(range[2]) - first + 1;
    const content =
      range === null ? '' : `content-range: bytes ${first}-${first + length - 1}/${size}\r\n`;
    const status = range === null ? '200 OK' : '206 Partial Content';
    const text = `HTTP/1.1 ${status}\r\ncontent-length: ${length}\r\n${content}\r\n`;
    const answer = Buffer.allocUnsafe(text.length + length);
    answer.write(text, 'latin1');
    const identity = this.#dataset.identity(object);
    writeContent(identity, first, answer, text.length, answer.length);
    this.bytes += length;
    return answer;
  }

  #send(id: ConnectionId, answer: Buffer, arrivedAt: number): void {
    this.requests++;
    this.heldMs += performance.now() - arrivedAt;
    this.#reactor.writeBytes(id, answer);
  }
}
