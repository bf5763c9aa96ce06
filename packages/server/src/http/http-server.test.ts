import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { request as nodeRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import fc from 'fast-check';
import type { ExchangeId, HttpHandler } from './exchange.ts';
import { HttpServer } from './http-server.ts';
import type { RequestHead } from './request-head.ts';
import { noBody, unknownLength } from './response-writer.ts';
import type { ServerLimits } from './server-limits.ts';

type Behaviour = (exchange: ExchangeId, bench: Bench) => void;

/**
 * A server whose handler looks up what to do by path: the double for a gateway driver. It also keeps a log of what the
 * handler heard, one line for each call.
 */
class Bench implements HttpHandler {
  readonly reactor = new Reactor({ inputBytes: 1 << 20, outputBytes: 1 << 20 });
  readonly server: HttpServer;
  readonly port: number;
  readonly log: string[] = [];
  readonly bodies = new Map<ExchangeId, Buffer[]>();
  readonly paths = new Map<ExchangeId, string>();
  readonly behaviours: Readonly<Record<string, Behaviour>>;

  constructor(
    context: TestContext,
    behaviours: Readonly<Record<string, Behaviour>>,
    limits: Partial<ServerLimits> = {},
  ) {
    this.behaviours = behaviours;
    this.server = new HttpServer(this.reactor, this, { sweepMs: 20, ...limits });
    this.port = this.server.listen('127.0.0.1', 0);
    context.after(async () => {
      await this.server.close(0);
      this.reactor.stop();
    });
  }

  onRequest(exchange: ExchangeId, head: RequestHead): void {
    const path = head.path();
    this.paths.set(exchange, path);
    this.log.push(`request ${head.methodText()} ${path}`);
    this.#behave(exchange, path);
  }
  onBody(exchange: ExchangeId, bytes: Uint8Array): void {
    const body = this.bodies.get(exchange) ?? [];
    body.push(Buffer.from(bytes));
    this.bodies.set(exchange, body);
    this.#behave(exchange, `${this.#path(exchange)}:body`);
  }
  onBodyEnd(exchange: ExchangeId): void {
    this.log.push(`end ${this.#path(exchange)}`);
    this.#behave(exchange, `${this.#path(exchange)}:end`);
  }
  onGone(exchange: ExchangeId): void {
    this.log.push(`gone ${this.#path(exchange)}`);
  }
  onSent(_exchange: ExchangeId, token: number, errno: number): void {
    this.log.push(`sent ${token} ${errno}`);
  }

  #path(exchange: ExchangeId): string {
    return this.paths.get(exchange) ?? 'unknown';
  }
  #behave(exchange: ExchangeId, key: string): void {
    this.behaviours[key]?.(exchange, this);
  }

  answer(exchange: ExchangeId, text: string, status = 200): void {
    this.server.beginAnswer(exchange, status, text.length);
    this.server.sendHead(exchange);
    this.server.sendBody(exchange, Buffer.from(text));
    this.server.finish(exchange);
  }

  body(exchange: ExchangeId): Buffer {
    return Buffer.concat(this.bodies.get(exchange) ?? []);
  }

  connect(options: { allowHalfOpen?: boolean } = {}): Client {
    return new Client(connect({ port: this.port, host: '127.0.0.1', ...options }));
  }

  async until(line: string): Promise<void> {
    for (let tries = 0; !this.log.includes(line); tries += 1) {
      assert.ok(tries < 500, `no "${line}" in: ${this.log.join(', ')}`);
      await sleep(10);
    }
  }
}

/** A raw client that remembers everything it received. */
class Client {
  readonly socket: Socket;
  received = '';
  closed = false;
  ended = false;
  error: string | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? error.message;
    });
    socket.on('end', () => {
      this.ended = true;
    });
    socket.on('close', () => {
      this.closed = true;
    });
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    for (let tries = 0; !condition(); tries += 1) {
      assert.ok(tries < 800, `${what}; received: ${this.received.slice(-300)}`);
      await sleep(5);
    }
  }

  async untilReceived(text: string, times = 1): Promise<void> {
    await this.until(() => this.received.split(text).length > times, `waited for ${text}`);
  }

  async untilClosed(): Promise<void> {
    await this.until(() => this.closed || this.ended, 'waited for the end');
    this.socket.destroy();
  }
}

