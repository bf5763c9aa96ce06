import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { FetchEnd, FetchHead, FetchRequest } from '@s3-accelerator/core/node/effects.ts';
import type { OriginError } from '@s3-accelerator/core/read.ts';
import { defaultCredential, startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { Fetcher } from './fetcher.ts';
import type { FetchEvents } from './fetcher.ts';
import { OriginClient } from './origin-client.ts';
import type { OriginFailure } from './origin-failure.ts';
import { Origins } from './origins.ts';
import type { OriginSettings } from './origins.ts';
import { RawOrigin, answer } from './testing/raw-origin.ts';
import type { RawScript } from './testing/raw-origin.ts';

/** One fetch as its events tell it. Takes every byte unless `room` says otherwise. */
interface Fetched {
  head: FetchHead | null;
  bytes: Buffer;
  end: FetchEnd | null;
  failed: boolean;
  error: OriginError | null;
  /** Bytes that will be taken before the next `more`. */
  room: number;
  over: Promise<void>;
  settle: () => void;
}

class Rig implements FetchEvents {
  readonly client = new OriginClient();
  readonly failures: OriginFailure[] = [];
  readonly fetcher: Fetcher;
  readonly #fetches = new Map<number, Fetched>();
  #next = 1;

  constructor(settings: OriginSettings | null) {
    const origins = new Origins(settings);
    this.fetcher = new Fetcher(
      this.client,
      () => origins,
      this,
      (failure) => {
        this.failures.push(failure);
      },
    );
  }

  start(changes: Partial<FetchRequest>, room = Infinity): Fetched & { id: number } {
    const id = this.#next++;
    let settle = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const fetched = {
      id,
      head: null,
      bytes: Buffer.alloc(0),
      end: null,
      failed: false,
      error: null,
      room,
      over,
      settle,
    };
    this.#fetches.set(id, fetched);
    this.fetcher.start(id, {
      bucket: 'data',
      key: 'key',
      headOnly: false,
      rangeKind: 'none',
      first: 0,
      last: 0,
      ifMatch: '',
      ifNoneMatch: '',
      ...changes,
    });
    return fetched;
  }

  async fetch(changes: Partial<FetchRequest>): Promise<Fetched> {
    const fetched = this.start(changes);
    await fetched.over;
    return fetched;
  }

  onHead(id: number, head: FetchHead): void {
    const fetched = this.#fetches.get(id)!;
    assert.equal(fetched.head, null, 'one head');
    fetched.head = head;
    fetched.error = head.error;
    if (head.error !== null) fetched.settle();
  }

  onBytes(id: number, bytes: Uint8Array): number {
    const fetched = this.#fetches.get(id)!;
    assert.notEqual(fetched.head, null, 'the head comes first');
    const taken = Math.min(fetched.room, bytes.length);
    fetched.room -= taken;
    fetched.bytes = Buffer.concat([fetched.bytes, bytes.subarray(0, taken)]);
    return taken;
  }

  onEnd(id: number, end: FetchEnd): void {
    const fetched = this.#fetches.get(id)!;
    assert.equal(fetched.error, null, 'nothing follows an error');
    fetched.end = end;
    fetched.settle();
  }

  onFailed(id: number, error: OriginError | null): void {
    const fetched = this.#fetches.get(id)!;
    assert.equal(fetched.head, null, 'a fetch fails before its head');
    fetched.failed = true;
    fetched.error = error;
    fetched.settle();
  }
}

function settingsFor(endpoint: string): OriginSettings {
  const credentials = {
    accessKeyId: defaultCredential.accessKey,
    secretAccessKey: defaultCredential.secretKey,
  };
  return { endpoint, region: 'us-east-1', credentials };
}

async function onMemoryS3(t: TestContext): Promise<{ s3: MemoryS3; rig: Rig }> {
  const s3 = await startMemoryS3({ buckets: ['data'] });
  const rig = new Rig(settingsFor(s3.endpoint));
  t.after(async () => {
    await rig.client.close();
    await s3.close();
  });
  return { s3, rig };
}

async function onRaw(t: TestContext, script: RawScript): Promise<{ raw: RawOrigin; rig: Rig }> {
  const raw = await RawOrigin.start(script);
  const rig = new Rig(settingsFor(raw.endpoint));
  t.after(async () => {
    await rig.client.close();
    await raw.close();
  });
  return { raw, rig };
}

function lines(head: FetchHead | null): string {
  return Buffer.from(head?.headerLines ?? []).toString('latin1');
}

test('fetches a whole object with its metadata', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  const etag = s3.put('data', 'key', 'hello', {
    'content-type': 'text/x',
    'x-amz-meta-note': 'two  spaces',
  });
  const { head, bytes, end } = await rig.fetch({});
  assert.equal(end, 'complete');
  assert.equal(bytes.toString(), 'hello');
  assert.equal(head?.status, 200);
  assert.equal(head.etag, `"${etag}"`);
  assert.equal(head.size, 5);
  assert.deepEqual([head.first, head.length], [0, 5]);
  assert.ok(Math.abs(head.lastModified - Date.now() / 1000) < 60);
  const kept = lines(head).toLowerCase();
  assert.match(kept, /content-type: text\/x\r\n/);
  assert.match(kept, /x-amz-meta-note: two {2}spaces\r\n/);
  assert.match(kept, /accept-ranges: bytes\r\n/);
  assert.doesNotMatch(kept, /content-length|connection|date:|request-id|id-2|^server/m);
});

