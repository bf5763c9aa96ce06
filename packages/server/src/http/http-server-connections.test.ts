import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unknownLength } from './response-writer.ts';
import { echo, get, HttpBench, put } from './testing/http-bench.ts';

describe('the end of connections', () => {
  test('malformed heads get an S3 error and a close, and reach no handler', async (context) => {
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect({ allowHalfOpen: true });
    client.socket.end(get('/later') + get('/now') + put('/echo', 'body'), 'latin1');
    await client.untilClosed();
    assert.match(client.received, /later[\s\S]*now[\s\S]*\r\n\r\nbody$/);
    await client.until(() => bench.server.openConnections === 0, 'the connection to go');
  });

  test('a client that leaves is told of once, whatever it was doing', async (context) => {
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo, { keepAliveMs: 600, bodyIdleMs: 600 });
    const client = bench.connect();
    client.send(get('/now'));
    await client.untilReceived('now');
    await sleep(300);
    assert.equal(client.closed, false);
    await client.untilClosed();
  });

  test('a client that waits for a slow answer is not idle', async (context) => {
    const bench = new HttpBench(
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
    const bench = new HttpBench(
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
    const bench = new HttpBench(context, echo, { bodyIdleMs: 700 });
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
    const bench = new HttpBench(context, echo, { headMs: 200 });
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
    const bench = new HttpBench(context, echo, { maxConnections: 2 });
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
    const bench = new HttpBench(context, echo);
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(get('/never'));
    await bench.until('request GET /never');
    await bench.server.close(50);
    await client.until(() => client.closed, 'the cut');
    assert.ok(bench.log.includes('gone /never'));
  });

  test('1,024 idle connections are kept and all answered', async (context) => {
    const bench = new HttpBench(context, echo);
    const clients = Array.from({ length: 1_024 }, () => bench.connect());
    await clients[0]!.until(() => bench.server.openConnections === clients.length, 'all to come');
    for (const client of clients) client.send(get('/now'));
    for (const client of clients) await client.untilReceived('\r\n\r\nnow');
    assert.equal(bench.server.openConnections, clients.length);
    for (const client of clients) client.socket.destroy();
  });

  test('a thousand connections that come, ask, and leave in all ways leave nothing behind', async (context) => {
    const bench = new HttpBench(context, echo, { halfClosedMs: 100 });
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
