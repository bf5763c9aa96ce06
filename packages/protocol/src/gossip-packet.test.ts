import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  maxIncarnation,
  maxPlace,
  maxWeight,
  recordBytes,
  type MemberRecord,
} from '@s3-accelerator/core/membership/member-record.ts';
import {
  maxDatagramBytes,
  newPacket,
  packetFixedBytes,
  type Packet,
} from '@s3-accelerator/core/membership/packet.ts';
import { decodeGossip, encodeGossip, gossipBodyLength, gossipMacBytes } from './gossip-packet.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const record: MemberRecord = {
  nodeId: 0x01020304,
  run: 0xa0b0c0d0,
  incarnation: 5,
  status: 'suspect',
  place: 7,
  weight: 3800,
  address: '10.0.1.10:9400',
};
const packet: Packet = {
  kind: 'relay',
  sender: 9,
  run: 0xdeadbeef,
  isMember: true,
  sequence: 0x11223344,
  subject: 0x55667788,
  isLast: false,
  digest: 0x99aabbcc,
  updates: [record],
};

function encoded(source: Packet): Uint8Array {
  const bytes = new Uint8Array(maxDatagramBytes);
  return bytes.slice(0, encodeGossip(bytes, source));
}

test('a packet has these bytes', () => {
  assert.equal(
    hex(encoded(packet)),
    '53470102' + // magic, version, kind
      '09000000' +
      'efbeadde' +
      '44332211' +
      '88776655' +
      'ccbbaa99' +
      '01000100' +
      '04030201' +
      'd0c0b0a0' +
      '05000000' +
      '07000000' +
      'd80e0000' +
      '010e' +
      Buffer.from('10.0.1.10:9400').toString('hex'),
  );
});

test('every kind comes back as it was', () => {
  for (const kind of ['ping', 'ack', 'relay', 'pull', 'page', 'news', 'claim'] as const) {
    const sent = { ...packet, kind, isLast: kind === 'page', updates: [record, record] };
    const bytes = encoded(sent);
    const received = newPacket();
    assert.equal(decodeGossip(bytes, bytes.length, received), null);
    assert.deepEqual(received, sent);
  }
});

test('the core counts a packet’s bytes as the wire has them', () => {
  const bytes = encoded(packet);
  assert.equal(bytes.length + gossipMacBytes, packetFixedBytes + recordBytes(record));
});

test('what a decoder refuses', () => {
  const whole = encoded(packet);
  const harmed = (at: number, ...values: number[]): string | null => {
    const bytes = whole.slice();
    bytes.set(values, at);
    return decodeGossip(bytes, bytes.length, newPacket());
  };
  const u32 = (value: number): number[] => [
    value & 255,
    (value >>> 8) & 255,
    (value >>> 16) & 255,
    value >>> 24,
  ];
  assert.equal(harmed(0, 0), 'type');
  assert.equal(harmed(2, 2), 'type');
  assert.equal(harmed(3, 7), 'type');
  assert.equal(harmed(24, 2), 'reserved');
  assert.equal(harmed(24, 4), 'reserved');
  assert.equal(harmed(25, 1), 'reserved');
  assert.equal(harmed(26, 2), 'length');
  assert.equal(harmed(26, 0), 'length');
  assert.equal(harmed(36, ...u32(maxIncarnation + 1)), 'figure');
  assert.equal(harmed(40, ...u32(maxPlace + 1)), 'figure');
  assert.equal(harmed(44, ...u32(0)), 'figure');
  assert.equal(harmed(44, ...u32(maxWeight + 1)), 'figure');
  assert.equal(harmed(48, 4), 'figure');
  assert.equal(harmed(49, 0), 'figure');
  assert.equal(harmed(49, 54), 'length');
  assert.equal(harmed(50, 0x20), 'figure');
  assert.equal(harmed(50, 0x80), 'figure');
  for (let length = 0; length < whole.length; length++) {
    assert.equal(decodeGossip(whole, length, newPacket()), 'length');
  }
});

test('only what may be ours is worth a MAC', () => {
  const bytes = new Uint8Array(maxDatagramBytes + 1);
  const length = encodeGossip(bytes, packet) + gossipMacBytes;
  assert.equal(gossipBodyLength(bytes, length), length - gossipMacBytes);
  assert.equal(gossipBodyLength(bytes, 43), -1);
  assert.equal(gossipBodyLength(bytes, maxDatagramBytes + 1), -1);
  bytes[0] = 0;
  assert.equal(gossipBodyLength(bytes, length), -1);
});