test('fetches ranges: bounded, from a position, suffix', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.put('data', 'key', '0123456789');
  const bounded = await rig.fetch({ rangeKind: 'bounded', first: 2, last: 4 });
  const from = await rig.fetch({ rangeKind: 'from', first: 7 });
  const suffix = await rig.fetch({ rangeKind: 'suffix', first: 3 });
  assert.equal(bounded.bytes.toString(), '234');
  assert.deepEqual([bounded.head?.status, bounded.head?.first, bounded.head?.length], [206, 2, 3]);
  assert.equal(bounded.head?.size, 10);
  assert.doesNotMatch(lines(bounded.head), /content-range/i);
  assert.equal(from.bytes.toString(), '789');
  assert.equal(suffix.bytes.toString(), '789');
  assert.equal(suffix.head?.first, 7);
});

test('HEAD brings the size and no bytes', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.put('data', 'key', '0123456789');
  const { head, bytes, end } = await rig.fetch({ headOnly: true });
  assert.equal(end, 'complete');
  assert.deepEqual([head?.size, head?.length, bytes.length], [10, 0, 0]);
});

test('odd keys reach the origin as they are', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  const keys = ['//..', 'a/../b', './.', 'a+b c', '%2F', "!*'()", 'k/'];
  for (const key of [...keys, 'é€']) s3.put('data', key, `bytes of ${key}`);
  for (const key of keys) {
    const { bytes } = await rig.fetch({ key });
    assert.equal(bytes.toString(), `bytes of ${key}`);
  }
  const { bytes } = await rig.fetch({ key: Buffer.from('é€').toString('latin1') });
  assert.equal(bytes.toString(), 'bytes of é€');
});

test('If-None-Match brings a 304, a stale If-Match an error with its code', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  const etag = `"${s3.put('data', 'key', 'hello')}"`;
  const same = await rig.fetch({ ifNoneMatch: etag });
  assert.deepEqual([same.head?.status, same.end, same.head?.etag], [304, 'complete', etag]);
  const stale = await rig.fetch({ ifMatch: '"other"' });
  assert.deepEqual([stale.error?.status, stale.error?.code], [412, 'PreconditionFailed']);
});

test('a missing object is an error with status, code, body and headers', async (t) => {
  const { rig } = await onMemoryS3(t);
  const { head, error } = await rig.fetch({});
  assert.equal(head?.status, 404);
  assert.deepEqual([error?.status, error?.code], [404, 'NoSuchKey']);
  assert.match(Buffer.from(error?.body ?? []).toString(), /<Error>/);
  assert.match(Buffer.from(error?.headerLines ?? []).toString('latin1'), /content-type/i);
});

test('asks for identity encoding, and for no checksums', async (t) => {
  const { raw, rig } = await onRaw(t, ({ socket }) => {
    socket.write(answer('200 OK', ['ETag: "e"'], 'x'));
  });
  await rig.fetch({ ifMatch: '"e"', rangeKind: 'bounded', first: 0, last: 0 });
  const head = raw.requests[0]!.head;
  assert.match(head, /\r\naccept-encoding: identity(\r\n|$)/);
  assert.match(head, /\r\nif-match: "e"(\r\n|$)/);
  assert.match(head, /\r\nrange: bytes=0-0(\r\n|$)/);
  assert.doesNotMatch(head, /checksum-mode/i);
});

