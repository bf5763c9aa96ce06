/**
 * Makes a store out of what is in a data directory: the blocks of earlier runs, or none, and says so in the log.
 *
 * Runs before anybody is served, so it may wait for the disk; one that takes long says how far it is. The header of the new run is
 * durable before the slab gets its length: from then on no row is trusted that may speak of bytes which weren't there.
 */
import { randomBytes } from 'node:crypto';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import { Recovery, type RecoveryCounts } from '@s3-accelerator/core/journal/recovery.ts';
import { RECORD_BYTES } from '@s3-accelerator/core/journal/slot-record.ts';
import { planStart, type EmptyReason } from '@s3-accelerator/core/journal/start-plan.ts';
import { rowPosition, type TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import { Store, type StoreOptions } from '@s3-accelerator/core/store/store.ts';
import { tableMemory } from '@s3-accelerator/native/files.ts';
import type { Log } from '../log.ts';
import { DataDirectory, DataDirectoryError } from './data-directory.ts';
import { StartProgress } from './start-progress.ts';

/** A store and the files that it speaks of. */
export interface OpenedStore {
  readonly store: Store;
  readonly directory: DataDirectory;
  readonly header: TableHeader;
  /** What came back of earlier runs. */
  readonly recovered: Readonly<RecoveryCounts>;
}

/** Bytes of the table that are read at a time. */
const pieceBytes = 4 << 20;

const emptyReasons: Readonly<Record<EmptyReason, string>> = {
  new: 'a new data directory: the cache is empty',
  'table-missing':
    'the slot table is gone, so nobody knows what is in the slab: the cache starts empty',
  'table-damaged': 'the slot table is damaged or something else: the cache starts empty',
  'table-format':
    'the slot table was written by another version of the program: the cache starts empty',
  'block-size': 'the data directory was written with another block size: the cache starts empty',
  'slab-missing': 'the slab is gone or was emptied: the cache starts empty',
  'slab-damaged': 'the slab is damaged or something else: the cache starts empty',
  'slab-foreign': 'slab and slot table belong to different caches: the cache starts empty',
};

const nothing: RecoveryCounts = {
  restored: 0,
  trusted: 0,
  damaged: 0,
  outside: 0,
  contradictory: 0,
};

/**
 * Rejects with an Error that says what to do, or once `signal` is aborted; nothing is open then. A run that began and ended here wrote no
 * row: those of earlier runs are trusted as before.
 */
export async function openStore(
  dataDir: string,
  options: StoreOptions,
  log: Log,
  signal: AbortSignal,
): Promise<OpenedStore> {
  const store = new Store({ ...options, allocate: tableMemory });
  log.info({ bytes: store.slabBytes, directory: dataDir }, 'preparing the slab');
  const directory = DataDirectory.open(dataDir);
  try {
    let recovered = nothing;
    const { tableHead, slabHead, slabBytesFound, slabFile } = directory;
    const found = { bytes: slabBytesFound, file: slabFile };
    const plan = planStart(tableHead, slabHead, found, store, randomId());
    if (plan.kind === 'empty') {
      const { reason } = plan;
      log[reason === 'new' ? 'info' : 'warn']({ directory: dataDir, reason }, emptyReasons[reason]);
      directory.forgetRows();
    } else if (!plan.isSlabTrusted) {
      log.warn(
        { directory: dataDir, found: slabBytesFound },
        "the slab isn't as the last run left it, or is a copy, or gets longer: every block is verified before it is served",
      );
    }
    directory.writeHeader(plan.header);
    directory.resizeSlab(store.slabBytes);
    if (plan.kind === 'restore') {
      recovered = await restore(store, directory, plan.header, log, signal);
    }
    return { store, directory, header: plan.header, recovered };
  } catch (error) {
    directory.close();
    if (error instanceof DataDirectoryError || signal.aborted) throw error;
    const { message } = error as Error;
    throw new Error(
      `node.data_dir ${dataDir} can't be read: ${message}. ` +
        'Empty the directory to begin with an empty cache, or name another one',
      { cause: error },
    );
  }
}

/** Hands the table's rows to the core, as many as the file has. */
async function restore(
  store: Store,
  directory: DataDirectory,
  header: TableHeader,
  log: Log,
  signal: AbortSignal,
): Promise<RecoveryCounts> {
  const recovery = new Recovery(store, header, directory.slabBytesFound);
  const began = performance.now();
  const progress = new StartProgress((percent) => {
    log.info({ percent }, 'reading the slot table');
  }, signal);
  const bytes = directory.tableBytes();
  const piece = new Uint8Array(pieceBytes);
  for (let position = rowPosition(recovery.next); ; position = rowPosition(recovery.next)) {
    const rows = Math.floor(directory.readTable(position, piece) / RECORD_BYTES);
    if (rows === 0) break;
    recovery.take(new Int32Array(piece.buffer, 0, (rows * RECORD_BYTES) / 4));
    await progress.tell(position, bytes);
  }
  const counts = recovery.finish();
  const ms = Math.round(performance.now() - began);
  log.info({ ...counts, ms }, 'blocks of earlier runs are back');
  const lost = counts.damaged + counts.outside + counts.contradictory;
  if (lost > 0) {
    log.warn({ rows: lost }, 'rows of the slot table could not be used; S3 has those blocks');
  }
  return counts;
}

function randomId(): Hash128 {
  const bytes = randomBytes(16);
  const [h0, h1, h2, h3] = [0, 4, 8, 12].map((at) => bytes.readUInt32LE(at));
  return { h0: h0!, h1: h1!, h2: h2!, h3: h3! };
}
