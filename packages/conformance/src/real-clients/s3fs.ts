/** s3fs: a bucket as a file system, over FUSE, which takes root here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, run } from '../origins/child.ts';
import { assertSameBytes, patternBytes } from '../target.ts';
import { environmentWith } from '../origins/debian-packages.ts';
import { credentialEnvironment } from './credential-environment.ts';
import type { RealClient } from './real-client.ts';

export const s3fs: RealClient = {
  name: 's3fs',
  async find() {
    if (!existsSync('/dev/fuse')) throw new Error('there is no /dev/fuse');
    if (process.getuid?.() !== 0) throw new Error('mounting takes root');
    const base = await environmentWith('s3fs', ['s3fs']);
    const [version = ''] = (await run(['s3fs', '--version'], base)).split('\n');
    return {
      version,
      roundTrip: async ({ bucket, folder, site }) => {
        const mount = join(folder, 'mount');
        const password = join(folder, 'password');
        const { accessKeyId, secretAccessKey } = site.credentials;
        mkdirSync(mount);
        writeFileSync(password, `${accessKeyId}:${secretAccessKey}\n`, { mode: 0o600 });
        const options = [
          `passwd_file=${password}`,
          `url=${site.endpoint}`,
          'use_path_request_style',
          // Its own cache of names would hide what the endpoint answers.
          'stat_cache_expire=1',
          'enable_noobj_cache',
        ];
        const flags = options.flatMap((option) => ['-o', option]);
        const child = new Child(
          's3fs',
          ['s3fs', bucket, mount, '-f', ...flags],
          credentialEnvironment(base, site.credentials),
        );
        try {
          await child.until(async () => (await run(['cat', '/proc/mounts'])).includes(mount));
          useMount(mount);
        } finally {
          await run(['umount', mount]).catch(() => undefined);
          await child.stop();
        }
      },
    };
  },
};

/** By the file system's own calls, as any program would. */
function useMount(mount: string): void {
  const large = patternBytes(200 * 1024 * 1024, 's3fs');
  mkdirSync(join(mount, 'a folder'));
  const files = new Map<string, Buffer>([
    ['small.txt', Buffer.from('small')],
    ['a folder/ümlaut 漢.bin', patternBytes(3_000_001, 'u')],
    ['large.bin', large],
  ]);
  for (const [name, bytes] of files) writeFileSync(join(mount, name), bytes);
  for (let time = 1; time <= 3; time += 1) {
    for (const [name, bytes] of files) {
      assertSameBytes(readFileSync(join(mount, name)), bytes, `${name}, read ${time}`);
    }
  }
  writeFileSync(join(mount, 'small.txt'), 'another');
  assertSameBytes(
    readFileSync(join(mount, 'small.txt')),
    Buffer.from('another'),
    'what was rewritten',
  );
  const names = readdirSync(mount);
  for (const name of ['small.txt', 'large.bin', 'a folder']) {
    if (!names.includes(name)) throw new Error(`${name} is not listed: ${names.join(', ')}`);
  }
  for (const name of files.keys()) rmSync(join(mount, name));
  if (existsSync(join(mount, 'large.bin'))) throw new Error('large.bin is still there');
}