test('header lines keep the origin’s case, order, duplicates and bytes', async (t) => {
  const { rig } = await onRaw(t, ({ socket }) => {
    const headers = [
      'ETag: "e"',
      'X-amz-Meta-A: \xff',
      'x-amz-meta-a: 2',
      'x-amz-checksum-crc32: AAAA',
    ];
    const range = ['Content-Range: bytes 0-0/9', 'Date: Thu, 01 Jan 1970 00:00:00 GMT'];
    socket.write(Buffer.from(answer('206 Partial Content', [...headers, ...range], 'x'), 'latin1'));
  });
  const { head } = await rig.fetch({ rangeKind: 'bounded', first: 0, last: 0 });
  assert.equal(lines(head), 'ETag: "e"\r\nX-amz-Meta-A: \xff\r\nx-amz-meta-a: 2\r\n');
});

test('a weak ETag counts as none, an unknown size as -1', async (t) => {
  const { rig } = await onRaw(t, ({ socket }) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nETag: W/"e"\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    );
  });
  const { head, end } = await rig.fetch({});
  assert.deepEqual([head?.etag, head?.size, end], ['', -1, 'complete']);
});

test('an ETag without quotes names no version', async (t) => {
  const { rig } = await onRaw(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nETag: e\r\nContent-Length: 1\r\n\r\nx');
  });
  const { head } = await rig.fetch({});
  assert.equal(head?.etag, '');
});

for (const [name, headers, body] of [
  ['shorter than Content-Length', 'Content-Length: 10', 'short'],
  ['shorter than Content-Range', 'Content-Range: bytes 0-9/20\r\nContent-Length: 5', 'short'],
  ['longer than Content-Range', 'Content-Range: bytes 0-1/20\r\nContent-Length: 5', 'longer'],
  ['of zero bytes where some were promised', 'Content-Length: 10', ''],
] as const) {
  test(`a body ${name} is broken, never complete`, async (t) => {
    const status = headers.includes('Range') ? '206 Partial Content' : '200 OK';
    const { rig } = await onRaw(t, ({ socket }) => {
      socket.end(`HTTP/1.1 ${status}\r\nETag: "e"\r\n${headers}\r\n\r\n${body}`);
    });
    const { end } = await rig.fetch({});
    assert.equal(end, 'broken');
    assert.equal(rig.fetcher.inFlight, 0);
  });
}

test('bytes that are not taken wait until there is room', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  const content = Buffer.alloc(3_000_000, 'abcdefg');
  s3.put('data', 'key', content);
  const fetched = rig.start({}, 1000);
  let sawPause = 0;
  while (fetched.end === null) {
    await sleep(1);
    if (fetched.room > 0) continue;
    sawPause++;
    fetched.room = 200_000;
    const before = fetched.bytes.length;
    rig.fetcher.more(fetched.id);
    assert.equal(fetched.bytes.length, before, 'never out of the call');
  }
  assert.equal(fetched.end, 'complete');
  assert.ok(fetched.bytes.equals(content));
  assert.ok(sawPause >= 14);
});

test('a paused fetch holds a bounded part of a large object', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.putSynthetic('data', 'key', 5_000_000_000);
  const fetched = rig.start({}, 10);
  while (fetched.bytes.length < 10) await sleep(5);
  await sleep(100);
  assert.ok(rig.client.counters.bodyBytesReceived < 1_000_000);
  rig.fetcher.cancel(fetched.id);
  assert.equal(rig.fetcher.inFlight, 0);
});

test('no event follows a cancel', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.put('data', 'key', Buffer.alloc(2_000_000));
  const early = rig.start({});
  rig.fetcher.cancel(early.id);
  const late = rig.start({}, 1000);
  while (late.bytes.length < 1000) await sleep(1);
  late.room = Infinity;
  rig.fetcher.more(late.id);
  rig.fetcher.cancel(late.id);
  await sleep(50);
  assert.deepEqual([early.head, early.end, early.failed], [null, null, false]);
  assert.deepEqual([late.bytes.length, late.end], [1000, null]);
  assert.equal(rig.client.counters.inFlight, 0);
});

