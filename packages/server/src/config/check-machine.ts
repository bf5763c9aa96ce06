/**
 * What a configuration asks of the machine: free ports, a directory that can be written, room on its disk.
 *
 * Run before anything is started, so that all faults are told at once and nothing is left behind: it creates no
 * directory and no file, and a port is tried by listening on it for a moment.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { lock } from '@s3-accelerator/native/files.ts';
import { lockName } from '../disk/data-directory.ts';
import type { Address } from './address.ts';
import { formatAddress } from './address.ts';
import type { Listener } from './check-settings.ts';
import { listenersOf } from './check-settings.ts';
import { readCaFile } from './ca-file.ts';
import type { Config } from './config.ts';
import { joinPath } from './read-rows.ts';
import { roundSize } from './sizes.ts';

/** Every reason why this machine can't run the configuration, in words. */
export async function checkMachine(config: Config): Promise<string[]> {
  const ports = await Promise.all(listenersOf(config).map(checkListener));
  const problems = ports.filter((problem) => problem !== undefined);
  if (config.node !== undefined) {
    const problem = checkDataDir(config.node.dataDir, config.cache.capacityBytes);
    if (problem !== undefined) problems.push(problem);
  }
  problems.push(...checkCaFiles(config));
  return problems;
}

/** Files of certificates that can't be used. */
function checkCaFiles({ metadata, origin, origins }: Config): string[] {
  const named = [...origins].map(
    ([bucket, one]) => [joinPath('origins', bucket), one.caFile] as const,
  );
  const all = [['metadata', metadata?.caFile], ['origin', origin?.caFile], ...named] as const;
  return all.flatMap(([path, file]) => {
    if (file === undefined) return [];
    try {
      readCaFile(file);
      return [];
    } catch (error) {
      return [`${path}.ca_file: ${(error as Error).message}`];
    }
  });
}

async function checkListener({ path, address }: Listener): Promise<string | undefined> {
  const code = await listenFor(address);
  if (code === undefined) return undefined;
  return `${path} = "${formatAddress(address)}": ${listenFaults.get(code) ?? code}`;
}

const listenFaults: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another process listens there; stop it or choose another port'],
  ['EADDRNOTAVAIL', "this machine doesn't have that address"],
  ['EACCES', 'this user may not listen on that port; ports from 1024 up are free to all'],
]);

/** Listens at an address for a moment. Gives the error code when that fails. */
export function listenFor({ host, port }: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}

function checkDataDir(dataDir: string, capacityBytes: number): string | undefined {
  const setting = `node.data_dir = "${dataDir}"`;
  let existing = dataDir;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    if (!statSync(existing).isDirectory()) {
      return existing === dataDir
        ? `${setting}: is no directory`
        : `${setting}: can't be created, ${existing} is no directory`;
    }
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') {
      return `${setting}: its file system is mounted read-only; mount it for writing or choose another directory`;
    }
    return existing === dataDir
      ? `${setting}: can't be written by this user`
      : `${setting}: can't be created, ${existing} can't be written by this user`;
  }
  const { bavail, blocks, bsize } = statfsSync(existing);
  if (isInUse(dataDir)) {
    return `${setting}: another process uses it; stop that one or give this one a directory of its own`;
  }
  if (blocks === 0) return `${setting}: can't be created, ${existing} is on no disk`;
  const room = bavail * bsize + (existing === dataDir ? bytesIn(dataDir) : 0);
  if (room >= capacityBytes) return undefined;
  return `cache.capacity_bytes = ${capacityBytes}: ${dataDir} has room for ${roundSize(room)} only`;
}

/** Whether another process runs on the directory: its lock is tried for a moment, and never made. */
function isInUse(dataDir: string): boolean {
  const file = join(dataDir, lockName);
  if (!existsSync(file)) return false;
  const descriptor = openSync(file, constants.O_RDWR);
  try {
    return !lock(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Disk space that the files of a directory take: what an earlier run preallocated is room for this one. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(directory, entry.name)).blocks * 512)
    .reduce((sum, bytes) => sum + bytes, 0);
}
