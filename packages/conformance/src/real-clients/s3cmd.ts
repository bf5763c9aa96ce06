/** s3cmd: signs every upload's hash, uploads in parts of 15 MB. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../origins/child.ts';
import { environmentWith } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

export const s3cmd: RealClient = {
  name: 's3cmd',
  async find() {
    const base = await environmentWith('s3cmd', ['s3cmd', 'python3-dateutil', 'python3-magic']);
    const version = (await run(['s3cmd', '--version'], base)).trim();
    return {
      version,
      files: ({ bucket, folder, site }) => {
        const environment = credentialEnvironment(base, site.credentials);
        const file = join(folder, 's3cfg');
        const { host } = new URL(site.endpoint);
        const { accessKeyId, secretAccessKey } = site.credentials;
        writeFileSync(
          file,
          `[default]
access_key = ${accessKeyId}
secret_key = ${secretAccessKey}
host_base = ${host}
host_bucket = ${host}
use_https = False
`,
        );
        const command = (...words: string[]): Promise<string> =>
          run(['s3cmd', '-c', file, '--no-progress', '--no-mime-magic', ...words], environment);
        const url = (key: string): string => `s3://${bucket}/${key}`;
        return {
          put: (from, key) => command('put', from, url(key)),
          get: (key, to) => command('get', '--force', url(key), to),
          keys: async (prefix) => {
            const said = await command('ls', '--recursive', url(prefix));
            return [...said.matchAll(/^.*?s3:\/\/[^/]+\/(.*)$/gm)].map(([, key = '']) => key);
          },
          remove: (key) => command('del', url(key)),
        };
      },
    };
  },
};
