import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type {
  Forwarding,
  ForwardPort,
  ForwardRequest,
  ForwardSink,
} from '../passthrough/forward.ts';
import { AskedForward } from './asked-forward.ts';
import { Cluster, patternBytes, until } from './testing/cluster.ts';

const mebibyte = 1024 * 1024;

/** What leads to the origin, in the test's hands. */
class TestOrigin implements ForwardPort {
  readonly exchanges: OriginExchange[] = [];
  onEach: (exchange: OriginExchange) => void = () => undefined;
  /** What `write` returns. */
  open = true;

  forward(request: ForwardRequest, sink: ForwardSink): Forwarding {
    const exchange = new OriginExchange(request, sink, this);
    this.exchanges.push(exchange);
    this.onEach(exchange);
    return exchange;
  }
}

class OriginExchange implements Forwarding {
  readonly request: ForwardRequest;
  readonly sink: ForwardSink;
  readonly #origin: TestOrigin;
  readonly chunks: Buffer[] = [];
  received = 0;
  ended = false;
  aborted = false;
  paused = false;
  onResume: () => void = () => undefined;
  onEnded: () => void = () => undefined;
  keep = true;

  constructor(request: ForwardRequest, sink: ForwardSink, origin: TestOrigin) {
    this.request = request;
    this.sink = sink;
    this.#origin = origin;
  }

  write(bytes: Uint8Array): boolean {
    this.received += bytes.length;
    if (this.keep) this.chunks.push(Buffer.from(bytes));
    return this.#origin.open;
  }

  end(): void {
    this.ended = true;
    this.onEnded();
  }

  abort(): void {
    this.aborted = true;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.onResume();
  }
}

/** What the gateway's client gets. */
class TestSink implements ForwardSink {
  status = 0;
  headers: string[] = [];
  readonly chunks: Buffer[] = [];
  received = 0;
  ended = false;
  failure: { code: string; message: string } | null = null;
  drained = 0;
  keep = true;
  onDrained: () => void = () => undefined;

  onHead(status: number, headers: string[]): void {
    this.status = status;
    this.headers = headers;
  }

  onBody(bytes: Uint8Array): void {
    this.received += bytes.length;
    if (this.keep) this.chunks.push(Buffer.from(bytes));
  }

  onEnd(): void {
    this.ended = true;
  }

  onFailed(error: { code: string; message: string }): void {
    this.failure = error;
  }

  onDrain(): void {
    this.drained += 1;
    this.onDrained();
  }

  get over(): boolean {
    return this.ended || this.failure !== null;
  }
}

function request(bodyLength: number | null, key = 'k\xff'): ForwardRequest {
  return {
    method: bodyLength === null ? 'GET' : 'PUT',
    bucket: 'b',
    key,
    target: '/b/k%ff//..?a=%2F+b',
    headers: ['Host', 'h', 'X-Amz-Meta-a', ' \xe9 ', 'x-amz-meta-A', ''],
    bodyLength,
  };
}

