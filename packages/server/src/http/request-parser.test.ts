import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeaderSlot, headerSlotCount } from './header-slots.ts';
import { RequestHead, maxHeaders } from './request-head.ts';
import {
  RequestParser,
  maxHeadBytes,
  maxHeaderSectionBytes,
  newHeadProgress,
  type ParseResult,
} from './request-parser.ts';

const head = new RequestHead();
const parser = new RequestParser(head);

/** Parses text that lies in the middle of other bytes, none of which may be looked at. */
function parse(text: string): ParseResult {
  const text1 = Buffer.from(`\r\n\r\n${text}\r\n\r\n`, 'latin1');
  return parser.parse(
    new Uint8Array(text1.buffer, text1.byteOffset, text1.length),
    text1,
    4,
    4 + text.length,
    newHeadProgress(),
  );
}

function request(...lines: string[]): string {
  return ['GET /b/k HTTP/1.1', 'Host: h', ...lines, '', ''].join('\r\n');
}

function assertBad(text: string, error = 'BadRequest'): void {
  assert.equal(parse(text), 'bad', JSON.stringify(text));
  assert.equal(head.error, error, JSON.stringify(text));
}

test('a request of an SDK is parsed into offsets, slots and flags', () => {
  const text =
    'GET /bucket/some/key.bin?x-id=GetObject HTTP/1.1\r\nhost: s3.local:9000\r\n' +
    'Range:  bytes=0-4095\t\r\nX-Amz-Date: 20261129T120000Z\r\nuser-agent: aws \r\nEmpty:\r\n\r\n';
  assert.equal(parse(text), 'complete');
  assert.equal(head.end, 4 + text.length);
  assert.equal(head.method, 'GET');
  assert.equal(head.methodText(), 'GET');
  assert.equal(head.minorVersion, 1);
  assert.equal(head.target(), '/bucket/some/key.bin?x-id=GetObject');
  assert.equal(head.path(), '/bucket/some/key.bin');
  assert.equal(head.query(), 'x-id=GetObject');
  assert.equal(head.pathIsCanonical, true);
  assert.equal(head.header(HeaderSlot.host), 's3.local:9000');
  assert.equal(head.header(HeaderSlot.range), 'bytes=0-4095');
  assert.equal(head.header(HeaderSlot['x-amz-date']), '20261129T120000Z');
  assert.equal(head.header(HeaderSlot.authorization), null);
  assert.equal(head.framing, 'none');
  assert.equal(head.keepAlive, true);
  assert.deepEqual(head.rawHeaders(), [
    ...['host', 's3.local:9000', 'Range', 'bytes=0-4095', 'X-Amz-Date', '20261129T120000Z'],
    ...['user-agent', 'aws', 'Empty', ''],
  ]);
});

test('every header with a slot is found there, in any case', () => {
  for (const [name, slot] of Object.entries(HeaderSlot)) {
    if (['host', 'content-length', 'transfer-encoding', 'expect'].includes(name)) continue;
    for (const spelled of [name, name.toUpperCase()]) {
      assert.equal(parse(request(`${spelled}: v${slot}`)), 'complete');
      assert.equal(head.header(slot), `v${slot}`);
      assert.equal(head.slots.filter((index) => index > 0).length, 2);
    }
  }
  assert.equal(new Set(Object.values(HeaderSlot)).size, headerSlotCount);
});

