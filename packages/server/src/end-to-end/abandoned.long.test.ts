// Ten thousand clients that leave, at each moment of a request: afterwards nothing of theirs is in use, and memory is what it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abandonments } from '../testing/abandon.ts';
import { arrangements, assertNothingInUse, residentBytes, startRig } from '../testing/rig.ts';

const mib = 1 << 20;

for (const { name, processes } of arrangements) {
  for (const { what, quickly, run } of abandonments) {
    test(
      `10,000 clients that leave ${what}, through ${name}`,
      { timeout: 900_000 },
      async (context) => {
        const rig = await startRig({
          processes,
          cache: '[cache.default_policy]\nimmutable = true',
        });
        try {
          await run(rig, quickly);
          await assertNothingInUse(rig.cluster);
          const pids = [rig.cluster.gateway.pid, rig.cluster.node.pid];
          const before = pids.map(residentBytes);
          await run(rig, 10_000);
          await assertNothingInUse(rig.cluster);
          const grown = pids.map((pid, index) => residentBytes(pid) - before[index]!);
          context.diagnostic(`memory grew by ${grown.join(', ')} bytes`);
          // Heaps breathe. Uploads that nobody wanted any more once kept 1.3 GB while they waited for a connection to S3.
          assert.ok(Math.max(...grown) < 500 * mib, `grown by ${grown.join(', ')} bytes`);
        } finally {
          await rig.stop();
        }
      },
    );
  }
}
