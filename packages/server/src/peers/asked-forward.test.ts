/** A passed-through request and the ways that it takes, one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForwardRequest, ForwardSink, Forwarding } from '../passthrough/forward.ts';
import { AskedForward, type ForwardWay } from './asked-forward.ts';

/** A node that does what the test says. */
class Way implements ForwardWay, Forwarding {
  taken: AskedForward | null = null;
  withdrawn = false;
  readonly calls: string[] = [];

  take(asked: AskedForward): void {
    this.taken = asked;
  }

  withdraw(): void {
    this.withdrawn = true;
  }

  write(bytes: Uint8Array): boolean {
    this.calls.push(`write ${Buffer.from(bytes).toString()}`);
    return true;
  }

  end(): void {
    this.calls.push('end');
  }

  abort(): void {
    this.calls.push('abort');
  }

  pause(): void {
    this.calls.push('pause');
  }

  resume(): void {
    this.calls.push('resume');
  }
}

class Sink implements ForwardSink {
  readonly events: string[] = [];

  onHead(status: number): void {
    this.events.push(`head ${status}`);
  }

  onBody(bytes: Uint8Array): void {
    this.events.push(`body ${Buffer.from(bytes).toString()}`);
  }

  onEnd(): void {
    this.events.push('end');
  }

  onFailed({ code, message }: { code: string; message: string }): void {
    this.events.push(`${code}: ${message}`);
  }

  onDrain(): void {
    this.events.push('drain');
  }
}

const requestOf = (method: string, bodyLength: number | null): ForwardRequest => ({
  method,
  bucket: 'b',
  key: 'k',
  target: '/b/k',
  headers: [],
  bodyLength,
});
const get = requestOf('GET', null);
const put = requestOf('PUT', 5);
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an upload that was not sent goes on with all that was written, and with its pause', () => {
  const [first, second, sink] = [new Way(), new Way(), new Sink()];
  const asked = new AskedForward(put, sink, [first, second]);
  assert.equal(asked.write(Buffer.from('by')), false);
  assert.equal(asked.write(Buffer.from('tes')), false);
  asked.end();
  asked.pause();
  first.taken!.goOn('no link');
  second.taken!.onWay(second);
  assert.deepEqual(second.calls, ['write by', 'write tes', 'end', 'pause']);
  assert.deepEqual(first.calls, []);
  assert.deepEqual(sink.events, ['drain']);
});

test('without any way left it fails, after the call, and says why', async () => {
  const [way, sink] = [new Way(), new Sink()];
  new AskedForward(put, sink, [way]).end();
  way.taken!.goOn('no link to it');
  assert.deepEqual(sink.events, []);
  await soon();
  const none = new Sink();
  new AskedForward(get, none, []).end();
  await soon();
  assert.deepEqual(sink.events, ['ServiceUnavailable: no link to it']);
  assert.deepEqual(none.events, ['ServiceUnavailable: no storage node is known']);
});

test('a read that was sent is asked again elsewhere, unless its answer has begun', () => {
  for (const hasBegun of [false, true]) {
    const [first, second, sink] = [new Way(), new Way(), new Sink()];
    const asked = new AskedForward(get, sink, [first, second]);
    asked.end();
    asked.onWay(first);
    if (hasBegun) asked.onHead(200, []);
    asked.onLost('the link was lost');
    assert.equal(second.taken === asked, !hasBegun);
    if (hasBegun) {
      assert.deepEqual(sink.events, ['head 200', 'ServiceUnavailable: the link was lost']);
    } else {
      asked.onWay(second);
      assert.deepEqual(second.calls, ['end']);
      assert.deepEqual(sink.events, []);
    }
  }
});

test('an upload of whose body nothing has left is sent elsewhere, and its body there', () => {
  const [first, second, sink] = [new Way(), new Way(), new Sink()];
  const asked = new AskedForward(put, sink, [first, second]);
  asked.onWay(first);
  asked.onLost('the link was lost');
  assert.equal(second.taken, asked);
  assert.equal(asked.write(Buffer.from('bytes')), false);
  asked.end();
  asked.onWay(second);
  assert.deepEqual([first.calls, second.calls], [[], ['write bytes', 'end']]);
  assert.deepEqual(sink.events, ['drain']);
});

test('what may have changed something is never sent twice', () => {
  for (const request of [
    put,
    requestOf('PUT', 0),
    requestOf('DELETE', null),
    requestOf('POST', 5),
    requestOf('GET', 3),
  ]) {
    const [first, second, sink] = [new Way(), new Way(), new Sink()];
    const asked = new AskedForward(request, sink, [first, second]);
    if (request === put) asked.write(Buffer.from('b'));
    asked.onWay(first);
    if (request.bodyLength! > 0 && request !== put) asked.write(Buffer.from('b'));
    asked.onLost('the link was lost');
    assert.equal(second.taken, null, request.method);
    assert.equal(sink.events.at(-1), 'ServiceUnavailable: the link was lost');
  }
});

test('one that was given up is heard of no more, wherever it is', async () => {
  const [way, sink] = [new Way(), new Sink()];
  const waiting = new AskedForward(put, sink, [way]);
  waiting.abort();
  assert.ok(way.withdrawn);
  waiting.goOn('too late');
  const sent = new AskedForward(put, sink, [way]);
  sent.onWay(way);
  sent.abort();
  sent.onHead(200, []);
  sent.onEnd();
  sent.onLost('too late');
  await soon();
  assert.deepEqual(way.calls, ['abort']);
  assert.deepEqual(sink.events, []);
});
