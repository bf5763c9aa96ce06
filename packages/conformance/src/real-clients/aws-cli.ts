/** The AWS CLI: uploads with trailing checksums, in parts where they are large. */
import { run } from '../origins/child.ts';
import { environmentWith } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

export const awsCli: RealClient = {
  name: 'aws',
  async find() {
    const base = await environmentWith('aws', ['awscli']);
    const version = (await run(['aws', '--version'], base)).trim();
    return {
      version,
      files: ({ bucket, site }) => {
        const environment = credentialEnvironment(base, site.credentials);
        const aws = (...words: string[]): Promise<string> =>
          run(['aws', '--endpoint-url', site.endpoint, ...words], environment);
        const url = (key: string): string => `s3://${bucket}/${key}`;
        return {
          put: (file, key) => aws('s3', 'cp', '--quiet', file, url(key)),
          get: (key, file) => aws('s3', 'cp', '--quiet', url(key), file),
          keys: async (prefix) => {
            const where = ['--bucket', bucket, '--prefix', prefix];
            const said = await aws('s3api', 'list-objects-v2', ...where, '--output', 'json');
            const { Contents = [] } = JSON.parse(said) as { Contents?: { Key: string }[] };
            return Contents.map(({ Key }) => Key);
          },
          remove: (key) => aws('s3', 'rm', '--quiet', url(key)),
        };
      },
    };
  },
};
