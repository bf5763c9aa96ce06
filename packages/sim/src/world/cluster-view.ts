/** The whole cluster as an onlooker sees it: who runs, by which rings processes place, whether all have come to rest. */
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { ownerIndex } from '@s3-accelerator/core/placement.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { checkAgreement } from '../checkers/rings.ts';
import type { ProcessLife, RingRecord } from '../history/ring-record.ts';
import type { ClusterView } from '../history/views.ts';
import type { GatewayHost } from './gateway-host.ts';
import type { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';

/** Placements whose owners are recorded for each ring. */
const sampledPlacements = 64;

export interface Hosts {
  readonly nodes: readonly NodeHost[];
  readonly gateways: readonly GatewayHost[];
}

export function viewOf({ nodes, gateways }: Hosts): ClusterView {
  const processes: ClusterView['processes'][number][] = [];
  const running: number[] = [];
  for (const run of staying(nodes)) {
    running.push(run.nodeId);
    processes.push(placing(`node ${run.nodeId}`, run.cluster.ring.current));
  }
  for (const { gatewayId, loops } of gateways) {
    for (const { cluster } of loops) {
      processes.push(placing(`gateway ${gatewayId}`, cluster.ring.current));
    }
  }
  return { running, processes };
}

/** Whether all that run know of each other and place by one ring: then nothing changes any more by itself. */
export function isSettled(hosts: Hosts): boolean {
  const view = viewOf(hosts);
  if (checkAgreement(view) !== null) return false;
  return staying(hosts.nodes).every(({ cluster }) =>
    view.running.every((nodeId) => cluster.gossip.membership.statusOf(nodeId) === 'alive'),
  );
}

export function ringRecordOf(by: ProcessLife, at: number, ring: Ring): RingRecord {
  const owners = Array.from({ length: sampledPlacements }, (_, sample) => ownerIn(ring, sample));
  return { by, at, version: ring.version, members: idsOf(ring), owners };
}

/** Nodes that run and stay. */
function staying(nodes: readonly NodeHost[]): NodeRun[] {
  return nodes.flatMap(({ run, isLeaving, isStopping }) =>
    run === null || isLeaving || isStopping ? [] : [run],
  );
}

function placing(name: string, ring: Ring): ClusterView['processes'][number] {
  return { name, version: ring.version, members: idsOf(ring) };
}

function idsOf({ members }: Ring): number[] {
  return members.map(({ nodeId }) => nodeId);
}

/** The owner of one of the placements that every ring is sampled by; -1 in an empty ring. */
function ownerIn(ring: Ring, sample: number): number {
  const index = ownerIndex(ring, mix32(sample + 1) >>> 0, mix32(sample + 0x1000) >>> 0);
  return ring.members[index]?.nodeId ?? -1;
}
