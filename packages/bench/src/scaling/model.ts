/**
 * What a fleet of any size costs, worked out from what was measured on one machine and from the formats as they are.
 *
 * Every constant says where it comes from. scaling.test.ts holds the formulas against the membership benchmark, the wire format and
 * placement itself, so that they can't drift from the code.
 */

const mib = 2 ** 20;
const tib = 2 ** 40;

/** A fleet as somebody might run it. */
export interface Fleet {
  readonly nodes: number;
  readonly gateways: number;
  /** Of each gateway. */
  readonly loops: number;
  /** Of each node. */
  readonly cacheBytes: number;
  /** What clients read of each node, in bytes a second: what its network card gives. */
  readonly readBytesPerSecond: number;
  /** Of "host:port". */
  readonly addressBytes: number;
}

/** Nodes of 4 TiB that are read at 20 Gbit/s, and sidecars of one loop: four hosts of compute for each node. */
export function usualFleet(nodes: number): Fleet {
  return {
    nodes,
    gateways: 4 * nodes,
    loops: 1,
    cacheBytes: 4 * tib,
    readBytesPerSecond: 2.5e9,
    addressBytes: 20,
  };
}

/** Nanoseconds that each member of the ring adds to finding an owner: placement.bench.ts, 256 members. */
export const rankNsPerMember = 4.7;
/** The gateway ranks for each piece, the node once more to know whether it owns it. */
const ranksPerPiece = 2;
/** docs/storage.md: of a block, all told. */
const indexBytesPerBlock = 64;
/** protocol/gossip-packet.ts: head and MAC, and a record without its address. */
const gossipHeadBytes = 28 + 16;
const gossipRecordBytes = 22;
/** UDP and IP. */
const datagramHeadBytes = 28;
/** protocol/ring-message.ts. */
const ringFixedBytes = 16 + 4;
const ringMemberBytes = 9;
const datedRingBytes = 16;
const ringsSent = 8;
/** gateway.multiplexed_links and gateway.exclusive_links by default. */
const multiplexedLinks = 1;
const exclusiveLinks = 16;
/** node.max_links by default. */
export const defaultMaxLinks = 4096;
/** core/ring.ts. */
export const maxMembers = 2048;
/** node.max_fetches by default, and what one GET of 1 MiB takes of S3, as its users measure it. */
const maxFetches = 128;
const s3SecondsPerBlock = 0.04;
/** cluster.fallback_window_s by default. */
const fallbackWindowS = 600;

/** Bits of n: about the rounds in which news reaches n members. */
const bits = (n: number): number => Math.floor(Math.log2(n)) + 1;

/** A packet with so many records. */
const gossipBytes = (records: number, addressBytes: number): number =>
  gossipHeadBytes + records * (gossipRecordBytes + addressBytes);

export interface GossipCost {
  /** Of each member while nothing happens, without the heads of UDP and IP: a ping and an answer a second. */
  readonly quietBytesPerSecond: number;
  /** Until all know that a member is down. */
  readonly downMs: number;
  /** Until all have the ring with a newcomer. */
  readonly joinMs: number;
  /** What all members together send for a newcomer, beyond the quiet. */
  readonly joinBytes: number;
}

export function gossipCost(members: number, addressBytes: number): GossipCost {
  const rounds = bits(members);
  // Each member passes each of the newcomer's two records on, its life and then its place, three times a round of the news.
  const sends = 3 * rounds;
  return {
    quietBytesPerSecond: 2 * gossipBytes(1, addressBytes),
    // A second until its turn to be probed and one for the probe, the suspicion, and the news of its end.
    downMs: 1000 + 1000 * (3 + rounds) + 150 * rounds,
    joinMs: 500 + 150 * rounds,
    joinBytes: members * sends * (gossipBytes(2, addressBytes) + gossipRecordBytes + addressBytes),
  };
}

/** Bytes of a ring answer: all members that any of the window's rings has, and a bit for each in each ring. */
export function ringBytes(members: number, rings: number, addressBytes: number): number {
  return (
    ringFixedBytes +
    members * (ringMemberBytes + addressBytes) +
    rings * (datedRingBytes + Math.ceil(members / 8))
  );
}

export interface FleetCost {
  readonly fleet: Fleet;
  readonly gossip: GossipCost;
  /** Of each node, UDP and IP included, both directions. */
  readonly gossipBitsPerSecond: number;
  /** What each loop of each gateway fetches when the ring changes, at most. */
  readonly ringBytes: number;
  /** What each node sends of it, all gateways together. */
  readonly ringBytesPerNode: number;
  /** To each node: those that are always there, and as many as there can be. */
  readonly links: { readonly quiet: number; readonly most: number };
  /** Of each gateway. */
  readonly gatewayLinks: { readonly quiet: number; readonly most: number };
  /** Microseconds of ranking in a small read, gateway and node together. */
  readonly rankingUs: number;
  /** Of each node. */
  readonly indexBytes: number;
  /** GETs of 1 MiB a second when a node is lost: its readers' misses. */
  readonly lostNodeGetsPerSecond: number;
  /** What is read anew from S3 for it in all, once. */
  readonly lostNodeBytes: number;
  /** GETs a second when the whole fleet starts empty: what its nodes ask for at most. */
  readonly coldStartGetsPerSecond: number;
  /** Bytes that belong to a node that is added. */
  readonly movedBytes: number;
  /** Of those, what each of the others hands over. */
  readonly handedOverBytes: number;
  /** The share of them that can be read, and so handed over, within the window, at the rate of one node. */
  readonly handedOverShare: number;
}

export function fleetCost(fleet: Fleet): FleetCost {
  const { nodes, gateways, loops, cacheBytes, readBytesPerSecond, addressBytes } = fleet;
  const allLoops = gateways * loops;
  const gossip = gossipCost(nodes, addressBytes);
  const ring = ringBytes(nodes + ringsSent - 1, ringsSent, addressBytes);
  const wanted = readBytesPerSecond / mib;
  const movedBytes = (cacheBytes * nodes) / (nodes + 1);
  return {
    fleet,
    gossip,
    gossipBitsPerSecond: 2 * 8 * (gossip.quietBytesPerSecond + 2 * datagramHeadBytes),
    ringBytes: ring,
    ringBytesPerNode: (ring * allLoops) / nodes,
    links: {
      quiet: allLoops * multiplexedLinks,
      most: allLoops * (multiplexedLinks + exclusiveLinks),
    },
    gatewayLinks: {
      quiet: nodes * loops * multiplexedLinks,
      most: nodes * loops * (multiplexedLinks + exclusiveLinks),
    },
    rankingUs: (ranksPerPiece * rankNsPerMember * nodes) / 1000,
    indexBytes: (cacheBytes / mib) * indexBytesPerBlock,
    lostNodeGetsPerSecond: Math.min(wanted, ((nodes - 1) * maxFetches) / s3SecondsPerBlock),
    lostNodeBytes: cacheBytes,
    coldStartGetsPerSecond: nodes * Math.min(wanted, maxFetches / s3SecondsPerBlock),
    movedBytes,
    handedOverBytes: movedBytes / nodes,
    handedOverShare: Math.min(1, (readBytesPerSecond * fallbackWindowS) / movedBytes),
  };
}
