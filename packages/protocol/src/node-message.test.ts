import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNodeMessage, type NodeMessage } from '@s3-accelerator/core/node-message.ts';
import fc from 'fast-check';
import { decodeFrameHeader, frameHeaderBytes, newFrameHeader } from './frame.ts';
import {
  decodeNodeMessage,
  encodeNodeMessage,
  isNodeMessage,
  nodeMessageBytes,
} from './node-message.ts';

const message: NodeMessage = {
  kind: 'lease',
  from: 3,
  placement: { hi: 0xdeadbeef, lo: 5 },
  turn: 9,
  leaseMs: 9999.5,
  reads: 0x1_0000_0002,
  hash: { h0: 1, h1: 2, h2: 3, h3: 0xffff_ffff },
};

function encode(kind: NodeMessage['kind'], change: Partial<NodeMessage> = {}): Uint8Array {
  const sent = { ...message, ...change, kind };
  const bytes = new Uint8Array(nodeMessageBytes(sent));
  assert.equal(encodeNodeMessage(bytes, 0, sent), bytes.length);
  return bytes;
}

function decode(bytes: Uint8Array): NodeMessage | string {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  if (fault !== null) return fault;
  if (!isNodeMessage(header.type)) return 'another frame';
  const into = newNodeMessage();
  return decodeNodeMessage(bytes, frameHeaderBytes, bytes.length, header, into) ?? into;
}

const heads = {
  lease: '14000000' + '38',
  accepted: '10000000' + '39',
  refused: '10000000' + '3c',
  report: '18000000' + '3a',
};
const rest = '00' + '0000' + '00000000' + '00000000';
const placed = 'efbeadde' + '05000000' + '03000000' + '09000000';

test('messages have these bytes', () => {
  const hex = (kind: NodeMessage['kind']): string => Buffer.from(encode(kind)).toString('hex');
  assert.equal(hex('lease'), heads.lease + rest + placed + '10270000');
  assert.equal(hex('accepted'), heads.accepted + rest + placed);
  assert.equal(hex('refused'), heads.refused + rest + placed);
  assert.equal(hex('report'), heads.report + rest + placed + '0200000001000000');
  assert.equal(
    hex('written'),
    '14000000' + '3b' + rest + '01000000' + '02000000' + '03000000' + 'ffffffff' + '03000000',
  );
});

test('any message comes back as it was sent', () => {
  const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
  const placement = fc.record({ hi: u32, lo: u32 }, { noNullPrototype: true });
  const turn = fc.integer({ min: 1, max: 0xffff_ffff });
  const leaseMs = fc.integer({ min: 1, max: 0xffff_ffff });
  const reads = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(u32, placement, turn, leaseMs, reads, (from, lent, nth, ms, count) => {
      const own = { from, placement: lent, turn: nth };
      const blank = newNodeMessage();
      assert.deepEqual(decode(encode('lease', { ...own, leaseMs: ms })), {
        ...blank,
        ...own,
        leaseMs: ms,
      });
      for (const kind of ['accepted', 'refused'] as const) {
        assert.deepEqual(decode(encode(kind, own)), { ...blank, ...own, kind });
      }
      assert.deepEqual(decode(encode('report', { ...own, reads: count })), {
        ...blank,
        ...own,
        kind: 'report',
        reads: count,
      });
      const hash = { h0: from, h1: lent.hi, h2: lent.lo, h3: nth };
      assert.deepEqual(decode(encode('written', { from, hash })), {
        ...blank,
        kind: 'written',
        from,
        hash,
      });
    }),
  );
});

test('a message cut or stretched anywhere is refused', () => {
  for (const kind of ['lease', 'accepted', 'refused', 'report', 'written'] as const) {
    const bytes = encode(kind);
    for (let length = frameHeaderBytes; length < bytes.length; length++) {
      assert.equal(decode(bytes.subarray(0, length)), 'length');
    }
    assert.equal(decode(new Uint8Array([...bytes, 0])), 'length');
  }
});

test('figures, flags and bodies that make no sense are refused', () => {
  const changed = (bytes: Uint8Array, at: number, ...values: number[]): string => {
    bytes.set(values, at);
    const decoded = decode(bytes);
    return typeof decoded === 'string' ? decoded : decoded.kind;
  };
  assert.equal(changed(encode('lease'), 5, 1), 'reserved', 'a flag');
  assert.equal(changed(encode('lease'), 8, 1), 'reserved', 'a request id');
  assert.equal(changed(encode('lease'), 12, 1), 'limit', 'a body');
  assert.equal(changed(encode('accepted'), frameHeaderBytes + 12, 0, 0, 0, 0), 'figure', 'turn 0');
  assert.equal(changed(encode('lease'), frameHeaderBytes + 16, 0, 0, 0, 0), 'figure', 'no time');
  assert.equal(changed(encode('report'), frameHeaderBytes + 23, 1), 'figure', 'past 2^53');
  assert.equal(changed(encode('report'), 4, 61), 'another frame');
});
