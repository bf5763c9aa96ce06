/** restic: a backup, a check that reads every byte of it, and a restore. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../origins/child.ts';
import { patternBytes } from '../target.ts';
import { environmentWith } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

const withinMs = 300_000;

export const restic: RealClient = {
  name: 'restic',
  async find() {
    const base = await environmentWith('restic', ['restic']);
    return {
      version: (await run(['restic', 'version'], base)).trim(),
      roundTrip: async ({ bucket, folder, site }) => {
        const environment = {
          ...credentialEnvironment(base, site.credentials),
          RESTIC_REPOSITORY: `s3:${site.endpoint}/${bucket}/restic`,
          RESTIC_PASSWORD: 'of a repository that lives for minutes',
          RESTIC_CACHE_DIR: join(folder, 'cache'),
        };
        const command = (...words: string[]): Promise<string> =>
          run(['restic', ...words], environment, withinMs);
        const files = join(folder, 'files');
        mkdirSync(files);
        writeFileSync(join(files, 'small.txt'), 'small');
        writeFileSync(join(files, 'ümlaut and space.bin'), patternBytes(3_000_001, 'u'));
        writeFileSync(join(files, 'large.bin'), patternBytes(200 * 1024 * 1024, 'large'));
        await command('init');
        await command('backup', files);
        // Without its own cache, so that everything is read through the endpoint, twice.
        for (let time = 0; time < 2; time += 1) await command('check', '--read-data', '--no-cache');
        const restored = join(folder, 'restored');
        await command('restore', 'latest', '--no-cache', '--target', restored);
        await run(['diff', '-r', files, join(restored, files)]);
        await command('forget', '--prune', '--keep-last', '1', 'latest');
      },
    };
  },
};
