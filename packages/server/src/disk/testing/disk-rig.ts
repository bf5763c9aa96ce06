/** A data directory of a test: real files in a temporary folder, and a reactor whose threads work on them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { HEADER_BYTES } from '@s3-accelerator/core/journal/table-header.ts';
import { alignedMemory } from '@s3-accelerator/native/files.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { DataDirectory } from '../data-directory.ts';
import { LocalFiles } from '../local-files.ts';
import { LogFile } from '../log-file.ts';

export const slotsBytes = 4 << 20;
export const slabBytes = HEADER_BYTES + slotsBytes;

export interface DiskRig {
  readonly path: string;
  readonly files: LocalFiles;
  readonly fillMemory: Uint8Array;
  /** Closes the files before the test ends. */
  close(): Promise<void>;
}

export function temporaryDirectory(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 's3-accelerator-disk-'));
  context.after(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

export async function openRig(context: TestContext): Promise<DiskRig> {
  const path = temporaryDirectory(context);
  const reactor = new Reactor({ readThreads: 1, writeThreads: 1 });
  const fillMemory = alignedMemory(1 << 20);
  reactor.files.registerFillMemory(fillMemory);
  const directory = DataDirectory.open(path);
  directory.resizeSlab(slabBytes);
  const files = new LocalFiles(directory, await LogFile.open(path), reactor);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= files.close());
  context.after(async () => {
    await close();
    reactor.stop();
  });
  return { path, files, fillMemory, close };
}

/** What an effect with a callback comes to. */
export function outcome<T extends readonly unknown[]>(
  begin: (done: (...values: T) => void) => void,
): Promise<T> {
  return new Promise((resolve) => {
    begin((...values) => {
      resolve(values);
    });
  });
}
