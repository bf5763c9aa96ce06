import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeId } from './exchange.ts';
import { echo, get, HttpBench, put } from './testing/http-bench.ts';

describe('bodies', () => {
  test('a large body arrives whole, by length and chunked', async (context) => {
    let digest = '';
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(get('/echo'));
    await client.untilReceived('Content-Length: 0\r\n\r\n');
    client.send(put('/echo', ''));
    await client.untilReceived('Content-Length: 0\r\n\r\n', 2);
  });

  test('100 Continue is sent when the body is asked for, and only then', async (context) => {
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(put('/refuse', 'body', 'Expect: 100-continue').slice(0, -4));
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 403 [\s\S]*Connection: close/);
    assert.ok(!client.received.includes('100 Continue'));
    assert.equal(client.error, null);
  });

  test('a short unread body is dropped and the connection goes on', async (context) => {
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send(put('/now', 'unread').slice(0, -3));
    await client.untilReceived('now');
    client.send('ead' + get('/echo') + put('/now', 'b'.repeat(60_000)) + put('/echo', 'next'));
    await client.untilReceived('\r\n\r\nnext');
    assert.ok(!client.received.includes('Connection: close'));
  });

  test('a long unread body costs the connection, and the client still sees the answer', async (context) => {
    const bench = new HttpBench(context, echo);
    const client = bench.connect({ allowHalfOpen: true });
    client.send(put('/refuse', 'b'.repeat(10_000_000)));
    await client.untilReceived('</Error>');
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 403 [\s\S]*Connection: close/);
    assert.equal(client.error, null);
  });

  test('an answer may come before the end of its request body', async (context) => {
    const bench = new HttpBench(context, {
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
    const bench = new HttpBench(context, echo);
    const client = bench.connect();
    client.send('PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX');
    await client.untilClosed();
    assert.match(client.received, /^HTTP\/1\.1 400 [\s\S]*<Code>BadRequest</);
    assert.deepEqual(bench.log, ['request PUT /echo', 'gone /echo']);
  });
});
