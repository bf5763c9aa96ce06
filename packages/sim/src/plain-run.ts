/**
 * The simplest value of every option: no faults, one of each, nothing in short supply. What a failing run is moved towards.
 *
 * Whole records, so that the compiler asks for the simplest value of each new option too.
 */
import type { RunOptions } from './options.ts';

const BLOCK_BYTES = 4096;

export const PLAIN_RUN: Omit<RunOptions, 'seed' | 'buckets'> = {
  cluster: {
    gateways: 1,
    nodes: 1,
    sizes: {
      blockBytes: BLOCK_BYTES,
      chunkBytes: 2 * BLOCK_BYTES,
      tailBytes: 2 * BLOCK_BYTES,
      wholeBytes: 4 * BLOCK_BYTES,
    },
    storeBytes: 64 * BLOCK_BYTES,
    doorkeeperWindowMs: 600_000,
    clockOffsetMs: 0,
    clockDrift: 0,
    sharesProcesses: false,
    resizePercent: 0,
  },
  gateway: {
    maxReads: 64,
    smallAnswerBytes: 2048,
    metadataEntries: 1000,
    gatewayTtlMs: 100,
    maxRestarts: 3,
    readTimeoutMs: 30_000,
    writeSlots: 1024,
    readAheadBlocks: 4,
    maxAheadReads: 64,
    maxAheadBlocks: 256,
    maxAttempts: 3,
    suspectMs: 5000,
  },
  node: {
    maxReaders: 64,
    maxFetches: 32,
    maxWrites: 16,
    fillBudgetBlocks: 32,
    readAheadSegments: 2,
    idleFetchMs: 5000,
    metadataEntries: 1000,
    maxVerifications: 64,
    scrubIntervalMs: Infinity,
  },
  workload: {
    requests: 1,
    clientsPerGateway: 1,
    keysPerBucket: 1,
    thinkMs: 5,
    writePercent: 0,
    behindPercent: 0,
    conditionPercent: 0,
    passPercent: 0,
    headPercent: 0,
    rangePercent: 0,
    weakPercent: 0,
    largePercent: 0,
    leavePercent: 0,
    stallPercent: 0,
    stallMs: 20,
  },
  delays: { networkMs: 0.5, originMs: 10, diskMs: 1, clientMs: 1 },
  faults: {
    originPercent: 0,
    lostWritePercent: 0,
    linkResetMs: Infinity,
    partitionMs: Infinity,
    crashMs: Infinity,
    restartMs: Infinity,
    slowNodeMs: Infinity,
    gatewayRestartMs: Infinity,
    lastingMs: 50,
    diskWritePercent: 0,
    diskReadPercent: 0,
    lostSectorPercent: 0,
    rotPercent: 0,
    cutMs: Infinity,
  },
};
