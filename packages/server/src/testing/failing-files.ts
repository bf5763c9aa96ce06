/** Files that fail when a test says so: stands between a node and its disk (`start` takes `wrapFiles`). */
import { constants } from 'node:os';
import type { DiskFiles } from '../disk/disk-files.ts';

export type Fault = 'write-slab' | 'sync-slab' | 'read-slab' | 'write-table' | 'read-table' | 'log';

export class FailingFiles {
  /** What fails from now on, with which errno. */
  readonly faults = new Map<Fault, number>();
  /** How often each was asked for. */
  readonly asked = new Map<Fault, number>();

  fail(fault: Fault, code: 'EIO' | 'ENOSPC' | 'EROFS' = 'EIO'): void {
    this.faults.set(fault, constants.errno[code]);
  }

  mend(): void {
    this.faults.clear();
  }

  readonly wrap = (files: DiskFiles): DiskFiles => ({
    readDescriptor: files.readDescriptor,
    lendsPages: files.lendsPages,
    writeSlab: (offset, memory, length, checked, done) => {
      const errno = this.#outcome('write-slab');
      if (errno !== 0) setImmediate(done, errno, 0);
      else files.writeSlab(offset, memory, length, checked, done);
    },
    syncSlab: (done) => {
      const errno = this.#outcome('sync-slab');
      if (errno !== 0) setImmediate(done, errno);
      else files.syncSlab(done);
    },
    checksumSlab: (offset, length, done) => {
      const errno = this.#outcome('read-slab');
      if (errno !== 0) setImmediate(done, errno, 0);
      else files.checksumSlab(offset, length, done);
    },
    measureSlab: (done) => {
      files.measureSlab(done);
    },
    restoreSlab: (bytes, header, done) => {
      files.restoreSlab(bytes, header, done);
    },
    writeTable: (writes, done) => {
      const errno = this.#outcome('write-table');
      if (errno !== 0) setImmediate(done, errno);
      else files.writeTable(writes, done);
    },
    readTable: (position, length, done) => {
      const errno = this.#outcome('read-table');
      if (errno !== 0) setImmediate(done, errno, new Uint8Array(length));
      else files.readTable(position, length, done);
    },
    appendLog: (bytes, done) => {
      const errno = this.#outcome('log');
      if (errno !== 0) setImmediate(done, errno);
      else files.appendLog(bytes, done);
    },
    replaceLog: (pieces, done) => {
      files.replaceLog(pieces, done);
    },
    close: () => files.close(),
  });

  #outcome(fault: Fault): number {
    this.asked.set(fault, (this.asked.get(fault) ?? 0) + 1);
    return this.faults.get(fault) ?? 0;
  }
}
