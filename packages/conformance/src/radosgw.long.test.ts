// A real S3 server of another make as the origin: every case passes or is a known deviation, asked directly and through the
// accelerator, and the accelerator adds none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBothRoutes, type BothRoutesReport } from './both-routes.ts';
import { haveRadosgw } from './origins/radosgw.ts';

test('radosgw passes every case that it is not known to fail, and so does what is in front of it', async (t) => {
  const missing = await haveRadosgw();
  if (missing !== null) {
    t.skip(`radosgw is not to be had here: ${missing}`);
    return;
  }
  const report: BothRoutesReport = await runBothRoutes({
    origin: 'radosgw',
    without: [],
    onRoute: () => undefined,
    onResult: () => undefined,
  });
  for (const { results } of [report.direct, report.through]) {
    assert.deepEqual(
      results.filter(({ outcome }) => outcome === 'failed'),
      [],
    );
  }
  const worse = report.differences.filter(({ direct }) => direct.outcome === 'passed');
  assert.deepEqual(worse, []);
  assert.ok(report.through.passed > 140, `only ${report.through.passed} cases passed`);
});
