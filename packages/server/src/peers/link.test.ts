import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  encodeBareFrame,
  encodeFrameHeader,
  frameHeaderBytes,
  FrameType,
  maxPayloadBytes,
} from '@s3-accelerator/protocol/frame.ts';
import {
  encodeBytesAnswer,
  encodeFailureAnswer,
  failureAnswerBound,
} from '@s3-accelerator/protocol/read-answer.ts';
import { encodeReadRequest, readRequestBound } from '@s3-accelerator/protocol/read-request.ts';
import { blocksRequest, Cluster, patternBytes, until } from './testing/cluster.ts';
import { RawEnd, rawNode } from './testing/raw-end.ts';

function bareFrame(type: number, requestId = 0, bodyLength = 0, payloadLength = 0): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes);
  encodeFrameHeader(frame, 0, type, 0, requestId, payloadLength, bodyLength);
  return frame;
}

function bytesAnswer(requestId: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHeaderBytes);
  encodeBytesAnswer(head, 0, requestId, body.length, 0);
  return Buffer.concat([head, body]);
}

function failureAnswer(requestId: number): Buffer {
  const error = { status: 500, code: 'X', headerLines: Buffer.alloc(90), body: Buffer.alloc(500) };
  const frame = Buffer.alloc(failureAnswerBound(error));
  encodeFailureAnswer(frame, 0, requestId, 'origin', error, 0);
  return frame;
}

function blocksFrame(requestId: number): Buffer {
  const request = blocksRequest(0, 100);
  const frame = Buffer.alloc(readRequestBound(request));
  return frame.subarray(0, encodeReadRequest(frame, 0, requestId, request));
}

describe('what a node does with frames that break the protocol', () => {
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster();
  });
  afterEach(() => {
    cluster.stop();
  });

  const faulty: readonly [string, 'multiplexed' | 'exclusive' | 'forward', Buffer][] = [
    ['an unknown type', 'multiplexed', bareFrame(250)],
    ['a handshake frame once open', 'multiplexed', bareFrame(FrameType.ready)],
    ['an answer', 'multiplexed', bareFrame(FrameType.answerBytes, 1)],
    [
      'a payload beyond the limit',
      'multiplexed',
      bareFrame(FrameType.cancel, 1, 0, maxPayloadBytes + 1),
    ],
    ['a request without its payload', 'multiplexed', bareFrame(FrameType.readBlocks, 1)],
    ['a request with a body', 'multiplexed', bareFrame(FrameType.cancel, 1, 10)],
    ['random bytes', 'multiplexed', patternBytes(4096)],
    [
      'a second read on an exclusive link',
      'exclusive',
      Buffer.concat([blocksFrame(1), blocksFrame(2)]),
    ],
    ['a read on a forward link', 'forward', blocksFrame(1)],
    ['a body without a head', 'forward', bareFrame(FrameType.requestBody, 0, 10)],
    ['an end without a head', 'forward', bareFrame(FrameType.requestEnd)],
    [
      'a head that makes no sense',
      'forward',
      Buffer.concat([bareFrame(FrameType.requestHead, 0, 0, 16), Buffer.alloc(16, 0xff)]),
    ],
  ];
  for (const [what, purpose, bytes] of faulty) {
    test(`${what}: the link ends, and one line says so`, async () => {
      const end = RawEnd.ask(cluster.port, purpose);
      await until('the link is open', () => end.open);
      end.socket.write(bytes);
      await until('the link is closed', () => end.closed);
      await until('nothing is left', () => cluster.server.links === 0);
      assert.equal(cluster.server.reads.underWay, 0);
      assert.equal(cluster.nodeLog.count('breaks the protocol'), 1);
    });
  }

  test('a ping is answered, a pong is not', async () => {
    const end = RawEnd.ask(cluster.port, 'multiplexed');
    await until('the link is open', () => end.open);
    end.socket.write(Buffer.concat([bareFrame(FrameType.pong), bareFrame(FrameType.ping)]));
    await until('the pong', () => end.frames.length === 1);
    assert.equal(end.frames[0]!.type, FrameType.pong);
    end.socket.destroy();
  });

  test('requests that come byte by byte are read all the same', async () => {
    const end = RawEnd.ask(cluster.port, 'multiplexed');
    await until('the link is open', () => end.open);
    end.socket.setNoDelay(true);
    for (const byte of Buffer.concat([blocksFrame(7), blocksFrame(8)])) {
      end.socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until('both reads', () => cluster.node.reads.length === 2);
    assert.deepEqual(
      cluster.node.reads.map(({ last }) => last),
      [99, 99],
    );
    end.socket.destroy();
    await until('they are cancelled', () => cluster.node.cancelled.length === 2);
  });

  test('a cancellation of a read that isn’t there is ignored', async () => {
    const end = RawEnd.ask(cluster.port, 'multiplexed');
    await until('the link is open', () => end.open);
    const cancel = Buffer.alloc(frameHeaderBytes);
    encodeBareFrame(cancel, 0, FrameType.cancel, 5);
    end.socket.write(Buffer.concat([cancel, blocksFrame(6)]));
    await until('the next read', () => cluster.node.reads.length === 1);
    end.socket.destroy();
  });
});

