/** boto3, AWS's library for Python: several connections for each large file. */
import { join } from 'node:path';
import { run, type Environment } from '../origins/child.ts';
import { unpackedPackages } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

const script = join(import.meta.dirname, 'boto3-client.py');
const ask = ['-c', 'import boto3; print("boto3", boto3.__version__)'];

export const boto3: RealClient = {
  name: 'boto3',
  async find() {
    const { python, base, version } = await findPython();
    return {
      version,
      files: ({ bucket, site }) => {
        const environment = credentialEnvironment(base, site.credentials);
        const command = (...words: string[]): Promise<string> =>
          run([python, script, site.endpoint, bucket, ...words], environment);
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

/** The Python that has it, or the system's with Debian's package beside it. */
async function findPython(): Promise<{ python: string; base: Environment; version: string }> {
  try {
    return { python: 'python3', base: process.env, version: await said('python3', process.env) };
  } catch {
    const { environment } = await unpackedPackages('boto3', ['python3-boto3']);
    const python = '/usr/bin/python3';
    return { python, base: environment, version: await said(python, environment) };
  }
}

async function said(python: string, environment: Environment): Promise<string> {
  return (await run([python, ...ask], environment)).trim();
}
