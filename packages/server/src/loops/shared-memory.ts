/**
 * What the loops of one process share: memory that threads can read and write at the same time.
 *
 * All else is each loop's own; only the clock is one by nature, since performance.now() counts from the start of the process in every
 * thread. Made once by the first loop; further ones get the same memory with the message that starts them.
 */
import { randomBytes } from 'node:crypto';
import { defaultWriteSlots, WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { ConnectionBudget } from '../http/connection-budget.ts';

export interface SharedMemory {
  /** Of the write epochs (core/gateway/write-epochs.ts), and what mixes the objects' places among them. */
  readonly writeEpochs: Uint32Array;
  readonly writeSeed: number;
  /** Open connections from clients (http/connection-budget.ts). */
  readonly connections: Int32Array;
  /** When each loop turned last (heartbeats.ts). */
  readonly heartbeats: Int32Array;
}

export function newSharedMemory(loops = 2): SharedMemory {
  return {
    writeEpochs: new Uint32Array(new SharedArrayBuffer(4 * defaultWriteSlots)),
    writeSeed: randomBytes(4).readUInt32LE(0),
    connections: new Int32Array(new SharedArrayBuffer(4)),
    heartbeats: new Int32Array(new SharedArrayBuffer(4 * loops)),
  };
}

/** What one loop's gateway works with of it. */
export function sharedParts(
  memory: SharedMemory,
  { maxConnections }: { readonly maxConnections: number },
): { readonly epochs: WriteEpochs; readonly connections: ConnectionBudget } {
  return {
    epochs: new WriteEpochs(memory.writeEpochs, memory.writeSeed),
    connections: new ConnectionBudget(maxConnections, memory.connections),
  };
}
