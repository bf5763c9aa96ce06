// S3's rules, as an SDK and a raw client see them, through the cache: every read of the suite is done three times, so that it
// misses, is stored, and hits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runConformance } from '@s3-accelerator/conformance/conformance.ts';
import { credentials } from '../testing/programs.ts';
import { arrangements, assertNothingInUse, startRig } from '../testing/rig.ts';

for (const { name, processes } of arrangements) {
  test(`S3's rules hold through ${name}`, async () => {
    const rig = await startRig({ processes, gateway: 'domains = ["localhost"]' });
    try {
      const report = await runConformance({
        endpoint: rig.cluster.endpoint,
        region: 'us-east-1',
        credentials,
        domain: 'localhost',
      });
      const failures = report.results.filter(({ outcome }) => outcome !== 'passed');
      assert.deepEqual(failures, []);
      assert.ok(report.passed > 150, `only ${report.passed} cases ran`);
      await assertNothingInUse(rig.cluster);
    } finally {
      await rig.stop();
    }
  });
}
