import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameHeaderBytes } from './frame.ts';
import type { LinkPurpose } from './handshake.ts';
import {
  challengeBytes,
  decodeChallenge,
  decodeHello,
  decodeRefused,
  decodeResponse,
  encodeChallenge,
  encodeHello,
  encodeProof,
  encodeRefused,
  encodeResponse,
  helloBytes,
  refusedBytes,
  responseBytes,
} from './handshake.ts';

const nonceA = new Uint8Array(32).fill(0xaa);
const nonceB = new Uint8Array(32).fill(0xbb);
const mac = new Uint8Array(32).fill(0xcc);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('hello has these bytes, in every version', () => {
  const bytes = new Uint8Array(helloBytes);
  const hello = { version: 1, purpose: 'exclusive', nonce: nonceA } as const;
  assert.equal(encodeHello(bytes, 0, hello), helloBytes);
  const header = '28000000010000000000000000000000';
  assert.equal(hex(bytes), header + '5333414c01000100' + 'aa'.repeat(32));
  assert.deepEqual(decodeHello(bytes, frameHeaderBytes, helloBytes), hello);
});

test('challenge, response and refused have these bytes', () => {
  const challenge = new Uint8Array(challengeBytes);
  assert.equal(encodeChallenge(challenge, 0, { version: 1, nonce: nonceB, mac }), challengeBytes);
  assert.equal(
    hex(challenge),
    '44000000020000000000000000000000' + '01000000' + 'bb'.repeat(32) + 'cc'.repeat(32),
  );
  assert.deepEqual(decodeChallenge(challenge, frameHeaderBytes, challengeBytes), {
    version: 1,
    nonce: nonceB,
    mac,
  });

  const response = new Uint8Array(responseBytes);
  assert.equal(encodeResponse(response, 0, mac), responseBytes);
  assert.equal(hex(response), '20000000030000000000000000000000' + 'cc'.repeat(32));
  assert.deepEqual(decodeResponse(response, frameHeaderBytes, responseBytes), mac);

  const refused = new Uint8Array(refusedBytes);
  assert.equal(encodeRefused(refused, 0, { reason: 'secret', version: 1 }), refusedBytes);
  assert.equal(hex(refused), '04000000040000000000000000000000' + '01000100');
  assert.deepEqual(decodeRefused(refused, frameHeaderBytes, refusedBytes), {
    reason: 'secret',
    version: 1,
  });
});

test('a hello of another version is read, so that it can be refused by name', () => {
  const bytes = new Uint8Array(helloBytes);
  encodeHello(bytes, 0, { version: 65_535, purpose: 'forward', nonce: nonceA });
  const decoded = decodeHello(bytes, frameHeaderBytes, helloBytes);
  assert.equal(typeof decoded === 'string' ? decoded : decoded.version, 65_535);
});

test('wrong magic, purposes, reasons, lengths and reserved bytes are refused', () => {
  const bytes = new Uint8Array(helloBytes);
  const broken = (change: (copy: Uint8Array) => void): unknown => {
    encodeHello(bytes, 0, { version: 1, purpose: 'multiplexed', nonce: nonceA });
    change(bytes);
    return decodeHello(bytes, frameHeaderBytes, helloBytes);
  };
  assert.equal(
    broken((copy) => copy.set([0], 16)),
    'type',
  );
  assert.equal(
    broken((copy) => copy.set([3], 22)),
    'figure',
  );
  assert.equal(
    broken((copy) => copy.set([1], 23)),
    'reserved',
  );
  assert.equal(decodeHello(bytes, frameHeaderBytes, helloBytes - 1), 'length');
  assert.equal(decodeChallenge(bytes, frameHeaderBytes, helloBytes), 'length');
  assert.equal(decodeResponse(bytes, frameHeaderBytes, helloBytes), 'length');
  assert.equal(decodeRefused(new Uint8Array([4, 0, 1, 0]), 0, 4), 'figure');
  assert.equal(decodeRefused(new Uint8Array([0, 1, 1, 0]), 0, 4), 'reserved');
  assert.equal(decodeRefused(new Uint8Array(3), 0, 3), 'length');
});

test('what a proof covers differs by version, purpose, role and each nonce', () => {
  const proofs = new Set<string>();
  for (const version of [1, 2]) {
    for (const purpose of ['multiplexed', 'exclusive', 'forward'] satisfies LinkPurpose[]) {
      for (const [asking, answering] of [
        [nonceA, nonceB],
        [nonceB, nonceA],
      ] as const) {
        proofs.add(hex(encodeProof(version, purpose, 'asking', asking, answering)));
        proofs.add(hex(encodeProof(version, purpose, 'answering', asking, answering)));
      }
    }
  }
  assert.equal(proofs.size, 24);
});
