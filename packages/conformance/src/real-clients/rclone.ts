/** rclone: compares sizes, times and checksums after every copy, and uploads in parts from 200 MB on. */
import { run } from '../origins/child.ts';
import { environmentWith } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

export const rclone: RealClient = {
  name: 'rclone',
  async find() {
    const base = await environmentWith('rclone', ['rclone']);
    const [version = ''] = (await run(['rclone', 'version'], base)).split('\n');
    return {
      version,
      files: ({ bucket, site }) => {
        const environment = {
          ...credentialEnvironment(base, site.credentials),
          RCLONE_CONFIG: '/dev/null',
          RCLONE_CONFIG_ZONE_TYPE: 's3',
          RCLONE_CONFIG_ZONE_PROVIDER: 'Other',
          RCLONE_CONFIG_ZONE_ENV_AUTH: 'true',
          RCLONE_CONFIG_ZONE_ENDPOINT: site.endpoint,
          RCLONE_CONFIG_ZONE_UPLOAD_CUTOFF: '100M',
        };
        const command = (...words: string[]): Promise<string> =>
          run(['rclone', ...words], environment);
        const at = (key: string): string => `zone:${bucket}/${key}`;
        return {
          put: (file, key) => command('copyto', file, at(key)),
          get: (key, file) => command('copyto', '--ignore-times', at(key), file),
          keys: async (prefix) => {
            const said = await command('lsf', '-R', '--files-only', at(prefix));
            const names = said.split('\n').filter((name) => name !== '');
            return names.map((name) => prefix + name);
          },
          remove: (key) => command('deletefile', at(key)),
        };
      },
    };
  },
};
