/**
 * What a node makes of the files that it finds at start: go on with them, or begin empty, and why.
 *
 * Growing keeps everything, shrinking keeps what fits. Another block size, another format, a damaged table, a slab of another
 * cache: nothing of it can be used, so the cache begins empty under a new id. A slab that missed the table's last run (an older
 * copy, say) is used, and every block verified before it is served.
 *
 * So is the copy of a slab whose table's last run didn't end clean: it may have been taken while that run was writing, so that rows
 * of earlier runs speak of bytes that are newer than they. A copy of files that were left clean is as good as they.
 *
 * So is one that has to be made longer, because it was cut or because the cache grows. What it gains is zeros, and there may be
 * rows that speak of these bytes: they go, but a crash brings them back as long as that isn't durable.
 */
import { equalHash128, type Hash128 } from '../base/hash.ts';
import {
  decodeSlabHeader,
  decodeTableHeader,
  endedClean,
  firstHeader,
  nextRun,
  type TableHeader,
  type TableShape,
} from './table-header.ts';

/** Why a cache begins empty. */
export type EmptyReason =
  | 'new'
  | 'table-missing'
  | 'table-damaged'
  | 'table-format'
  | 'block-size'
  | 'slab-missing'
  | 'slab-damaged'
  | 'slab-foreign';

export type StartPlan =
  | {
      readonly kind: 'empty';
      readonly reason: EmptyReason;
      /** The header to write to both files, durably, once all rows that are there are gone. */
      readonly header: TableHeader;
    }
  | {
      readonly kind: 'restore';
      /** Whether the slab is the one that the table's last run wrote to, and as long as it must be; else no row is trusted. */
      readonly isSlabTrusted: boolean;
      /**
       * The header to write to both files, durably, before anything else, the slab's length included: it knows which runs are
       * trusted. Syncing them also keeps what the last life wrote and didn't sync: it may have lived in the page cache alone.
       */
      readonly header: TableHeader;
    };

/** The slab's file as it was found: how long it is, and the number that its file system gave it. */
export interface FoundSlab {
  readonly bytes: number;
  readonly file: number;
}

/**
 * `table` and `slab` are the first HEADER_BYTES of each file, as far as they go; empty when there is no such file. `newId` are random
 * bits, used when the cache begins empty.
 */
export function planStart(
  table: Uint8Array,
  slab: Uint8Array,
  found: FoundSlab,
  shape: TableShape,
  newId: Readonly<Hash128>,
): StartPlan {
  const empty = (reason: EmptyReason): StartPlan => ({
    kind: 'empty',
    reason,
    header: { ...firstHeader(newId, shape), slabFile: found.file },
  });
  const foundTable = decodeTableHeader(table);
  const foundSlab = decodeSlabHeader(slab);
  switch (foundTable.kind) {
    case 'none':
      return empty(foundSlab.kind === 'none' ? 'new' : 'table-missing');
    case 'format':
      return empty('table-format');
    case 'damaged':
      return empty('table-damaged');
    case 'header':
  }
  const last = foundTable.header;
  if (last.blockBytes !== shape.blockBytes || last.extentBytes !== shape.extentBytes) {
    return empty('block-size');
  }
  if (foundSlab.kind === 'none') return empty('slab-missing');
  if (foundSlab.kind !== 'header') return empty('slab-damaged');
  const { header } = foundSlab;
  if (!equalHash128(header.cacheId, last.cacheId)) return empty('slab-foreign');
  const isSameFile = last.slabFile === found.file || endedClean(last, last.run);
  const isSlabTrusted = header.run === last.run && isSameFile && found.bytes >= shape.slabBytes;
  // A table whose newer header was lost would begin the slab's run once more, and its clean end vouch for rows of a crash.
  const former = { ...last, run: Math.max(last.run, header.run) };
  const next = { ...nextRun(former, shape, isSlabTrusted), slabFile: found.file };
  return { kind: 'restore', isSlabTrusted, header: next };
}
