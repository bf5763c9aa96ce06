import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding, ForwardRequest, ForwardSink } from '../passthrough/forward.ts';
import { WriteNotice } from './write-notice.ts';

/** A port whose answers the test gives, and what everybody heard, in order. */
function noticed(request: Partial<ForwardRequest>): {
  heard: string[];
  sink: ForwardSink;
  forwarding: Forwarding;
} {
  const heard: string[] = [];
  const say = (what: string) => () => {
    heard.push(what);
  };
  let answers: ForwardSink | null = null;
  const port = {
    forward(_request: ForwardRequest, sink: ForwardSink): Forwarding {
      heard.push('sent');
      answers = sink;
      return {
        write: () => true,
        end: say('end'),
        abort: say('abort'),
        pause: say('pause'),
        resume: say('resume'),
      };
    },
  };
  const node = {
    hashOf: () => ({ h0: 1, h1: 2, h2: 3, h3: 4 }),
    onWrite: (_hash: unknown, what: string) => {
      heard.push(what);
    },
  };
  const client: ForwardSink = {
    onHead: say('client: head'),
    onBody: say('client: body'),
    onEnd: say('client: end'),
    onFailed: say('client: failed'),
    onDrain: say('client: drain'),
  };
  const whole = { bucket: 'bucket', key: 'key', target: '/bucket/key', headers: [], bodyLength: 1 };
  const notice = new WriteNotice(port, node);
  const forwarding = notice.forward({ ...whole, method: 'PUT', ...request }, client);
  return { heard, sink: answers!, forwarding };
}

test('a node hears of a write before S3 does, and of its end before the client does', () => {
  const { heard, sink } = noticed({});
  sink.onHead(200, []);
  sink.onBody(new Uint8Array(1));
  sink.onEnd();
  assert.deepEqual(heard, [
    ...['started', 'sent'],
    ...['finished', 'client: head', 'client: body'],
    ...['finished', 'client: end'],
  ]);
});

test('a write that fails may have been made: the node hears of its end', () => {
  const { heard, sink } = noticed({ method: 'DELETE' });
  sink.onFailed({ code: 'ServiceUnavailable', message: '' });
  assert.deepEqual(heard, ['started', 'sent', 'finished', 'client: failed']);
});

test('so may one that is broken off', () => {
  const { heard, forwarding } = noticed({});
  forwarding.abort();
  assert.deepEqual(heard, ['started', 'sent', 'abort', 'finished']);
});

test('reads, and requests that name no key, are none of its business', () => {
  for (const request of [{ method: 'GET' }, { method: 'HEAD' }, { key: '' }]) {
    const { heard, sink, forwarding } = noticed(request);
    sink.onHead(200, []);
    sink.onEnd();
    forwarding.abort();
    assert.deepEqual(heard, ['sent', 'client: head', 'client: end', 'abort']);
  }
});