const get = (path: string, ...lines: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: h', ...lines, '', ''].join('\r\n');
const put = (path: string, body: string, ...lines: string[]): string =>
  [`PUT ${path} HTTP/1.1`, 'Host: h', `Content-Length: ${body.length}`, ...lines, '', body].join(
    '\r\n',
  );

const chunkedPut = (path: string, body: string): string =>
  `PUT ${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n` +
  `${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`;

const echo: Readonly<Record<string, Behaviour>> = {
  '/echo': (exchange, { server }) => server.readBody(exchange),
  '/echo:end': (exchange, bench) => bench.answer(exchange, bench.body(exchange).toString('latin1')),
  '/now': (exchange, bench) => bench.answer(exchange, 'now'),
  '/never': () => undefined,
  '/later': (exchange, bench) => {
    setTimeout(() => bench.answer(exchange, 'later'), 30);
  },
  '/refuse': (exchange, { server }) =>
    server.answerError(exchange, 'AccessDenied', '/refuse', [['Region', 'r']]),
};

describe('requests and answers', () => {
  test('an answer has status, date, id and length, and the connection is kept', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/now'));
    await client.untilReceived('\r\n\r\nnow');
    assert.match(
      client.received,
      /^HTTP\/1\.1 200 OK\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\nx-amz-request-id: [0-9A-F]{16}\r\nContent-Length: 3\r\n\r\nnow$/,
    );
    client.send(get('/now'));
    await client.untilReceived('\r\n\r\nnow', 2);
    const ids = [...client.received.matchAll(/request-id: (\w+)/g)].map((match) => match[1]);
    assert.notEqual(ids[0], ids[1]);
    assert.equal(bench.server.openConnections, 1);
  });

  test('node:http understands every kind of answer', async (context) => {
    const text = 'x'.repeat(100_000);
    const bench = new Bench(context, {
      '/length': (exchange, each) => each.answer(exchange, text),
      '/chunked': (exchange, { server }) => {
        const writer = server.beginAnswer(exchange, 200, unknownLength);
        writer?.header('X-Name', 'v\u00e9');
        writer?.contentRange(0, 9, 4_294_967_296);
        server.sendHead(exchange);
        for (let at = 0; at < text.length; at += 30_000) {
          server.sendBody(exchange, Buffer.from(text.slice(at, at + 30_000)));
        }
        server.finish(exchange);
      },
      '/nothing': (exchange, { server }) => {
        server.beginAnswer(exchange, 304, noBody);
        server.sendHead(exchange);
        server.finish(exchange);
      },
    });
    const fetchText = (
      path: string,
      method = 'GET',
    ): Promise<[number, string, NodeJS.Dict<string | string[]>]> =>
      new Promise((resolve, reject) => {
        const outgoing = nodeRequest(
          { port: bench.port, host: '127.0.0.1', path, method },
          (incoming) => {
            let body = '';
            incoming.setEncoding('latin1');
            incoming.on('data', (piece: string) => (body += piece));
            incoming.on('end', () => resolve([incoming.statusCode ?? 0, body, incoming.headers]));
          },
        );
        outgoing.on('error', reject);
        outgoing.end();
      });
    assert.deepEqual((await fetchText('/length')).slice(0, 2), [200, text]);
    const [, body, headers] = await fetchText('/chunked');
    assert.equal(body, text);
    assert.equal(headers['x-name'], 'v\u00e9');
    assert.equal(headers['content-range'], 'bytes 0-9/4294967296');
    assert.deepEqual((await fetchText('/nothing')).slice(0, 2), [304, '']);
    assert.deepEqual((await fetchText('/length', 'HEAD')).slice(0, 2), [200, '']);
    assert.deepEqual((await fetchText('/chunked', 'HEAD')).slice(0, 2), [200, '']);
  });

  test('a head and a file range go out together, and their token comes back', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'http-server-'));
    const content = randomBytes(300_000);
    writeFileSync(join(folder, 'file'), content);
    const descriptor = openSync(join(folder, 'file'), 'r');
    context.after(() => {
      closeSync(descriptor);
      rmSync(folder, { recursive: true });
    });
    const sendFile =
      (length: number, token: number, flags: number): Behaviour =>
      (exchange, { server, reactor }) => {
        const connection = server.connectionOf(exchange);
        const writer = server.beginAnswer(exchange, 206, length);
        assert.ok(writer !== null && connection !== null);
        writer.contentRange(1000, 999 + length, content.length);
        const headLength = writer.end();
        reactor.sendFile(
          connection,
          writer.offset,
          headLength,
          descriptor,
          1000,
          length,
          token,
          flags,
        );
        server.finish(exchange);
      };
    const bench = new Bench(context, {
      '/small': sendFile(4096, 7, CommandFlag.copy),
      '/large': sendFile(250_000, 8, CommandFlag.eager),
    });
    const client = bench.connect();
    client.send(get('/small') + get('/large'));
    const total = 4096 + 250_000;
    await client.until(
      () => client.received.replace(/HTTP\/1\.1 206[\s\S]*?\r\n\r\n/g, '').length === total,
      'two bodies',
    );
    const bodies = client.received.split(/HTTP\/1\.1 206[\s\S]*?\r\n\r\n/);
    assert.equal(bodies[1], content.toString('latin1', 1000, 5096));
    assert.equal(bodies[2], content.toString('latin1', 1000, 251_000));
    await bench.until('sent 7 0');
    await bench.until('sent 8 0');
  });

  test('an error is S3 XML, without a body on HEAD', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/refuse'));
    await client.untilReceived('</Error>');
    assert.match(
      client.received,
      /^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*Content-Type: application\/xml\r\n\r\n<\?xml[\s\S]*<Code>AccessDenied<\/Code>[\s\S]*<Region>r<\/Region><Resource>\/refuse<\/Resource>/,
    );
    const id = /x-amz-request-id: (\w+)/.exec(client.received)?.[1] ?? '';
    assert.ok(client.received.includes(`<RequestId>${id}</RequestId>`));
    client.received = '';
    client.send('HEAD /refuse HTTP/1.1\r\nHost: h\r\n\r\n' + get('/now'));
    await client.untilReceived('now');
    assert.match(client.received, /^HTTP\/1\.1 403[^<]*HTTP\/1\.1 200/);
  });

  test('late calls with an exchange that is over do nothing', async (context) => {
    let old: ExchangeId | null = null;
    const bench = new Bench(context, {
      '/first': (exchange, each) => {
        old = exchange;
        each.answer(exchange, 'first');
      },
      '/second': (_exchange, { server }) => {
        assert.ok(old !== null);
        assert.equal(server.connectionOf(old), null);
        assert.equal(server.beginAnswer(old, 200, 0), null);
        assert.equal(server.requestId(old), '');
        assert.equal(server.peerAddress(old), '');
        server.sendBody(old, Buffer.from('stray'));
        server.finish(old);
        server.abort(old);
        server.readBody(old);
        server.pauseBody(old);
        server.resumeBody(old);
        server.answerError(old, 'InternalError', '/');
      },
    });
    const client = bench.connect();
    client.send(get('/first') + get('/second'));
    await bench.until('request GET /second');
    await sleep(50);
    assert.ok(client.received.endsWith('\r\n\r\nfirst'));
    client.socket.resetAndDestroy();
    await bench.until('gone /second');
  });

  test('an exchange can be answered once only, and finished only when begun', async (context) => {
    const bench = new Bench(context, {
      '/twice': (exchange, { server }) => {
        assert.throws(() => server.finish(exchange), /begun/);
        server.beginAnswer(exchange, 200, 0);
        server.sendHead(exchange);
        assert.throws(() => server.beginAnswer(exchange, 200, 0), /once/);
        server.finish(exchange);
      },
    });
    const client = bench.connect();
    client.send(get('/twice'));
    await client.untilReceived('Content-Length: 0\r\n\r\n');
  });
});

