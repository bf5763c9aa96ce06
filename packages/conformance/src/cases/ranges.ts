// Ranges, by S3's rules: one range or the whole object.
import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { assertErrorDocument, assertSameBytes, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';
import type { RawAnswer } from '../signed-request.ts';

async function readRange(
  target: Target,
  key: string,
  range: string,
  method = 'GET',
): Promise<RawAnswer> {
  return target.rawRepeatedly({
    method,
    target: `/${target.bucket}/${key}`,
    headers: [['range', range]],
  });
}

const ten = Buffer.from('0123456789');

/** A range over ten bytes, the status it gets, and the bytes or the error. */
const tenByteRanges: readonly (readonly [string, number, string, string | null])[] = [
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
  ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
  ['bytes=4-100', 206, '456789', 'bytes 4-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=-100', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=0-9', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=8-3', 200, '0123456789', null],
  ['bytes=0-1,3-4', 200, '0123456789', null],
  ['bytes=a-b', 200, '0123456789', null],
  ['lines=0-3', 200, '0123456789', null],
];

export const rangeCases: readonly Case[] = [
  ...tenByteRanges.map(([range, status, bytes, contentRange]) => ({
    name: `Range ${range} of ten bytes answers ${status}`,
    run: async (target: Target) => {
      const key = target.freshKey();
      await target.put(key, ten);
      const answer = await readRange(target, key, range);
      assert.equal(answer.status, status);
      assert.equal(answer.body.toString(), bytes);
      assert.equal(answer.headers.get('content-range') ?? null, contentRange);
      assert.equal(answer.headers.get('content-length'), String(bytes.length));
    },
  })),
  ...['bytes=10-', 'bytes=10-20', 'bytes=-0'].map((range) => ({
    name: `Range ${range} of ten bytes is an InvalidRange`,
    run: async (target: Target) => {
      const key = target.freshKey();
      await target.put(key, ten);
      for (let read = 0; read < 3; read++) {
        const answer = await target.rawKey('GET', key, { headers: [['range', range]] });
        assertErrorDocument(answer, 416, 'InvalidRange');
        assert.equal(answer.headers.get('content-range'), 'bytes */10');
      }
    },
  })),
  {
    name: 'a range of an empty object is an InvalidRange',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, Buffer.alloc(0));
      const answer = await target.rawKey('GET', key, { headers: [['range', 'bytes=0-0']] });
      assertErrorDocument(answer, 416, 'InvalidRange');
      assert.equal(answer.headers.get('content-range'), 'bytes */0');
    },
  },
  {
    name: "a HEAD with a Range answers 206 with the part's length",
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, ten);
      const answer = await readRange(target, key, 'bytes=2-4', 'HEAD');
      assert.equal(answer.status, 206);
      assert.equal(answer.headers.get('content-length'), '3');
      assert.equal(answer.headers.get('content-range'), 'bytes 2-4/10');
      assert.equal(answer.body.length, 0);
    },
  },
  {
    name: 'ranges and whole reads of one object never answer for each other',
    run: async (target) => {
      const key = target.freshKey();
      const body = patternBytes(3 * 1024 * 1024, key);
      await target.put(key, body);
      for (let read = 0; read < 3; read++) {
        const part = await target.get(key, { Range: 'bytes=1048570-1048585' });
        assertSameBytes(part.bytes, body.subarray(1048570, 1048586), 'the range');
        assert.equal(part.output.$metadata.httpStatusCode, 206);
        const whole = await target.get(key);
        assertSameBytes(whole.bytes, body, 'the whole');
        assert.equal(whole.output.$metadata.httpStatusCode, 200);
        assert.equal(whole.output.ContentRange, undefined);
      }
    },
  },
  {
    name: 'ranges across block borders join without a seam',
    run: async (target) => {
      const key = target.freshKey();
      const mebi = 1024 * 1024;
      const body = patternBytes(5 * mebi + 123, key);
      await target.put(key, body);
      const ranges: readonly (readonly [number, number])[] = [
        [0, mebi],
        [mebi - 1, mebi + 1],
        [mebi, 2 * mebi],
        [mebi + 17, 4 * mebi + 99],
        [5 * mebi, 5 * mebi + 123],
        [5 * mebi + 122, 5 * mebi + 123],
      ];
      for (const [start, end] of ranges) {
        await target.getRepeatedly(key, body.subarray(start, end), {
          Range: `bytes=${start}-${end - 1}`,
        });
      }
      await target.getRepeatedly(key, body.subarray(-4096), { Range: 'bytes=-4096' });
    },
  },
];
