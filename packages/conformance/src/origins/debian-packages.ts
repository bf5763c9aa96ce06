/**
 * Programs out of Debian's packages that aren't installed: apt-get downloads them with what they need, dpkg unpacks them into a
 * folder of ours. Nothing on the system changes, and a second run finds them there.
 */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, type Environment } from './child.ts';

const folder = join(import.meta.dirname, '../../../../data/debian');
const downloadWithinMs = 300_000;

export interface UnpackedPackages {
  /** Stands for `/` in the packages' paths. */
  readonly root: string;
  /** With its programs and libraries before the system's. */
  readonly environment: Environment;
}

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((place) => {
    try {
      accessSync(join(place, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The environment in which a program is found. @throws when it is neither here nor to be had */
export async function environmentWith(
  program: string,
  packages: readonly string[],
): Promise<Environment> {
  if (isOnPath(program)) return process.env;
  return (await unpackedPackages(program, packages)).environment;
}

/** Unpacks packages below one name. @throws where there is no apt-get, no network, or no right to use it */
export async function unpackedPackages(
  name: string,
  packages: readonly string[],
): Promise<UnpackedPackages> {
  const root = join(folder, name);
  if (!existsSync(root)) await unpack(name, packages, root);
  return { root, environment: environmentOf(root) };
}

async function unpack(name: string, packages: readonly string[], root: string): Promise<void> {
  const archives = join(folder, `${name}.debs`);
  const unfinished = `${root}.unfinished`;
  mkdirSync(join(archives, 'partial'), { recursive: true });
  mkdirSync(unfinished, { recursive: true });
  const options = ['-y', '-qq', '--no-install-recommends', '--download-only'];
  const place = ['-o', `Dir::Cache::archives=${archives}`];
  await run(
    ['apt-get', ...options, ...place, 'install', ...packages],
    process.env,
    downloadWithinMs,
  );
  for (const file of readdirSync(archives).filter((one) => one.endsWith('.deb'))) {
    await run(['dpkg', '-x', join(archives, file), unfinished]);
  }
  renameSync(unfinished, root);
}

function environmentOf(root: string): Environment {
  const before = (paths: readonly string[], rest: string | undefined): string =>
    [...paths.map((path) => join(root, path)), ...(rest === undefined ? [] : [rest])].join(':');
  const triplets = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
  const libraries = triplets.flatMap((triplet) => [
    `usr/lib/${triplet}`,
    `usr/lib/${triplet}/ceph`,
    `lib/${triplet}`,
  ]);
  return {
    ...process.env,
    PATH: before(['usr/bin', 'bin', 'usr/sbin'], process.env['PATH']),
    LD_LIBRARY_PATH: before(libraries, process.env['LD_LIBRARY_PATH']),
    PYTHONPATH: before(['usr/lib/python3/dist-packages'], process.env['PYTHONPATH']),
  };
}
