// An object of many blocks and more than one chunk: whole, in parallel ranges and from its end.
import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { assertSameBytes, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

const mebi = 1024 * 1024;
const size = 40 * mebi;

async function stored(target: Target): Promise<{ key: string; body: Buffer }> {
  const key = target.freshKey('large');
  const body = patternBytes(size, 'large');
  await target.put(key, body);
  return { key, body };
}

export const largeObjectCases: readonly Case[] = [
  {
    name: 'an object of 40 MiB is read whole three times alike',
    run: async (target) => {
      const { key, body } = await stored(target);
      const { output } = await target.getRepeatedly(key, body);
      assert.equal(output.ContentLength, size);
    },
  },
  {
    name: 'parallel ranges of 40 MiB join to the object',
    run: async (target) => {
      const { key, body } = await stored(target);
      const step = 3 * mebi + 1;
      for (let round = 0; round < 3; round++) {
        const starts = Array.from({ length: Math.ceil(size / step) }, (_, index) => index * step);
        const parts = await Promise.all(
          starts.map((start) => {
            const last = Math.min(size, start + step) - 1;
            return target.get(key, { Range: `bytes=${start}-${last}` });
          }),
        );
        assertSameBytes(Buffer.concat(parts.map((part) => part.bytes)), body, 'the joined ranges');
      }
    },
  },
  {
    name: 'the end of 40 MiB is read by suffix, as readers of Parquet do',
    run: async (target) => {
      const { key, body } = await stored(target);
      for (const bytes of [8, 64 * 1024, 17 * mebi]) {
        await target.getRepeatedly(key, body.subarray(size - bytes), { Range: `bytes=-${bytes}` });
      }
    },
  },
  {
    name: 'many readers of one cold object of 40 MiB get it whole',
    run: async (target) => {
      const { key, body } = await stored(target);
      const reads = await Promise.all([1, 2, 3, 4].map(() => target.get(key)));
      for (const read of reads) assertSameBytes(read.bytes, body, 'one of many reads');
    },
  },
];
