// The suite and the embedded S3 hold each other to account: every case passes against it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { runConformance } from './conformance.ts';

test('the embedded S3 passes every case', async () => {
  const memoryS3 = await startMemoryS3();
  try {
    const report = await runConformance({
      endpoint: memoryS3.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' },
    });
    const failures = report.results.filter((result) => result.outcome !== 'passed');
    assert.deepEqual(failures, []);
    assert.ok(report.passed > 120, `only ${report.passed} cases ran`);
  } finally {
    await memoryS3.close();
  }
});
