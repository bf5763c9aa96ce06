/** What processes hold right now, with the limit of each level, for the checkers. */
import type { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import type { GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import type { NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import type { Node } from '@s3-accelerator/core/node/node.ts';
import type { Store } from '@s3-accelerator/core/store/store.ts';
import type { Level, ProcessState } from '../history/views.ts';

interface Sized {
  readonly size: number;
}

/** One life of a node, as far as it holds something. */
export interface NodeHolding {
  readonly nodeId: number;
  readonly node: Node;
  readonly store: Store;
  readonly fetches: Sized;
  readonly answers: Sized;
  readonly passes: Sized;
}

/** One life of a gateway. */
export interface GatewayHolding {
  readonly gatewayId: number;
  readonly gateway: Gateway;
  readonly transfers: Sized;
  readonly exchanges: Sized;
  readonly passes: Sized;
}

export function nodeState(run: NodeHolding, limits: NodeLimits): ProcessState {
  const { node, store, fetches, answers, passes } = run;
  const levels = node.levels();
  const journal = node.journal.levels();
  const { blocks, blockBytes, reserved, pinned } = store.counters;
  const { maxReaders, maxFetches, maxWrites, fillBudgetBytes } = limits;
  return {
    name: `node ${run.nodeId}`,
    levels: [
      held('waiting readers', levels.waitingReaders, maxReaders),
      held('lookups', levels.lookups, maxFetches),
      held('fetches', levels.fetches, maxFetches),
      held('bytes of fill memory', levels.fillBytes, fillBudgetBytes),
      // What was cancelled is soon gone from here, what ended well before the machine hears of it.
      held('requests to S3 and to other nodes', fetches.size, maxFetches),
      held('askers', answers.size, Infinity),
      held('passed requests', passes.size, Infinity),
      held('reserved slots', reserved, maxWrites),
      held('pinned slots', pinned, Infinity),
      held('writes of blocks that wait', journal.waitingWrites, maxWrites),
      held('writes of blocks', journal.writes, maxWrites),
      held('blocks without a row', journal.unrecorded, limits.maxUnrecorded),
      held('rows to clear', journal.unclearedRows, Infinity),
      held('placements lent', levels.leasesGranted, limits.maxLeases),
      held('placements held', levels.leasesHeld, limits.maxLeases),
      kept('metadata entries', levels.metadataEntries, limits.metadataEntries),
      kept('bytes of metadata', levels.metadataBytes, limits.metadataBytes),
      kept('blocks', blocks, store.capacityBytes / 4096),
      kept('bytes of blocks', blockBytes, store.capacityBytes),
    ],
  };
}

export function gatewayState(
  run: GatewayHolding,
  limits: GatewayLimits,
  blockBytes: number,
  nodes: number,
): ProcessState {
  const levels = run.gateway.levels();
  // One read a client, those ahead, and one that is replaced by the next.
  const maxReads = limits.maxReads + limits.maxAheadReads + 1;
  const maxUntaken = limits.maxAheadBytes + limits.maxReads * blockBytes;
  return {
    name: `gateway ${run.gatewayId}`,
    levels: [
      held('client reads', levels.clientReads, limits.maxReads),
      held('reads of nodes', levels.outstandingReads, maxReads),
      held('bytes asked for and not taken', levels.untakenBytes, maxUntaken),
      kept('suspects', levels.suspects, nodes),
      kept('hot hints', levels.hotHints, limits.maxHotHints),
      held('transfers', run.transfers.size, maxReads),
      held('exchanges', run.exchanges.size, Infinity),
      held('passed requests', run.passes.size, Infinity),
      kept('metadata entries', levels.metadataEntries, limits.metadataEntries),
      kept('bytes of metadata', levels.metadataBytes, limits.metadataBytes),
    ],
  };
}

/** Something in use: nothing of it at rest. */
function held(name: string, value: number, limit: number): Level {
  return { name, value, limit, restsAtZero: true };
}

/** Something that a cache keeps. */
function kept(name: string, value: number, limit: number): Level {
  return { name, value, limit, restsAtZero: false };
}