test('an origin that answers 503 twice is asked a third time', async (t) => {
  const { rig, raw } = await onRaw(t, ({ socket, number }) => {
    const error = '<Error><Code>SlowDown</Code></Error>';
    socket.write(
      number < 3 ? answer('503 Slow Down', [], error) : answer('200 OK', ['ETag: "e"'], 'x'),
    );
  });
  const { end } = await rig.fetch({});
  assert.equal(end, 'complete');
  assert.equal(raw.requests.length, 3);
});

test('an origin that only ever says SlowDown fails with its own words', async (t) => {
  const { rig } = await onRaw(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', [], '<Error><Code>SlowDown</Code></Error>'));
  });
  const { error } = await rig.fetch({});
  assert.deepEqual([error?.status, error?.code], [503, 'SlowDown']);
});

test('a range beyond the end is an error that knows the size', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.put('data', 'key', '0123456789');
  const { head } = await rig.fetch({ rangeKind: 'bounded', first: 10, last: 20 });
  assert.deepEqual([head?.status, head?.error?.code, head?.size], [416, 'InvalidRange', 10]);
});

test('an error in a chunked body is read, an endless one is cut', async (t) => {
  const { rig } = await onRaw(t, ({ socket, number }) => {
    socket.write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = (text: string): void => {
      socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
    };
    chunk('<Error><Code>AccessDe');
    chunk('nied</Code></Error>');
    if (number === 1) socket.write('0\r\n\r\n');
    else for (let i = 0; i < 100; i++) chunk('x'.repeat(1000));
  });
  const whole = await rig.fetch({});
  assert.equal(whole.error?.code, 'AccessDenied');
  const endless = await rig.fetch({});
  assert.equal(endless.error?.code, 'AccessDenied');
  assert.equal(endless.error.body.length, 64 * 1024);
});

test('a redirect to another endpoint is an error, not an object', async (t) => {
  const { rig } = await onRaw(t, ({ socket }) => {
    socket.write(
      answer('301 Moved Permanently', [], '<Error><Code>PermanentRedirect</Code></Error>'),
    );
  });
  const { error } = await rig.fetch({});
  assert.deepEqual([error?.status, error?.code], [301, 'PermanentRedirect']);
});

test('a bucket without an origin fails like an origin that is down, and says why', async () => {
  const rig = new Rig(null);
  const { failed, error } = await rig.fetch({});
  assert.deepEqual([failed, error], [true, null]);
  assert.equal(rig.failures[0]?.code, 'unknown-origin');
});

test('a bucket’s own origin may have another name for it', async (t) => {
  const s3 = await startMemoryS3({ buckets: ['real-name'] });
  t.after(() => s3.close());
  s3.put('real-name', 'key', 'there');
  const rig = new Rig({ ...settingsFor(s3.endpoint), bucket: 'real-name' });
  t.after(() => rig.client.close());
  const { bytes } = await rig.fetch({});
  assert.equal(bytes.toString(), 'there');
});

test('a request that was refused because of the time it was signed for is signed for the origin’s, and later ones at once', async (t) => {
  const date = new Date(Date.now() + 3_600_000);
  const times: string[] = [];
  const { rig } = await onRaw(t, ({ head, socket, number }) => {
    times.push(/x-amz-date: (\d{8}T\d{4})/i.exec(head)![1]!);
    const lines = [`Date: ${date.toUTCString()}`, 'ETag: "e"'];
    const refusal = '<Error><Code>RequestTimeTooSkewed</Code></Error>';
    const bytes =
      number === 1 ? answer('403 Forbidden', lines, refusal) : answer('200 OK', lines, 'x');
    socket.write(bytes);
  });
  for (let fetch = 0; fetch < 2; fetch++) {
    const { head, bytes } = await rig.fetch({});
    assert.equal(head?.status, 200);
    assert.equal(bytes.toString(), 'x');
  }
  const theirs = date.toISOString().replace(/[-:]/g, '').slice(0, 13);
  assert.deepEqual(
    times.map((time) => Math.abs(Number(time.slice(9)) - Number(theirs.slice(9))) <= 1),
    [false, true, true],
    `${times.join(', ')}; there it is ${theirs}`,
  );
});
