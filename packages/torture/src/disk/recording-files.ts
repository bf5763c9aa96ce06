/**
 * A node's files, with every write noted in an undo file before it is handed on, and every sync when it is asked for and when it has
 * succeeded.
 *
 * What is noted errs on one side only: a write or a sync that the kernel has done and whose end wasn't noted yet counts as not
 * durable, and the node hadn't heard of it either.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskFiles, WrapFiles } from 's3-accelerator/disk/disk-files.ts';
import { UndoWriter } from './undo-file.ts';

/** For `start`: notes what is written in a file at `undoPath`, which it begins anew. */
export function recordingIn(undoPath: string): WrapFiles {
  return (files, dataDir) => record(files, new UndoWriter(undoPath), join(dataDir, 'slots'));
}

/** What a file has there now, zeros past its end. */
function read(descriptor: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  readSync(descriptor, bytes, 0, length, position);
  return bytes;
}

function record(files: DiskFiles, undo: UndoWriter, tablePath: string): DiskFiles {
  const table = openSync(tablePath, 'r');
  return {
    readDescriptor: files.readDescriptor,
    lendsPages: files.lendsPages,
    writeSlab: (offset, memory, length, checked, done) => {
      const id = undo.writeBegins('slab', offset, read(files.readDescriptor, offset, length));
      files.writeSlab(offset, memory, length, checked, (errno, checksum) => {
        undo.writeEnds(id, 'slab');
        done(errno, checksum);
      });
    },
    syncSlab: (done) => {
      const id = undo.syncBegins('slab');
      files.syncSlab((errno) => {
        if (errno === 0) undo.syncEnds(id, 'slab');
        done(errno);
      });
    },
    writeTable: (writes, done) => {
      const ids = writes.map(({ position, bytes }) =>
        undo.writeBegins('slots', position, read(table, position, bytes.length)),
      );
      files.writeTable(writes, (errno) => {
        // Written and synced is one step: only its success says anything of either.
        if (errno === 0) {
          for (const id of ids) undo.writeEnds(id, 'slots');
          undo.syncEnds(undo.syncBegins('slots'), 'slots');
        }
        done(errno);
      });
    },
    checksumSlab: (offset, length, done) => {
      files.checksumSlab(offset, length, done);
    },
    measureSlab: (done) => {
      files.measureSlab(done);
    },
    restoreSlab: (bytes, header, done) => {
      files.restoreSlab(bytes, header, done);
    },
    readTable: (position, length, done) => {
      files.readTable(position, length, done);
    },
    appendLog: (bytes, done) => {
      files.appendLog(bytes, done);
    },
    replaceLog: (pieces, done) => {
      files.replaceLog(pieces, done);
    },
    close: async () => {
      await files.close();
      closeSync(table);
      undo.close();
    },
  };
}