test('what could be read in two ways is refused', () => {
  const smuggled = [
    'GET /b/k HTTP/1.1\nHost: h\n\n',
    'GET /b/k HTTP/1.1\r\nHost: h\n\r\n',
    'GET /b/k HTTP/1.1\r\nHost: h\r\n\n',
    'GET /b/k HTTP/1.1\rHost: h\r\n\r\n',
    request('Content-Length: 5', 'Transfer-Encoding: chunked'),
    request('Transfer-Encoding: chunked', 'Content-Length: 0'),
    request('Content-Length: 5', 'Content-Length: 5'),
    request('Content-Length: 5', 'content-length: 6'),
    request('Content-Length: 5, 5'),
    request('Content-Length: +5'),
    request('Content-Length: -0'),
    request('Content-Length: 0x5'),
    request('Content-Length: 5 5'),
    request('Content-Length:'),
    request('Content-Length:\t5'),
    request('Content-Length: 9007199254740992'),
    request('Content-Length: 00000000000000005'),
    request('Transfer-Encoding: chunked\t'),
    request('Transfer-Encoding:\tchunked'),
    request('Transfer-Encoding: gzip, chunked'),
    request('Transfer-Encoding: chunked, identity'),
    request('Transfer-Encoding: identity'),
    request('Transfer-Encoding: "chunked"'),
    request('Transfer-Encoding: xchunked'),
    request('Transfer-Encoding:'),
    request('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    'GET /b/k HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n',
    request('X-Folded: a', ' b'),
    request(' X-Folded: a'),
    request('X-Space : a'),
    request('X-Tab\t: a'),
    request('X Space: a'),
    request(': a'),
    request('NoColon'),
    request('X-Nul: a\0b'),
    request('X-N\0ul: a'),
    request('X-Cr: a\rb'),
    request('X-Del: a\x7fb'),
    request('X-Bell: \x07'),
    request('Ünicode: a'),
  ];
  for (const text of smuggled) assertBad(text);
});

test('a host is needed once in HTTP/1.1, and what names the request only once', () => {
  assertBad('GET / HTTP/1.1\r\n\r\n');
  assertBad(request('Host: h'));
  assertBad(request('Authorization: a', 'authorization: b'));
  assertBad(request('X-Amz-Date: a', 'X-Amz-Date: a'));
  assertBad(request('Range: bytes=0-1', 'Range: bytes=0-1'));
  assertBad(request('x-amz-copy-source: a', 'x-amz-copy-source: b'));
  assert.equal(parse('GET / HTTP/1.0\r\n\r\n'), 'complete');
});

test('request lines that are none are refused', () => {
  for (const line of [
    'GET  /b/k HTTP/1.1',
    'GET /b/k  HTTP/1.1',
    'GET /b/k HTTP/1.1 ',
    ' GET /b/k HTTP/1.1',
    'GET /b/k',
    'GET /b/k HTTP/2.0',
    'GET /b/k HTTP/1.2',
    'GET /b/k HTTP/1.11',
    'GET /b/k http/1.1',
    'GET\t/b/k HTTP/1.1',
    'G(T /b/k HTTP/1.1',
    `${'G'.repeat(40)} / HTTP/1.1`,
    'GET b/k HTTP/1.1',
    'GET * HTTP/1.1',
    'CONNECT h:80 HTTP/1.1',
    'GET /b/k#f HTTP/1.1',
    'GET /b\0k HTTP/1.1',
    'GET ftp://h/b/k HTTP/1.1',
    'GET http:///b/k HTTP/1.1',
    'GET http://h HTTP/1.1',
    'GET http://h?acl HTTP/1.1',
    'PRI * HTTP/2.0',
    '\r\n\r\n\r\nGET /b/k HTTP/1.1',
  ]) {
    assertBad(`${line}\r\nHost: h\r\n\r\n`);
  }
});

test('methods are case-sensitive and unknown ones are told by name', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const) {
    assert.equal(parse(`${method} / HTTP/1.1\r\nHost: h\r\n\r\n`), 'complete');
    assert.equal(head.method, method);
  }
  for (const method of ['get', 'PATCH', 'GETS', 'GE']) {
    assert.equal(parse(`${method} / HTTP/1.1\r\nHost: h\r\n\r\n`), 'complete');
    assert.equal(head.method, 'other');
    assert.equal(head.methodText(), method);
  }
});

