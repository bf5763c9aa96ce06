/** MinIO's library for JavaScript, out of npm: parts of 64 MB. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../origins/child.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

const version = '8.0.7';
const script = join(import.meta.dirname, 'minio-client.mjs');
const folder = join(import.meta.dirname, '../../../../data/npm/minio');
const installWithinMs = 120_000;

export const minio: RealClient = {
  name: 'minio',
  async find() {
    if (!existsSync(join(folder, 'node_modules/minio'))) {
      mkdirSync(folder, { recursive: true });
      const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
      await run(
        ['npm', 'install', ...flags, `minio@${version}`],
        { ...process.env, npm_config_workspaces: 'false' },
        installWithinMs,
      );
    }
    return {
      version: `minio ${version} (npm)`,
      files: ({ bucket, site }) => {
        const environment = credentialEnvironment(process.env, site.credentials);
        const command = (...words: string[]): Promise<string> =>
          run([process.execPath, script, folder, site.endpoint, bucket, ...words], environment);
        return {
          put: (file, key) => command('put', file, key),
          get: (key, file) => command('get', key, file),
          keys: async (prefix) => JSON.parse(await command('keys', prefix)) as string[],
          remove: (key) => command('remove', key),
        };
      },
    };
  },
};