describe('pipelining', () => {
  test('answers come in the order of requests, however late the first is', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/later') + get('/now') + put('/echo', 'body') + get('/later') + get('/now'));
    await client.untilReceived('\r\n\r\nnow', 2);
    const bodies = client.received.split(/HTTP\/1\.1 200[\s\S]*?\r\n\r\n/);
    assert.deepEqual(bodies, ['', 'later', 'now', 'body', 'later', 'now']);
  });

  test('heads and bodies split byte by byte are put together', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    const chunked =
      'PUT /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nt: v\r\n\r\n';
    for (const character of Array.from(get('/now') + put('/echo', 'body') + chunked)) {
      client.send(character);
      await sleep(0);
    }
    await client.untilReceived('\r\n\r\nabcde');
    assert.match(client.received, /now[\s\S]*\r\n\r\nbody[\s\S]*\r\n\r\nabcde$/);
  });

  test('any requests in any pieces are answered one by one, in order', async (context) => {
    const bench = new Bench(context, echo);
    const body = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0'), maxLength: 300 });
    const request = fc.oneof(
      fc.constant([get('/now'), 'now']),
      fc.constant([get('/later'), 'later']),
      fc.constant([put('/now', 'unread'), 'now']),
      body.map((text) => [put('/echo', text), text]),
      body.map((text) => [chunkedPut('/echo', text), text]),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(400), { maxLength: 10 }),
        async (requests, sizes) => {
          const client = bench.connect();
          const wire = requests.map(([text]) => text).join('') + get('/now', 'Connection: close');
          let at = 0;
          for (const size of [...sizes, wire.length]) {
            client.send(wire.slice(at, at + size));
            at += size;
            await sleep(size % 3);
          }
          await client.untilClosed();
          assert.deepEqual(client.received.split(/HTTP\/1\.1 200 OK[\s\S]*?\r\n\r\n/).slice(1), [
            ...requests.map(([, answer]) => answer),
            'now',
          ]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('what was pipelined behind a last request is dropped', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/later') + get('/now', 'Connection: close') + get('/echo'));
    await client.untilClosed();
    assert.match(client.received, /later[\s\S]*Connection: close\r\n\r\nnow$/);
    await client.until(() => bench.server.openConnections === 0, 'the connection to go');
    assert.ok(!bench.log.includes('request GET /echo'));
  });

  test('a flood of pipelined requests is held back and answered in full', async (context) => {
    const bench = new Bench(context, echo, { maxPendingBytes: 200_000 });
    const client = bench.connect();
    const count = 20_000;
    client.send(get('/later') + get('/now').repeat(count));
    await client.untilReceived('\r\n\r\nnow', count);
    assert.equal(bench.server.counters.requests, count + 1);
  });
});

describe('bodies', () => {
  test('a large body arrives whole, by length and chunked', async (context) => {
    let digest = '';
    const bench = new Bench(context, {
      '/put': (exchange, { server }) => server.readBody(exchange),
      '/put:end': (exchange, each) => {
        digest = createHash('sha256').update(each.body(exchange)).digest('hex');
        each.answer(exchange, 'stored');
      },
    });
    const body = randomBytes(3_000_000).toString('latin1');
    const expected = createHash('sha256').update(body, 'latin1').digest('hex');
    const client = bench.connect();
    client.send(put('/put', body));
    await client.untilReceived('stored');
    assert.equal(digest, expected);
    digest = '';
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    client.send('PUT /put HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let at = 0; at < body.length; at += 77_777)
      client.send(chunk(body.slice(at, at + 77_777)));
    client.send('0\r\n\r\n');
    await client.untilReceived('stored', 2);
    assert.equal(digest, expected);
  });

  test('a paused body stops the client and goes on where it stopped', async (context) => {
    const exchanges: ExchangeId[] = [];
    const bench = new Bench(context, {
      '/slow': (id, { server }) => {
        exchanges.push(id);
        server.readBody(id);
      },
      '/slow:body': (id, { server }) => server.pauseBody(id),
      '/slow:end': (id, each) => each.answer(id, `${each.body(id).length}`),
    });
    const client = bench.connect();
    const body = 'b'.repeat(20_000_000);
    client.send(put('/slow', body));
    await sleep(100);
    const [exchange] = exchanges;
    assert.ok(exchange !== undefined);
    const first = bench.body(exchange).length;
    assert.ok(first > 0 && first < 1_000_000);
    await sleep(100);
    assert.equal(bench.body(exchange).length, first);
    const resume = setInterval(() => bench.server.resumeBody(exchange), 1);
    await client.untilReceived(`\r\n\r\n${body.length}`);
    clearInterval(resume);
  });

  test('reading the body of a request without one ends at once', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/echo'));
    await client.untilReceived('Content-Length: 0\r\n\r\n');
    client.send(put('/echo', ''));
    await client.untilReceived('Content-Length: 0\r\n\r\n', 2);
  });

  test('100 Continue is sent when the body is asked for, and only then', async (context) => {
    const bench = new Bench(context, {
      ...echo,
      '/wait': (exchange, { server }) => {
        setTimeout(() => server.readBody(exchange), 60);
      },
      '/wait:end': echo['/echo:end']!,
    });
    const client = bench.connect();
    client.send(put('/wait', 'body', 'Expect: 100-continue').slice(0, -4));
    await sleep(30);
    assert.equal(client.received, '');
    await client.untilReceived('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('body');
    await client.untilReceived('\r\n\r\nbody');
    assert.equal(client.received.split('100 Continue').length, 2);
  });

  test('a refused expectation gets the final status and a clean close', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(put('/refuse', 'body', 'Expect: 100-continue').slice(0, -4));
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 403 [\s\S]*Connection: close/);
    assert.ok(!client.received.includes('100 Continue'));
    assert.equal(client.error, null);
  });

  test('a short unread body is dropped and the connection goes on', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(put('/now', 'unread').slice(0, -3));
    await client.untilReceived('now');
    client.send('ead' + get('/echo') + put('/now', 'b'.repeat(60_000)) + put('/echo', 'next'));
    await client.untilReceived('\r\n\r\nnext');
    assert.ok(!client.received.includes('Connection: close'));
  });

  test('a long unread body costs the connection, and the client still sees the answer', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect({ allowHalfOpen: true });
    client.send(put('/refuse', 'b'.repeat(10_000_000)));
    await client.untilReceived('</Error>');
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 403 [\s\S]*Connection: close/);
    assert.equal(client.error, null);
  });

  test('an answer may come before the end of its request body', async (context) => {
    const bench = new Bench(context, {
      ...echo,
      '/early': (exchange, { server }) => server.readBody(exchange),
      '/early:body': (exchange, each) => each.answer(exchange, 'early'),
    });
    const client = bench.connect();
    client.send(put('/early', 'b'.repeat(30_000)).slice(0, -10_000));
    await client.untilReceived('early');
    client.send('b'.repeat(10_000) + get('/now'));
    await client.untilReceived('now');
    assert.ok(!bench.log.includes('gone /early'));
  });

  test('broken chunks are answered with 400 and never delivered as an end', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send('PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX');
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 400 [\s\S]*<Code>BadRequest</);
    assert.deepEqual(bench.log, ['request PUT /echo', 'gone /echo']);
  });
});

