/**
 * Parts that S3 sends under the right ETag and that still aren't what was asked for: too long, too short, or of an object of
 * another size. Whether they would go through the fill memory or straight to their reader, nothing of them is used.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../testing/judge.ts';
import { blockBytes, Rig } from '../testing/rig.ts';
import type { S3Answer } from '../testing/s3-model.ts';
import type { FetchHead } from './effects.ts';

type Oddity = (head: FetchHead, body: Uint8Array) => { head: FetchHead; body: Uint8Array };

const oddities: Readonly<Record<string, Oddity>> = {
  'a byte too long': (head, body) => ({
    head: { ...head, length: head.length + 1 },
    body: Uint8Array.from([...body, 0]),
  }),
  'a byte too short': (head, body) => ({
    head: { ...head, length: head.length - 1 },
    body: body.subarray(0, -1),
  }),
  'of a larger object': (head, body) => ({ head: { ...head, size: head.size + 1 }, body }),
};

for (const [name, change] of Object.entries(oddities)) {
  for (const fillBudgetBytes of [64 * blockBytes, 4096]) {
    test(`a part that is ${name} is not used (fill memory of ${fillBudgetBytes} bytes)`, () => {
      const rig = new Rig({
        nodes: 1,
        policy: { admitOnFirstRead: true },
        nodeLimits: { fillBudgetBytes },
      });
      rig.s3.put(0, 'b', 'k', 3 * blockBytes);
      rig.get('k', { head: true });
      const answer = rig.s3.answer.bind(rig.s3);
      rig.s3.answer = (now, request): S3Answer => {
        const right = answer(now, request);
        if (request.ifMatch === '' || right.head === null) return right;
        return { ...right, ...change(right.head, right.body) };
      };
      const client = rig.get('k', { range: { kind: 'bounded', first: 100, last: 199 } });
      assert.equal(judge(rig.s3, client, 0), '');
      assert.ok(rig.count('changes') > 0);
      rig.s3.answer = answer;
      const later = rig.get('k');
      assert.equal(later.end, 'finished');
      assert.equal(judge(rig.s3, later, 0), '');
      rig.assertNothingLeft();
    });
  }
}
