/**
 * A forward port that tells the node of the writes that pass through it, before they go to S3 and again when their outcome is
 * known: metadata from before a write is dropped, and a first fetch that it overtook isn't kept.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type {
  ForwardPort,
  Forwarding,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';
import type { NodeDriver } from './node-driver.ts';

/** What of a node hears of writes. */
export type NoticedNode = Pick<NodeDriver, 'hashOf' | 'onWrite'>;

export class WriteNotice implements ForwardPort {
  readonly #port: ForwardPort;
  readonly #driver: NoticedNode;

  constructor(port: ForwardPort, driver: NoticedNode) {
    this.#port = port;
    this.#driver = driver;
  }

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const { bucket, key, method } = request;
    if (key === '' || method === 'GET' || method === 'HEAD')
      return this.#port.forward(request, sink);
    const hash = this.#driver.hashOf(bucket, key);
    this.#driver.onWrite(hash, 'started');
    const forwarding = this.#port.forward(request, new NoticingSink(sink, this.#driver, hash));
    return {
      write: (bytes) => forwarding.write(bytes),
      end: () => {
        forwarding.end();
      },
      abort: () => {
        forwarding.abort();
        this.#driver.onWrite(hash, 'finished');
      },
      pause: () => {
        forwarding.pause();
      },
      resume: () => {
        forwarding.resume();
      },
    };
  }
}

/** Passes everything on, and tells the node before the client can hear of the write. */
class NoticingSink implements ForwardSink {
  readonly #sink: ForwardSink;
  readonly #driver: NoticedNode;
  readonly #hash: Hash128;

  constructor(sink: ForwardSink, driver: NoticedNode, hash: Hash128) {
    this.#sink = sink;
    this.#driver = driver;
    this.#hash = hash;
  }

  onHead(status: number, headers: string[]): void {
    this.#finished();
    this.#sink.onHead(status, headers);
  }

  onBody(bytes: Uint8Array): void {
    this.#sink.onBody(bytes);
  }

  onEnd(): void {
    // Complete and copy say in their body, after the head, how they went.
    this.#finished();
    this.#sink.onEnd();
  }

  onFailed(error: { code: string; message: string }): void {
    this.#finished();
    this.#sink.onFailed(error);
  }

  onDrain(): void {
    this.#sink.onDrain();
  }

  #finished(): void {
    this.#driver.onWrite(this.#hash, 'finished');
  }
}
