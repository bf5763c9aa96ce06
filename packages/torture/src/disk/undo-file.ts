/**
 * The undo file: what the disk layer wrote during one life, and what stood there before, in the order in which it happened.
 *
 * The program appends to it before each write and around each sync, synchronously: after a SIGKILL the file tells of every write that
 * may have reached a file. It lies outside the data directory. An entry that the kill cut short belongs to a write that was never begun.
 *
 * Format, little-endian: entries of 24 bytes (kind u32, id u32, file u32, length u32, position f64), a write's followed by the
 * `length` bytes that it is about to replace.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** The files of a data directory that writes are noted of. */
export const recordedFiles = ['slab', 'slots'] as const;
export type RecordedFile = (typeof recordedFiles)[number];

const headBytes = 24;
const WRITE_BEGINS = 1;
const WRITE_ENDS = 2;
const SYNC_BEGINS = 3;
const SYNC_ENDS = 4;
const nothing = new Uint8Array(0);

/** One write of a life. */
export interface RecordedWrite {
  readonly file: RecordedFile;
  readonly position: number;
  /** What stood there when it began; as long as the write. */
  readonly former: Uint8Array;
  /** Whether a sync that completed had begun after the write was done: a loss of power can't undo it. */
  readonly isDurable: boolean;
}

/** Written by the program. */
export class UndoWriter {
  readonly #descriptor: number;
  readonly #head = new DataView(new ArrayBuffer(headBytes));
  #lastId = 0;

  /** Begins a new file, or replaces that of an earlier life. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'w', 0o600);
  }

  /** Before a write is handed to the kernel. Returns its id. */
  writeBegins(file: RecordedFile, position: number, former: Uint8Array): number {
    const id = ++this.#lastId;
    this.#append(WRITE_BEGINS, id, file, position, former);
    return id;
  }

  /** Once the kernel has said that it is done, well or not. */
  writeEnds(id: number, file: RecordedFile): void {
    this.#append(WRITE_ENDS, id, file, 0);
  }

  /** Before a sync is asked for. Returns its id. */
  syncBegins(file: RecordedFile): number {
    const id = ++this.#lastId;
    this.#append(SYNC_BEGINS, id, file, 0);
    return id;
  }

  /** Only once a sync has succeeded. */
  syncEnds(id: number, file: RecordedFile): void {
    this.#append(SYNC_ENDS, id, file, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #append(
    kind: number,
    id: number,
    file: RecordedFile,
    position: number,
    bytes: Uint8Array = nothing,
  ): void {
    const head = this.#head;
    head.setUint32(0, kind, true);
    head.setUint32(4, id, true);
    head.setUint32(8, recordedFiles.indexOf(file), true);
    head.setUint32(12, bytes.length, true);
    head.setFloat64(16, position, true);
    writeSync(this.#descriptor, new Uint8Array(head.buffer));
    if (bytes.length > 0) writeSync(this.#descriptor, bytes);
  }
}

/** The writes of the life that wrote this file, in the order in which they began. */
export function readUndoFile(path: string): RecordedWrite[] {
  const bytes = readFileSync(path);
  const writes = new Map<number, RecordedWrite & { hasEnded: boolean; isDurable: boolean }>();
  /** Writes that a sync in flight will cover. */
  const covered = new Map<number, { isDurable: boolean }[]>();
  for (let at = 0; at + headBytes <= bytes.length;) {
    const [kind, id, fileNumber, length] = [0, 4, 8, 12].map((word) =>
      bytes.readUInt32LE(at + word),
    );
    const position = bytes.readDoubleLE(at + 16);
    const file = recordedFiles[fileNumber ?? 0] ?? 'slab';
    const end = at + headBytes + (length ?? 0);
    if (end > bytes.length || id === undefined) break;
    if (kind === WRITE_BEGINS) {
      const former = bytes.subarray(at + headBytes, end);
      writes.set(id, { file, position, former, hasEnded: false, isDurable: false });
    } else if (kind === WRITE_ENDS) {
      const write = writes.get(id);
      if (write !== undefined) write.hasEnded = true;
    } else if (kind === SYNC_BEGINS) {
      const done = [...writes.values()].filter((write) => write.file === file && write.hasEnded);
      covered.set(id, done);
    } else if (kind === SYNC_ENDS) {
      for (const write of covered.get(id) ?? []) write.isDurable = true;
    }
    at = end;
  }
  return [...writes.values()];
}
