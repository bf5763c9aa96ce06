/** A node's metadata log during one run, in the core's format; the file outlives the run. */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import {
  forgottenEntry,
  joined,
  newLog,
  putEntry,
  type MetadataFrom,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import type { TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import type { NodeEffects } from '@s3-accelerator/core/node/effects.ts';
import type { Node } from '@s3-accelerator/core/node/node.ts';
import type { ObjectMetadata } from '@s3-accelerator/core/read.ts';
import type { EventQueue } from './event-queue.ts';
import type { NodeFiles } from './node-files.ts';

type LogEffects = Pick<NodeEffects, 'logMetadata' | 'logForgotten' | 'compactMetadataLog'>;

/** Objects of a new log that are encoded at a time. */
const entriesAtOnce = 100;

export interface MetadataLogOptions {
  readonly queue: EventQueue;
  readonly files: NodeFiles;
  readonly header: TableHeader;
  readonly node: () => Node;
  /** A new log is in its place. */
  readonly onCompacted: () => void;
}

export class MetadataLog implements LogEffects {
  readonly #options: MetadataLogOptions;
  #isOver = false;

  constructor(options: MetadataLogOptions) {
    this.#options = options;
  }

  /** The process is over. */
  stop(): void {
    this.#isOver = true;
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    this.#options.files.appendLog(putEntry(hash, metadata));
  }

  logForgotten(hash: Hash128): void {
    this.#options.files.appendLog(forgottenEntry(hash));
  }

  compactMetadataLog(): void {
    const { queue, files, header, node, onCompacted } = this.#options;
    const metadataFrom: MetadataFrom = (from, limit, each) =>
      node().metadataFrom(from, limit, each);
    queue.in(1, () => {
      if (this.#isOver) return;
      files.replaceLog(joined([...newLog(header.cacheId, metadataFrom, entriesAtOnce)]));
      onCompacted();
    });
  }
}
