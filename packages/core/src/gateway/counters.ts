/** What a gateway counted since it started; plain numbers, read by metrics. */
export interface GatewayCounters {
  /** Client reads, and those that were answered from metadata alone (304, 412, 416, HEAD, empty objects). */
  requests: number;
  withoutBody: number;
  /** Reads sent to nodes, by kind. */
  lookups: number;
  pieces: number;
  /** Those of both that went to another node than the owner because their placement is hot. */
  spreadReads: number;
  /** Body bytes of nodes' answers that were queued for clients. */
  bodyBytes: number;
  /** Requests whose metadata was known here. */
  metadataHits: number;
  /** Reads that started over because their object changed, and those that did so too often. */
  restarts: number;
  passThroughs: number;
  /** Reads sent to a second node after the first one failed, and reads that no node answered in time. */
  retries: number;
  /** Answers that went on from another node after a part of a piece was sent. */
  resumed: number;
  timeouts: number;
  /** Answers cut short after their head was sent. */
  aborts: number;
  /** Requests turned away because `maxReads` was reached, or a node's pool was full. */
  slowDowns: number;
  /** Answers that made no sense for what was asked. */
  badAnswers: number;
}

export function newGatewayCounters(): GatewayCounters {
  return {
    requests: 0,
    withoutBody: 0,
    lookups: 0,
    pieces: 0,
    spreadReads: 0,
    bodyBytes: 0,
    metadataHits: 0,
    restarts: 0,
    passThroughs: 0,
    retries: 0,
    resumed: 0,
    timeouts: 0,
    aborts: 0,
    slowDowns: 0,
    badAnswers: 0,
  };
}