test('one or two empty lines before a request are skipped', () => {
  const text = `\r\n\r\n${request()}`;
  assert.equal(parse(text), 'complete');
  assert.equal(head.end, 4 + text.length);
});

test('an absolute-form target must agree with Host and gives its path', () => {
  const absolute = (target: string, host: string): string =>
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  assert.equal(parse(absolute('http://H.local:9000/b/k?acl', 'h.LOCAL:9000')), 'complete');
  assert.equal(head.target(), '/b/k?acl');
  assert.equal(head.path(), '/b/k');
  assert.equal(parse(absolute('HTTPS://h/b', 'h')), 'complete');
  assertBad(absolute('http://other/b', 'h'));
  assertBad(absolute('http://h:80/b', 'h'));
  assertBad(absolute('http://user@h/b', 'h'));
  assertBad('GET http://h/b HTTP/1.0\r\n\r\n');
});

test('a path is canonical only when it is unreserved characters and slashes', () => {
  for (const [path, canonical] of [
    ['/b/aZ09-._~', true],
    ['/b//a/../c', true],
    ['/b/a%20b', false],
    ['/b/a+b', false],
    ['/b/\u00e9', false],
  ] as const) {
    assert.equal(parse(`GET ${path}?%+! HTTP/1.1\r\nHost: h\r\n\r\n`), 'complete');
    assert.equal(head.pathIsCanonical, canonical, path);
    assert.equal(head.path(), path);
  }
});

test('bytes above 127 and inner white space of values are kept as sent', () => {
  assert.equal(parse(request('x-amz-meta-a: \u00e9  \t b\u00ff ')), 'complete');
  assert.equal(head.value(1), '\u00e9  \t b\u00ff');
});

test('list headers may be repeated and are joined', () => {
  assert.equal(parse(request('If-None-Match: "a"', 'X: y', 'if-none-match: "b"')), 'complete');
  assert.equal(head.header(HeaderSlot['if-none-match']), '"a","b"');
});

test('the framing of the body', () => {
  assert.equal(parse(request('Content-Length: 0')), 'complete');
  assert.equal(head.framing, 'none');
  assert.equal(parse(request('Content-Length: 9007199254740991')), 'complete');
  assert.equal(head.framing, 'length');
  assert.equal(head.contentLength, Number.MAX_SAFE_INTEGER);
  assert.equal(parse(request('Transfer-Encoding: Chunked')), 'complete');
  assert.equal(head.framing, 'chunked');
  assert.equal(head.contentLength, 0);
});

test('connection options and versions decide about keep-alive', () => {
  const keepAlive = (version: string, ...lines: string[]): boolean => {
    const text = [`GET / HTTP/${version}`, 'Host: h', ...lines, '', ''].join('\r\n');
    assert.equal(parse(text), 'complete');
    return head.keepAlive;
  };
  assert.equal(keepAlive('1.1'), true);
  assert.equal(keepAlive('1.1', 'Connection: close'), false);
  assert.equal(keepAlive('1.1', 'Connection: x, \tCLOSE ,y'), false);
  assert.equal(keepAlive('1.1', 'Connection: keep-alive', 'Connection: close'), false);
  assert.equal(keepAlive('1.1', 'Connection: closed'), true);
  assert.equal(keepAlive('1.0'), false);
  assert.equal(keepAlive('1.0', 'Connection: Keep-Alive'), true);
});

test('only 100-continue may be expected', () => {
  assert.equal(parse(request('Content-Length: 1', 'Expect: 100-Continue')), 'complete');
  assert.equal(head.expectContinue, true);
  assert.equal(parse(request('Expect: 100-continue')), 'complete');
  assert.equal(head.expectContinue, false);
  assertBad(request('Content-Length: 1', 'Expect: 200-ok'), 'ExpectationFailed');
});

