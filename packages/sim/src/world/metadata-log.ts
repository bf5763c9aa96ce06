/** A node's metadata log during one run, in the core's format; the file outlives the run. */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import {
  encodeForgotten,
  encodeLogHeader,
  encodePut,
  FORGOTTEN_BYTES,
  putBytes,
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
    this.#options.files.appendLog(putOf(hash, metadata));
  }

  logForgotten(hash: Hash128): void {
    const bytes = new Uint8Array(FORGOTTEN_BYTES);
    encodeForgotten(bytes, 0, hash);
    this.#options.files.appendLog(bytes);
  }

  compactMetadataLog(): void {
    const { queue, files, onCompacted } = this.#options;
    queue.in(1, () => {
      if (this.#isOver) return;
      files.replaceLog(this.#everything());
      onCompacted();
    });
  }

  #everything(): Uint8Array {
    const node = this.#options.node();
    const pieces = [encodeLogHeader(this.#options.header.cacheId)];
    let from = 0;
    do {
      from = node.metadataFrom(from, entriesAtOnce, (hash, metadata) => {
        pieces.push(putOf(hash, metadata));
      });
    } while (from !== 0);
    const log = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      log.set(piece, at);
      at += piece.length;
    }
    return log;
  }
}

function putOf(hash: Hash128, metadata: ObjectMetadata): Uint8Array {
  const bytes = new Uint8Array(putBytes(metadata));
  encodePut(bytes, 0, hash, metadata);
  return bytes;
}