describe('what a gateway does with answers', () => {
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster();
  });
  afterEach(() => {
    cluster.stop();
  });

  /** Sends one read of so many bytes to a node that answers with these bytes. */
  async function answerWith(length: number, answer: (requestId: number) => Buffer): Promise<void> {
    const node = await rawNode((end) => {
      end.onFrame = ({ type, requestId }) => {
        if (type === FrameType.readBlocks) end.socket.write(answer(requestId));
      };
    });
    cluster.peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port: node.port }]);
    cluster.peers.sendRead(1, 1, blocksRequest(0, length));
    await until('the answer', () => cluster.core.answers.length === 1);
    node.close();
  }

  const faulty: readonly [string, (requestId: number) => Buffer][] = [
    ['an answer that nobody asked for', (id) => bytesAnswer(id + 1, Buffer.alloc(10))],
    ['fewer bytes than were asked for', (id) => bytesAnswer(id, Buffer.alloc(1))],
    ['more bytes than were asked for', (id) => bytesAnswer(id, Buffer.alloc(50_000))],
    ['a request', (id) => bareFrame(FrameType.cancel, id)],
    ['a failure cut short', (id) => bareFrame(FrameType.answerFailure, id)],
  ];
  for (const [what, answer] of faulty) {
    for (const length of [10, 40_000]) {
      test(`${what} (to a read of ${length} bytes): the read fails`, async () => {
        await answerWith(length, answer);
        assert.equal(cluster.core.outcome(1), 'peer');
        assert.equal(cluster.gatewayLog.count('breaks the protocol'), 1);
        assert.equal(cluster.peers.readsUnderWay, 0);
      });
    }
  }

  test('a body larger than a multiplexed link takes is refused before it is kept', async () => {
    await answerWith(10, (id) => bareFrame(FrameType.answerBytes, id, 1024 * 1024));
    assert.equal(cluster.core.outcome(1), 'peer');
  });

  test('answers that come in pieces of any size are read all the same', async () => {
    const { core, peers } = cluster;
    const small = patternBytes(3000);
    const large = patternBytes(150_000, 5);
    const client = await cluster.client();
    let state = 1;
    const node = await rawNode((end) => {
      let toSend = Buffer.alloc(0);
      const drip = (): void => {
        if (toSend.length === 0) return;
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        const length = 1 + ((state >>> 16) % (end.purpose === 'exclusive' ? 20_000 : 900));
        end.socket.write(toSend.subarray(0, length));
        toSend = toSend.subarray(length);
        setImmediate(drip);
      };
      end.socket.setNoDelay(true);
      end.onFrame = ({ requestId, payload }) => {
        const wanted = payload.readUInt32LE(40) - payload.readUInt32LE(32) + 1;
        const body = wanted > 32 * 1024 ? large : small;
        const answer = wanted === 99 ? failureAnswer(requestId) : bytesAnswer(requestId, body);
        if (toSend.length === 0) setImmediate(drip);
        toSend = Buffer.concat([toSend, answer]);
      };
    });
    peers.setMembers([{ nodeId: 1, host: '127.0.0.1', port: node.port }]);
    const bodies = new Map<number, Buffer>();
    core.onEach = (read, answer) => {
      if (answer.kind !== 'bytes') return;
      peers.relayBody(read, client.connection);
      bodies.set(read, read % 10 === 0 ? large : small);
    };
    for (let read = 1; read <= 60; read++) {
      const length = read % 10 === 0 ? large.length : read % 10 === 5 ? 99 : small.length;
      peers.sendRead(read, 1, blocksRequest(0, length));
    }
    await until('all answers', () => core.answers.length === 60);
    await until('all bodies', () => core.queued.length === 54);
    const expected = Buffer.concat([...bodies.values()]);
    await until('all bytes', () => client.length === expected.length);
    assert.ok(client.bytes.equals(expected));
    for (let read = 5; read <= 60; read += 10) assert.equal(core.outcome(read), 'origin');
    assert.equal(cluster.gatewayLog.lines.length, 0);
    node.close();
  });
});