describe('passing requests through a node', () => {
  let origin: TestOrigin;
  let cluster: Cluster;
  beforeEach(() => {
    origin = new TestOrigin();
    cluster = new Cluster({ forwardPort: origin, peer: { forwardLinks: 2, idleMs: 2000 } });
  });
  afterEach(() => {
    cluster.stop();
  });

  function forward(asked: ForwardRequest, sink: TestSink): Forwarding {
    return new AskedForward(asked, sink, [cluster.peers.forwardWay(1)!]);
  }

  /** Links that carry requests: all but the one that is there for its pings. */
  async function forwardLinks(count: number): Promise<void> {
    await until(`${count} forward links`, () => cluster.server.links === count + 1);
  }

  function answer({ sink }: OriginExchange, status: number, body: string): void {
    sink.onHead(status, ['ETag', '"x"', 'Set-Cookie', 'a', 'Set-Cookie', 'b']);
    if (body !== '') sink.onBody(Buffer.from(body));
    sink.onEnd();
  }

  test('request and answer arrive byte for byte', async () => {
    origin.onEach = (exchange) => {
      exchange.onEnded = () => answer(exchange, 206, 'the answer');
    };
    const sink = new TestSink();
    const asked = request(10);
    const forwarding = forward(asked, sink);
    forwarding.write(Buffer.from('01234'));
    forwarding.write(Buffer.from('56789'));
    forwarding.end();
    await until('the answer', () => sink.over);
    assert.deepEqual(origin.exchanges[0]!.request, asked);
    assert.equal(Buffer.concat(origin.exchanges[0]!.chunks).toString(), '0123456789');
    assert.equal(sink.status, 206);
    assert.deepEqual(sink.headers, ['ETag', '"x"', 'Set-Cookie', 'a', 'Set-Cookie', 'b']);
    assert.equal(Buffer.concat(sink.chunks).toString(), 'the answer');
    assert.equal(sink.failure, null);
  });

  test('a link is used again for the next request', async () => {
    origin.onEach = (exchange) => {
      exchange.onEnded = () => answer(exchange, 204, '');
    };
    for (let count = 0; count < 5; count++) {
      const sink = new TestSink();
      forward(request(null), sink).end();
      await until('the answer', () => sink.ended);
      assert.equal(sink.status, 204);
      assert.equal(sink.received, 0);
    }
    await forwardLinks(1);
  });

  test('requests beyond the links wait their turn', async () => {
    const sinks = Array.from({ length: 5 }, () => new TestSink());
    for (const sink of sinks) forward(request(null), sink).end();
    await until('two requests', () => origin.exchanges.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(origin.exchanges.length, 2);
    origin.onEach = (exchange) => {
      exchange.onEnded = () => answer(exchange, 200, 'x');
    };
    for (const exchange of origin.exchanges) answer(exchange, 200, 'x');
    await until('all answers', () => sinks.every(({ ended }) => ended));
    await forwardLinks(2);
  });

  test('a full line fails with SlowDown, and an aborted request leaves the line', async () => {
    const tight = new Cluster({ forwardPort: origin, peer: { forwardLinks: 1, maxWaiting: 2 } });
    const ways = [tight.peers.forwardWay(1)!];
    const first = new AskedForward(request(null), new TestSink(), ways);
    new AskedForward(request(null), new TestSink(), ways).end();
    const refused = new TestSink();
    new AskedForward(request(null), refused, ways).end();
    assert.equal(refused.failure, null, 'never during the call');
    first.abort();
    const taken = new TestSink();
    new AskedForward(request(null, 'last'), taken, ways).end();
    await until('the refusal', () => refused.failure !== null);
    assert.equal(refused.failure!.code, 'SlowDown');
    await until('the second request', () => origin.exchanges.length === 1);
    assert.equal(taken.failure, null);
    tight.stop();
  });

  test('a failure at the node comes as one, also in the middle of an answer', async () => {
    origin.onEach = (exchange) => {
      exchange.onEnded = () => {
        if (origin.exchanges.length > 1) exchange.sink.onHead(200, []);
        exchange.sink.onFailed({ code: 'ServiceUnavailable', message: 'no origin' });
      };
    };
    for (const status of [0, 200]) {
      const sink = new TestSink();
      forward(request(null), sink).end();
      await until('the failure', () => sink.failure !== null);
      assert.deepEqual(sink.failure, { code: 'ServiceUnavailable', message: 'no origin' });
      assert.equal(sink.status, status);
      assert.equal(sink.ended, false);
    }
    await forwardLinks(1);
  });

  test('an answer before the body’s end closes the link once it is delivered', async () => {
    origin.onEach = (exchange) => {
      queueMicrotask(() => answer(exchange, 403, 'denied'));
    };
    const sink = new TestSink();
    const forwarding = forward(request(mebibyte), sink);
    forwarding.write(Buffer.alloc(1000));
    await until('the answer', () => sink.ended);
    assert.equal(Buffer.concat(sink.chunks).toString(), 'denied');
    assert.equal(forwarding.write(Buffer.alloc(1000)), true);
    forwarding.end();
    await forwardLinks(0);
    assert.equal(origin.exchanges[0]!.ended, false);
  });

  test('an abort in the middle of the body reaches the origin as an abort', async () => {
    const sink = new TestSink();
    const forwarding = forward(request(mebibyte), sink);
    forwarding.write(Buffer.alloc(100_000));
    await until('some bytes', () => (origin.exchanges[0]?.received ?? 0) === 100_000);
    forwarding.abort();
    await until('the abort', () => origin.exchanges[0]!.aborted);
    assert.equal(origin.exchanges[0]!.ended, false);
    assert.equal(sink.over, false, 'nothing follows an abort');
    await forwardLinks(0);
  });

  test('an abort while the node isn’t reading is noticed too', async () => {
    origin.open = false;
    const forwarding = forward(request(10 * mebibyte), new TestSink());
    forwarding.write(Buffer.alloc(mebibyte));
    await until('some bytes', () => (origin.exchanges[0]?.received ?? 0) > 0);
    forwarding.abort();
    await until('the abort', () => origin.exchanges[0]!.aborted);
    assert.equal(origin.exchanges[0]!.ended, false);
  });

  test('a body that is shorter or longer than promised is never completed', async () => {
    for (const bytes of [5, 11]) {
      const sink = new TestSink();
      const forwarding = forward(request(10), sink);
      forwarding.write(Buffer.alloc(bytes));
      forwarding.end();
      await until('the failure', () => sink.failure !== null);
      const exchange = origin.exchanges.at(-1)!;
      assert.equal(exchange.ended, false);
      assert.equal(exchange.aborted, true);
    }
    assert.equal(cluster.nodeLog.count('mismatch'), 1);
  });

  test('a node that goes away fails the request', async () => {
    const sink = new TestSink();
    forward(request(null), sink).end();
    await until('the request', () => origin.exchanges.length === 1);
    cluster.server.close();
    await until('the failure', () => sink.failure !== null);
    assert.equal(sink.failure!.code, 'ServiceUnavailable');
    assert.equal(origin.exchanges[0]!.aborted, true);
  });

  test('a node that can’t be reached fails the request', async () => {
    cluster.server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const sink = new TestSink();
    const forwarding = forward(request(10), sink);
    assert.equal(forwarding.write(Buffer.alloc(10)), false);
    await until('the failure', () => sink.failure !== null);
    assert.equal(sink.failure!.code, 'ServiceUnavailable');
    assert.equal(forwarding.write(Buffer.alloc(10)), true);
  });

  test('a head too long for a frame is refused by name, and the link serves on', async () => {
    const sink = new TestSink();
    forward({ ...request(null), headers: ['a', 'x'.repeat(200_000)] }, sink).end();
    await until('the failure', () => sink.failure !== null);
    assert.equal(sink.failure!.code, 'RequestHeaderSectionTooLarge');
    origin.onEach = (exchange) => {
      exchange.onEnded = () => answer(exchange, 200, 'x');
    };
    const next = new TestSink();
    forward(request(null), next).end();
    await until('the next answer', () => next.ended);
  });

  test('an origin that can’t take more holds the writer, with little in between', async () => {
    origin.open = false;
    const sink = new TestSink();
    const forwarding = forward(request(64 * mebibyte), sink);
    const piece = Buffer.alloc(64 * 1024);
    let written = 0;
    const fill = (): void => {
      while (written < 64 * mebibyte) {
        written += piece.length;
        if (!forwarding.write(piece)) return;
      }
    };
    sink.onDrained = fill;
    fill();
    await until('the node holds', () => (origin.exchanges[0]?.received ?? 0) > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const held = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(written, held);
    assert.ok(held < 16 * mebibyte, `${held} bytes were taken though nobody reads`);
    const [exchange] = origin.exchanges;
    exchange!.keep = false;
    origin.open = true;
    exchange!.sink.onDrain();
    await until('all bytes', () => exchange!.received === 64 * mebibyte);
  });

  test('a client that can’t take more holds the origin, with little in between', async () => {
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024);
    origin.onEach = (exchange) => {
      const pump = (): void => {
        while (!exchange.paused && sent < 64 * mebibyte) {
          sent += piece.length;
          exchange.sink.onBody(piece);
        }
        if (sent === 64 * mebibyte && !exchange.paused) {
          sent += 1;
          exchange.sink.onEnd();
        }
      };
      exchange.onResume = pump;
      exchange.onEnded = () => {
        exchange.sink.onHead(200, []);
        pump();
      };
    };
    const sink = new TestSink();
    sink.keep = false;
    const forwarding = forward(request(null), sink);
    forwarding.pause();
    forwarding.end();
    await until('the origin began', () => sent > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(sink.received, 0);
    assert.ok(sent < 16 * mebibyte, `${sent} bytes were taken though nobody reads`);
    forwarding.resume();
    await until('all bytes', () => sink.ended);
    assert.equal(sink.received, 64 * mebibyte);
  });

  test('200 MB each way at once take constant memory', async () => {
    const total = 200 * 1_000_000;
    const piece = patternBytes(100_000);
    origin.onEach = (exchange) => {
      exchange.keep = false;
      let sent = 0;
      const pump = (): void => {
        if (sent === 0) exchange.sink.onHead(200, []);
        while (!exchange.paused && sent < total) {
          sent += piece.length;
          exchange.sink.onBody(piece);
        }
        if (sent === total && exchange.ended) exchange.sink.onEnd();
      };
      exchange.onResume = pump;
      exchange.onEnded = () => {
        if (sent === total) exchange.sink.onEnd();
      };
      queueMicrotask(pump);
    };
    const sink = new TestSink();
    sink.keep = false;
    const forwarding = forward(request(total), sink);
    let written = 0;
    let highest = 0;
    const before = process.memoryUsage().rss;
    const fill = (): void => {
      highest = Math.max(highest, process.memoryUsage().rss - before);
      while (written < total) {
        written += piece.length;
        if (!forwarding.write(piece)) return;
      }
      forwarding.end();
    };
    sink.onDrained = fill;
    fill();
    await until('both directions are through', () => sink.over, 60_000);
    assert.equal(sink.failure, null);
    assert.equal(sink.received, total);
    assert.equal(origin.exchanges[0]!.received, total);
    assert.ok(highest < 64 * mebibyte, `${highest} bytes more than before`);
  });
});