test('heads beyond the limits are refused by name, whether complete or not', () => {
  const big = 'v'.repeat(maxHeaderSectionBytes);
  for (const tail of ['', '\r\n\r\n']) {
    assertBad(`GET / HTTP/1.1\r\nHost: h\r\nX: ${big}${tail}`, 'RequestHeaderSectionTooLarge');
    assertBad(`GET /${'k'.repeat(maxHeadBytes)}${tail}`, 'InvalidURI');
  }
  const many = Array.from({ length: maxHeaders }, (_, index) => `x-${index}: v`);
  assertBad(request(...many), 'RequestHeaderSectionTooLarge');
  assert.equal(parse(request(...many.slice(1))), 'complete');
  const exact = 'v'.repeat(maxHeaderSectionBytes - 'Host: h\r\nX: \r\n\r\n'.length);
  assert.equal(parse(request(`X: ${exact}`)), 'complete');
  assertBad(request(`X: ${exact}v`), 'RequestHeaderSectionTooLarge');
  const long = `GET /${'k'.repeat(maxHeaderSectionBytes + 100)} HTTP/1.1\r\nHost: h\r\n\r\n`;
  assert.equal(parse(long), 'complete');
});

test('a head that arrives one byte at a time is scanned a bounded number of times', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `x-header-${index}: ${'v'.repeat(50)}`);
  const text = Buffer.from(request(...lines), 'latin1');
  let reads = 0;
  const counted = new Proxy(text, {
    get(target, property): unknown {
      if (typeof property === 'string' && /^\d+$/.test(property)) reads += 1;
      return Reflect.get(target, property, target) as unknown;
    },
  });
  const progress = newHeadProgress();
  for (let end = 1; end < text.length; end += 1) {
    assert.equal(parser.parse(counted, text, 0, end, progress), 'incomplete');
  }
  assert.equal(parser.parse(counted, text, 0, text.length, progress), 'complete');
  const once = 3 * text.length;
  assert.ok(reads < once * 110, `${reads} reads of ${text.length} bytes`);
});

interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
}

/** What node:http reads out of a request, or null when it refuses it. */
async function readWithNode(port: number, text: string, seen: Seen[]): Promise<Seen | null> {
  const before = seen.length;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text, 'latin1'));
    socket.on('data', () => undefined);
    socket.on('close', () => resolve());
    socket.on('error', () => undefined);
  });
  return seen[before] ?? null;
}

test('valid requests are read as node:http reads them', async () => {
  const seen: Seen[] = [];
  const server = createServer({ keepAliveTimeout: 1 }, (incoming, answer) => {
    seen.push({
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      headers: incoming.rawHeaders,
    });
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const token = fc.string({
    unit: fc.constantFrom(...Array.from("abcXYZ019-_.!#$%&'*+^`|~")),
    minLength: 1,
    maxLength: 12,
  });
  const value = fc
    .string({ unit: fc.constantFrom(...Array.from('ab ,;="\t/\u00e9\u00ff')), maxLength: 20 })
    .map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''));
  const target = fc
    .string({ unit: fc.constantFrom(...Array.from("ab/%2?&=+!*()'.~:@;$,[]")), maxLength: 30 })
    .map((text) => `/${text}`);
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH'),
        target,
        fc.array(fc.tuple(token, fc.constantFrom('', ' ', ' \t'), value), { maxLength: 8 }),
        async (method, url, headers) => {
          const known = headers.filter(([name]) => !(name.toLowerCase() in HeaderSlot));
          const lines = known.map(([name, space, text]) => `${name}:${space}${text}${space}\r\n`);
          const text = `${method} ${url} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${lines.join('')}\r\n`;
          assert.equal(parse(text), 'complete');
          const mine = {
            method: head.methodText(),
            target: head.target(),
            headers: head.rawHeaders(),
          };
          assert.deepEqual(mine, await readWithNode(port, text, seen));
        },
      ),
      { numRuns: 150 },
    );
  } finally {
    server.close();
  }
});