describe('the end of connections', () => {
  test('malformed heads get an S3 error and a close, and reach no handler', async (context) => {
    const bench = new Bench(context, echo);
    for (const [text, code] of [
      ['GET /now HTTP/1.1\nHost: h\n\n', 'BadRequest'],
      [get('/now', 'Content-Length: 3', 'Transfer-Encoding: chunked'), 'BadRequest'],
      [get('/now', `X: ${'v'.repeat(9_000)}`), 'RequestHeaderSectionTooLarge'],
      [get('/now', 'Expect: magic'), 'ExpectationFailed'],
    ] as const) {
      const client = bench.connect();
      client.send(text + get('/now'));
      await client.untilClosed();
      assert.match(client.received, /^HTTP\/1\.1 4\d\d [\s\S]*Connection: close\r\n/);
      assert.ok(client.received.includes(`<Code>${code}</Code>`), text);
      assert.equal(client.received.split('HTTP/1.1 ').length, 2);
    }
    assert.deepEqual(bench.log, []);
    assert.equal(bench.server.counters.badRequests, 4);
  });

  test('HTTP/1.0 and Connection: close are obeyed', async (context) => {
    const bench = new Bench(context, {
      ...echo,
      '/unknown': (exchange, { server }) => {
        server.beginAnswer(exchange, 200, unknownLength);
        server.sendHead(exchange);
        server.sendBody(exchange, Buffer.from('until the end'));
        server.finish(exchange);
      },
    });
    const closing = async (text: string): Promise<string> => {
      const client = bench.connect();
      client.send(text);
      await client.untilClosed();
      return client.received;
    };
    assert.match(await closing(get('/now', 'Connection: close')), /Connection: close\r\n\r\nnow$/);
    assert.match(await closing('GET /now HTTP/1.0\r\n\r\n'), /Connection: close\r\n\r\nnow$/);
    const unframed = await closing('GET /unknown HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    assert.match(unframed, /Connection: close\r\n\r\nuntil the end$/);
    assert.ok(!unframed.includes('chunked'));
    const kept = bench.connect();
    kept.send('GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(2));
    await kept.untilReceived('Connection: keep-alive\r\n\r\nnow', 2);
  });

  test('a client that half-closes gets all its answers', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect({ allowHalfOpen: true });
    client.socket.end(get('/later') + get('/now') + put('/echo', 'body'), 'latin1');
    await client.untilClosed();
    assert.match(client.received, /later[\s\S]*now[\s\S]*\r\n\r\nbody$/);
    await client.until(() => bench.server.openConnections === 0, 'the connection to go');
  });

  test('a client that leaves is told of once, whatever it was doing', async (context) => {
    const bench = new Bench(context, {
      ...echo,
      '/upload': (exchange, { server }) => server.readBody(exchange),
    });
    const idle = bench.connect();
    const halfHead = bench.connect();
    halfHead.send('GET /no');
    const waiting = bench.connect();
    waiting.send(get('/never'));
    const uploading = bench.connect();
    uploading.send(put('/upload', 'b'.repeat(1000)).slice(0, -1));
    await bench.until('request GET /never');
    await bench.until('request PUT /upload');
    idle.socket.end();
    halfHead.socket.end();
    waiting.socket.resetAndDestroy();
    uploading.socket.end();
    await bench.until('gone /never');
    await bench.until('gone /upload');
    await idle.until(() => bench.server.openConnections === 0, 'all to go');
    assert.equal(bench.log.filter((line) => line.startsWith('gone')).length, 2);
    assert.ok(!bench.log.includes('end /upload'));
  });

  test('an aborted answer is seen as broken, and its handler hears nothing more', async (context) => {
    const bench = new Bench(context, {
      '/broken': (exchange, { server }) => {
        server.beginAnswer(exchange, 200, 100);
        server.sendHead(exchange);
        server.sendBody(exchange, Buffer.from('some'));
        setTimeout(() => server.abort(exchange), 20);
      },
    });
    const client = bench.connect();
    client.send(get('/broken'));
    await client.until(() => client.closed, 'the reset');
    assert.equal(client.error, 'ECONNRESET');
    assert.equal(bench.server.counters.aborted, 1);
    assert.ok(!bench.log.includes('gone /broken'));
  });

  test('an idle connection outlasts its requests and goes after its time', async (context) => {
    const bench = new Bench(context, echo, { keepAliveMs: 600, bodyIdleMs: 600 });
    const client = bench.connect();
    client.send(get('/now'));
    await client.untilReceived('now');
    await sleep(300);
    assert.equal(client.closed, false);
    await client.untilClosed();
  });

  test('a client that waits for a slow answer is not idle', async (context) => {
    const bench = new Bench(
      context,
      {
        '/slow': (exchange, each) => {
          setTimeout(() => each.answer(exchange, 'slow'), 1_500);
        },
      },
      { keepAliveMs: 500, bodyIdleMs: 500 },
    );
    const client = bench.connect();
    client.send(get('/slow'));
    await client.untilReceived('slow');
    await client.untilClosed();
  });

  test('an upload that waits for its reader is not given up, and one that stalls afterwards is', async (context) => {
    const bench = new Bench(
      context,
      {
        '/slow': (exchange, { server }) => server.readBody(exchange),
        '/slow:body': (exchange, { server }) => {
          server.pauseBody(exchange);
          setTimeout(() => server.resumeBody(exchange), 1_200);
        },
      },
      { keepAliveMs: 500, bodyIdleMs: 500 },
    );
    const client = bench.connect();
    client.send(put('/slow', 'body').slice(0, -1));
    await sleep(1_100);
    assert.ok(!bench.log.includes('gone /slow'));
    await bench.until('gone /slow');
  });

  test('an upload that stalls is given up, a slow one is not', async (context) => {
    const bench = new Bench(context, echo, { bodyIdleMs: 700 });
    const slow = bench.connect();
    const stalled = bench.connect();
    stalled.send(put('/echo', 'stalled').slice(0, -1));
    slow.send(put('/echo', 'slow-body').slice(0, -8));
    for (const character of Array.from('low-body')) {
      await sleep(200);
      slow.send(character);
    }
    await slow.untilReceived('\r\n\r\nslow-body');
    await stalled.untilClosed();
    assert.ok(bench.log.includes('gone /echo'));
  });

  test('a head that dribbles in is timed out by the clock, not by idleness', async (context) => {
    const bench = new Bench(context, echo, { headMs: 200 });
    const client = bench.connect();
    for (const character of Array.from(get('/now', `X: ${'v'.repeat(60)}`))) {
      if (client.ended || client.closed) break;
      client.send(character);
      await sleep(10);
    }
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 400 [\s\S]*<Code>RequestTimeout</);
    assert.equal(bench.server.counters.headTimeouts, 1);
    assert.deepEqual(bench.log, []);
  });

  test('one connection too many is answered with SlowDown', async (context) => {
    const bench = new Bench(context, echo, { maxConnections: 2 });
    const clients = [bench.connect(), bench.connect()];
    for (const client of clients) {
      client.send(get('/now'));
      await client.untilReceived('now');
    }
    const third = bench.connect();
    await third.untilClosed();
    assert.match(third.received, /^HTTP\/1\.1 503 [\s\S]*<Code>SlowDown</);
    assert.equal(bench.server.counters.refusedConnections, 1);
    clients[0]!.socket.destroy();
    await clients[0]!.until(() => bench.server.openConnections === 1, 'room');
    const fourth = bench.connect();
    fourth.send(get('/now'));
    await fourth.untilReceived('now');
  });

  test('a graceful close finishes what is under way and lets idle clients go', async (context) => {
    const bench = new Bench(context, echo);
    const idle = bench.connect();
    const busy = bench.connect();
    busy.send(get('/later'));
    idle.send(get('/now'));
    await idle.untilReceived('now');
    await bench.until('request GET /later');
    await bench.server.close(5_000);
    await busy.untilClosed();
    assert.match(busy.received, /Connection: close\r\n\r\nlater$/);
    await idle.untilClosed();
  });

  test('a graceful close cuts what takes too long', async (context) => {
    const bench = new Bench(context, echo);
    const client = bench.connect();
    client.send(get('/never'));
    await bench.until('request GET /never');
    await bench.server.close(50);
    await client.until(() => client.closed, 'the cut');
    assert.ok(bench.log.includes('gone /never'));
  });

  test('1,024 idle connections are kept and all answered', async (context) => {
    const bench = new Bench(context, echo);
    const clients = Array.from({ length: 1_024 }, () => bench.connect());
    await clients[0]!.until(() => bench.server.openConnections === clients.length, 'all to come');
    for (const client of clients) client.send(get('/now'));
    for (const client of clients) await client.untilReceived('\r\n\r\nnow');
    assert.equal(bench.server.openConnections, clients.length);
    for (const client of clients) client.socket.destroy();
  });

  test('a thousand connections that come, ask, and leave in all ways leave nothing behind', async (context) => {
    const bench = new Bench(context, echo, { halfClosedMs: 100 });
    for (let round = 0; round < 10; round += 1) {
      const clients = Array.from({ length: 100 }, () => bench.connect());
      for (const [index, client] of clients.entries()) {
        const way = index % 4;
        client.send(
          way === 0 ? get('/never') : way === 1 ? 'GET /' : put('/echo', 'body').slice(0, -2),
        );
        if (way === 3) client.send('dy');
      }
      await sleep(20);
      for (const [index, client] of clients.entries()) {
        if (index % 3 === 0) client.socket.destroy();
        else if (index % 3 === 1) client.socket.end();
        else client.socket.resetAndDestroy();
      }
    }
    const probe = bench.connect();
    await probe.until(() => bench.server.openConnections <= 1, 'all to go');
    probe.send(get('/now'));
    await probe.untilReceived('now');
    const asked = bench.log.filter((line) => line === 'request GET /never').length;
    const gone = bench.log.filter((line) => line === 'gone /never').length;
    assert.equal(gone, asked);
  });
});
