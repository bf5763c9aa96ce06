import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { request as nodeRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFlag } from '@s3-accelerator/native/native.ts';
import fc from 'fast-check';
import type { ExchangeId } from './exchange.ts';
import { noBody, unknownLength } from './response-writer.ts';
import { chunkedPut, echo, get, HttpBench, put, type Behaviour } from './testing/http-bench.ts';

describe('requests and answers', () => {
  test('an answer has status, date, id and length, and the connection is kept', async (context) => {
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(get('/later') + get('/now') + put('/echo', 'body') + get('/later') + get('/now'));
    await client.untilReceived('\r\n\r\nnow', 2);
    const bodies = client.received.split(/HTTP\/1\.1 200[\s\S]*?\r\n\r\n/);
    assert.deepEqual(bodies, ['', 'later', 'now', 'body', 'later', 'now']);
  });

  test('heads and bodies split byte by byte are put together', async (context) => {
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(get('/later') + get('/now', 'Connection: close') + get('/echo'));
    await client.untilClosed();
    assert.match(client.received, /later[\s\S]*Connection: close\r\n\r\nnow$/);
    await client.until(() => bench.server.openConnections === 0, 'the connection to go');
    assert.ok(!bench.log.includes('request GET /echo'));
  });

  test('a flood of pipelined requests is held back and answered in full', async (context) => {
    const bench = new HttpBench(context, echo, { maxPendingBytes: 200_000 });
    const client = bench.connect();
    const count = 20_000;
    client.send(get('/later') + get('/now').repeat(count));
    await client.untilReceived('\r\n\r\nnow', count);
    assert.equal(bench.server.counters.requests, count + 1);
  });
});
