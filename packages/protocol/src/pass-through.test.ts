import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeFrameHeader, frameHeaderBytes, FrameType, newFrameHeader } from './frame.ts';
import type { PassThroughRequest } from './pass-through.ts';
import {
  decodeRequestHead,
  decodeResponseFailed,
  decodeResponseHead,
  encodeBodyFrame,
  encodeRequestHead,
  encodeResponseFailed,
  encodeResponseHead,
  requestHeadBytes,
  responseFailedBytes,
  responseHeadBytes,
} from './pass-through.ts';

const request: PassThroughRequest = {
  method: 'PUT',
  bucket: 'b',
  key: 'k\xff',
  target: '/b/k%ff?x',
  headers: ['Host', 'h', 'x-amz-Meta', ' \xe9 '],
  bodyLength: 0x1_0000_0001,
};

function encodeRequest(head: PassThroughRequest): Uint8Array {
  const bytes = new Uint8Array(requestHeadBytes(head));
  assert.equal(encodeRequestHead(bytes, 0, head), bytes.length);
  return bytes;
}

function decodeRequest(bytes: Uint8Array): ReturnType<typeof decodeRequestHead> {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  return fault ?? decodeRequestHead(bytes, frameHeaderBytes, bytes.length, header);
}

function encodeResponse(status: number, headers: string[]): Uint8Array {
  const bytes = new Uint8Array(responseHeadBytes(headers));
  assert.equal(encodeResponseHead(bytes, 0, status, headers), bytes.length);
  return bytes;
}

function decodeResponse(bytes: Uint8Array): ReturnType<typeof decodeResponseHead> {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  return fault ?? decodeResponseHead(bytes, frameHeaderBytes, bytes.length, header);
}

test('a request head has these bytes', () => {
  assert.equal(
    Buffer.from(encodeRequest(request)).toString('hex'),
    '4d000000' +
      '20' +
      '00' +
      '0000' +
      '00000000' +
      '00000000' +
      '0100000001000000' +
      '03000000' +
      '505554' +
      '01000000' +
      '62' +
      '02000000' +
      '6bff' +
      '09000000' +
      '2f622f6b2566663f78' +
      '04000000' +
      '04000000' +
      '486f7374' +
      '01000000' +
      '68' +
      '0a000000' +
      '782d616d7a2d4d657461' +
      '03000000' +
      '20e920',
  );
});

test('a response head and a failure have these bytes', () => {
  assert.equal(
    Buffer.from(encodeResponse(206, ['A', 'b'])).toString('hex'),
    '12000000' +
      '28' +
      '00' +
      '0000' +
      '00000000' +
      '00000000' +
      'ce00' +
      '0000' +
      '02000000' +
      '01000000' +
      '41' +
      '01000000' +
      '62',
  );
  const failure = { code: 'SlowDown', message: 'm' };
  const bytes = new Uint8Array(responseFailedBytes(failure));
  assert.equal(encodeResponseFailed(bytes, 0, failure), bytes.length);
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '11000000' +
      '2b' +
      '00' +
      '0000' +
      '00000000' +
      '00000000' +
      '08000000' +
      '536c6f77446f776e' +
      '01000000' +
      '6d',
  );
  assert.deepEqual(decodeResponseFailed(bytes, frameHeaderBytes, bytes.length), failure);
});

test('a body frame is a bare head that announces its bytes', () => {
  const bytes = new Uint8Array(frameHeaderBytes);
  encodeBodyFrame(bytes, 0, FrameType.requestBody, 65_536);
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '00000000' + '21' + '00' + '0000' + '00000000' + '00000100',
  );
});

const binary = fc
  .uint8Array({ maxLength: 300 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const headers = fc.array(fc.tuple(binary, binary), { maxLength: 30 }).map((pairs) => pairs.flat());

test('any request head comes back as it was sent', () => {
  fc.assert(
    fc.property(
      fc.record(
        {
          method: binary,
          bucket: binary,
          key: binary,
          target: binary,
          headers,
          bodyLength: fc.option(fc.maxSafeNat()),
        },
        { noNullPrototype: true },
      ),
      (head) => {
        assert.deepEqual(decodeRequest(encodeRequest(head)), head);
      },
    ),
  );
});

test('any response head comes back as it was sent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), headers, (status, lines) => {
      assert.deepEqual(decodeResponse(encodeResponse(status, lines)), { status, headers: lines });
    }),
  );
});

test('heads cut or stretched anywhere are refused', () => {
  const frames = [
    [encodeRequest(request), decodeRequest],
    [encodeResponse(200, ['a', 'b', 'c', 'd']), decodeResponse],
  ] as const;
  for (const [whole, decode] of frames) {
    for (let length = frameHeaderBytes; length < whole.length; length++) {
      assert.equal(decode(whole.subarray(0, length)), 'length');
    }
    assert.equal(decode(Buffer.concat([whole, new Uint8Array(1)])), 'length');
  }
});

test('an odd number of header fields, or more than there is room for, is refused', () => {
  const odd = encodeResponse(200, ['a']);
  assert.equal(decodeResponse(odd), 'length');
  const many = encodeResponse(200, ['a', 'b']);
  many.fill(0xff, frameHeaderBytes + 4, frameHeaderBytes + 8);
  assert.equal(decodeResponse(many), 'length');
  const endless = encodeResponse(200, ['a', 'b']);
  endless.set([0xfe, 0xff, 0xff, 0xff], frameHeaderBytes + 4);
  assert.equal(decodeResponse(endless), 'length');
});

test('statuses, flags and reserved bytes that make no sense are refused', () => {
  assert.equal(decodeResponse(encodeResponse(99, [])), 'figure');
  const changed = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
    bytes[at] = value;
    return bytes;
  };
  assert.equal(decodeResponse(changed(encodeResponse(200, []), 18, 1)), 'reserved');
  assert.equal(decodeResponse(changed(encodeResponse(200, []), 5, 1)), 'reserved');
  assert.equal(decodeResponse(changed(encodeResponse(200, []), 12, 1)), 'limit');
  assert.equal(decodeRequest(changed(encodeRequest(request), 5, 2)), 'reserved');
  assert.equal(decodeRequest(changed(encodeRequest(request), 12, 1)), 'limit');
  assert.equal(decodeRequest(changed(encodeRequest(request), 23, 1)), 'figure');
});
