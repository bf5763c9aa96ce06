// S3's rules, as an SDK and a raw client see them, through the cache: every read of the suite is done three times, so that it
// misses, is stored, and hits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runConformance } from '@s3-accelerator/conformance/conformance.ts';
import { credentials } from '../testing/programs.ts';
import { arrangements, assertNothingInUse, startRig } from '../testing/rig.ts';

/** An origin that is asked for its buckets by host names, in one of the arrangements. */
const byHost = { originHost: 'localhost', origin: 'addressing = "virtual"' };
const cases = [
  ...arrangements.map((one) => ({ ...one, options: {} })),
  {
    name: 'one process, whose origin has its buckets in host names',
    processes: 1,
    options: byHost,
  },
] as const;

for (const { name, processes, options } of cases) {
  test(`S3's rules hold through ${name}`, async () => {
    const rig = await startRig({ processes, gateway: 'domains = ["localhost"]', ...options });
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
      const hosts = rig.s3.traffic.log.map(({ headers }) => headers.get('host') ?? '');
      const isNamed = hosts.some((host) => /^conformance-[0-9a-f]+\.localhost:/.test(host));
      assert.equal(isNamed, options === byHost);
      await assertNothingInUse(rig.cluster);
    } finally {
      await rig.stop();
    }
  });
}
