/** What a node counted since it started; plain numbers, read by metrics. */
export interface NodeCounters {
  /** Reads of a block's bytes, those of lookups too, by where they came from: the store, a fill in flight, S3 or a previous owner for this read. */
  readsFromDisk: number;
  readsFromFill: number;
  readsFromS3: number;
  readsFromPeers: number;
  bytesFromDisk: number;
  bytesFromFill: number;
  bytesFromS3: number;
  bytesFromPeers: number;
  /** Lookups, and those answered from metadata that was still good. */
  lookups: number;
  metadataHits: number;
  /** Requests to S3 by what for, and the bytes that came. */
  firstFetches: number;
  revalidations: number;
  fills: number;
  directStreams: number;
  fetchedBytes: number;
  /** Questions to previous owners and lenders, blocks and metadata that came of them, the bytes, and those that weren't answered in time. */
  handoversAsked: number;
  blocksTakenOver: number;
  metadataTakenOver: number;
  takenOverBytes: number;
  handoverTimeouts: number;
  /** Questions of other nodes that were answered with what is held, and those that weren't. */
  handedOver: number;
  notHeld: number;
  /**
   * Placements lent and lent anew; leases that others refused; leases that came here, and those that ended; writes that lenders told of;
   * leases that found no room.
   */
  leasesGranted: number;
  leasesRenewed: number;
  leasesRefused: number;
  leasesTaken: number;
  leasesLapsed: number;
  writesHeardOf: number;
  leasesExhausted: number;
  /** Revalidations that S3 answered with 304. */
  confirmations: number;
  /** Blocks that were let in, blocks that reached the store, and writes that failed. */
  admissions: number;
  blocksStored: number;
  writesFailed: number;
  /** Blocks dropped because their bytes couldn't be read. */
  unreadableBlocks: number;
  /** Writes that passed through and ended. */
  writesSeen: number;
  /** Fills that found their version gone, bodies that broke off, answers of S3 that made no sense. */
  changes: number;
  brokenBodies: number;
  oddAnswers: number;
  /** Fetches nobody wanted any more. */
  cancelledFetches: number;
  /** Reads that started over because what they waited for ended without them. */
  restarts: number;
  /** Limits reached: readers, fetches, fill memory, slots of the store. */
  readersExhausted: number;
  fetchesExhausted: number;
  memoryExhausted: number;
  storeExhausted: number;
  writesExhausted: number;
  /** Requests whose hash, version or range contradicted themselves. */
  badRequests: number;
}

export function newNodeCounters(): NodeCounters {
  return {
    readsFromDisk: 0,
    readsFromFill: 0,
    readsFromS3: 0,
    readsFromPeers: 0,
    bytesFromDisk: 0,
    bytesFromFill: 0,
    bytesFromS3: 0,
    bytesFromPeers: 0,
    lookups: 0,
    metadataHits: 0,
    firstFetches: 0,
    revalidations: 0,
    fills: 0,
    directStreams: 0,
    fetchedBytes: 0,
    handoversAsked: 0,
    blocksTakenOver: 0,
    metadataTakenOver: 0,
    takenOverBytes: 0,
    handoverTimeouts: 0,
    handedOver: 0,
    notHeld: 0,
    leasesGranted: 0,
    leasesRenewed: 0,
    leasesRefused: 0,
    leasesTaken: 0,
    leasesLapsed: 0,
    writesHeardOf: 0,
    leasesExhausted: 0,
    confirmations: 0,
    admissions: 0,
    blocksStored: 0,
    writesFailed: 0,
    unreadableBlocks: 0,
    writesSeen: 0,
    changes: 0,
    brokenBodies: 0,
    oddAnswers: 0,
    cancelledFetches: 0,
    restarts: 0,
    readersExhausted: 0,
    fetchesExhausted: 0,
    memoryExhausted: 0,
    storeExhausted: 0,
    writesExhausted: 0,
    badRequests: 0,
  };
}
