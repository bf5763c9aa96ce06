// Answers that come bit by bit, and operations of which the gateway understands no more than their name.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Origins } from '../origin/origins.ts';
import { RawOrigin, type RawScript } from '../origin/testing/raw-origin.ts';
import { RawConnection } from '../testing/raw-connection.ts';
import { GatewayRig } from './testing/gateway-rig.ts';
import { call, open, signedHead } from './testing/signed-client.ts';

async function onRaw(
  t: TestContext,
  script: RawScript,
): Promise<{ raw: RawOrigin; rig: GatewayRig }> {
  const raw = await RawOrigin.start(script);
  const credentials = { accessKeyId: 'origin', secretAccessKey: 'origin-secret' };
  const rig = new GatewayRig(
    new Origins({ endpoint: raw.endpoint, region: 'us-east-1', credentials }),
  );
  t.after(async () => {
    await rig.close();
    await raw.close();
  });
  return { raw, rig };
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

test('the events of a select reach the client while the origin still works on the next', async (t) => {
  const events = [randomBytes(200), randomBytes(70_000), randomBytes(1)];
  let next: (() => void) | null = null;
  const { raw, rig } = await onRaw(t, ({ socket }) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const left = [...events];
    next = () => {
      const event = left.shift();
      socket.write(event === undefined ? '0\r\n\r\n' : chunk(event));
    };
    next();
  });
  const body = Buffer.from('<SelectObjectContentRequest/>');
  const request = { method: 'POST', target: '/data/k?select&select-type=2', body };
  const connection = RawConnection.over(await open(rig.port));
  t.after(() => connection.close());
  connection.write(signedHead(request, body.length).head);
  connection.write(body);
  // Each event has to come before the origin is told to send the one behind it.
  const expected = Buffer.concat(events);
  let received = Buffer.alloc(0);
  const ends = [200, 70_200, 70_201];
  const got = await connection.answer({
    onBody: (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (ends.length > 0 && received.length >= ends[0]!) {
        ends.shift();
        next?.();
      }
    },
  });
  assert.deepEqual([got.status, got.isCut], [200, false]);
  assert.equal(got.header('content-type'), 'application/vnd.amazon.eventstream');
  assert.ok(received.equals(expected));
  assert.ok(raw.requests[0]!.body.equals(body));
  assert.match(raw.requests[0]!.head, /^POST \/data\/k\?select&select-type=2 HTTP/);
  assert.deepEqual(rig.writes, [], 'a select writes nothing');
});

test('attributes are asked for in headers, and come back as the origin wrote them', async (t) => {
  const document = '<GetObjectAttributesOutput>\r\n<ETag>e</ETag></GetObjectAttributesOutput>';
  const { raw, rig } = await onRaw(t, ({ socket }) => {
    socket.write(
      `HTTP/1.1 200 OK\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nx-amz-version-id: v\r\nContent-Length: ${document.length}\r\n\r\n${document}`,
    );
  });
  const got = await call(rig.port, {
    method: 'GET',
    target: '/data/k?attributes&versionId=v',
    headers: ['x-amz-object-attributes', 'ETag,ObjectParts', 'x-amz-max-parts', '2'],
  });
  assert.equal(got.body.toString(), document);
  assert.equal(got.header('x-amz-version-id'), 'v');
  const { head } = raw.requests[0]!;
  assert.match(head, /^GET \/data\/k\?attributes&versionId=v HTTP/);
  assert.match(head, /\r\nx-amz-object-attributes: ETag,ObjectParts\r\n/);
  assert.match(head, /\r\nx-amz-max-parts: 2\r\n/);
});

test('what must never reach an origin does not, whatever the grants', async (t) => {
  const { raw, rig } = await onRaw(t, ({ socket }) => socket.end());
  for (const [method, target] of [
    ['GET', '/data?session'],
    ['GET', '/data?session&acl'],
    ['PUT', '/data/k?renameObject'],
    ['POST', '/data/k?x-accel-purge'],
  ] as const) {
    assert.equal((await call(rig.port, { method, target })).status, 501, target);
  }
  assert.equal(raw.requests.length, 0);
});
