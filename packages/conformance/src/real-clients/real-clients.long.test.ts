// The programs and libraries that people use S3 by, each on a full round trip through the accelerator, byte for byte. One that is
// neither here nor to be had is skipped, by name.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startAccelerator, type Accelerator } from '../origins/accelerator.ts';
import { startMemoryS3 } from '../origins/memory-s3.ts';
import type { StartedOrigin } from '../origins/started-origin.ts';
import { sendSigned } from '../signed-request.ts';
import { allClients } from './all-clients.ts';
import { fileRoundTrip } from './file-round-trip.ts';
import type { FoundClient } from './real-client.ts';

suite('real clients', () => {
  let origin: StartedOrigin;
  let accelerator: Accelerator;
  /** What to end afterwards, also when not all of it began. */
  const ends: (() => Promise<void>)[] = [];
  before(async () => {
    origin = await startMemoryS3();
    ends.push(() => origin.stop());
    accelerator = await startAccelerator(origin, '2GiB');
    ends.push(() => accelerator.stop());
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  for (const one of allClients) {
    const { name } = one;
    test(`a round trip by ${name}`, async (t) => {
      let found: FoundClient;
      try {
        found = await one.find();
      } catch (error) {
        t.skip(`${name} is not here: ${(error as Error).message.split('\n')[0] ?? ''}`);
        return;
      }
      t.diagnostic(found.version);
      const folder = mkdtempSync(join(tmpdir(), `real-client-${name}-`));
      const bucket = `bucket-of-${name}`;
      try {
        const made = await sendSigned(accelerator, { method: 'PUT', target: `/${bucket}` });
        assert.equal(made.status, 200, made.body.toString());
        const before = await accelerator.blocksFromDisk();
        const workplace = { site: accelerator, bucket, folder };
        await found.roundTrip?.(workplace);
        if (found.files !== undefined) {
          const { unnameable = new Map<string, string>() } = found;
          const prefix = `${name}/`;
          const client = found.files(workplace);
          await fileRoundTrip({ client, workplace, origin, prefix, unnameable });
        }
        assert.ok((await accelerator.blocksFromDisk()) > before, 'nothing came from the cache');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});
