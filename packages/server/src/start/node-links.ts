/** Where gateways and other nodes, and further loops of the same process, reach a node. */
import { Ring } from '@s3-accelerator/core/ring.ts';
import type { ProcessRing } from '../cluster/process-ring.ts';
import { formatAddress, type Address } from '../config/address.ts';
import type { ClusterConfig, NodeConfig } from '../config/config.ts';
import type { ReadableSlab } from '../disk/disk-files.ts';
import { publishLimit } from '../metrics/publish.ts';
import { LinkAnswers } from '../node/link-answers.ts';
import { LinkReads } from '../node/link-reads.ts';
import type { NodeDriver } from '../node/node-driver.ts';
import type { ForwardPort } from '../passthrough/forward.ts';
import { defaultLinkServerOptions } from '../peers/link-options.ts';
import { LinkServer } from '../peers/link-server.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { innerListen } from './inner-links.ts';
import { linkKey } from './link-key.ts';
import type { ProcessContext } from './process-context.ts';

export interface NodeLinks {
  readonly server: LinkServer;
  readonly at: Address;
}

export interface NodeLinksContext extends ProcessContext {
  /** For links of further loops, in a process that is a cluster of its own (inner-links.ts). */
  readonly inner: ClusterConfig | null;
}

/** What answers over links. */
interface Answering {
  readonly slab: ReadableSlab;
  readonly driver: NodeDriver;
  readonly forward: ForwardPort;
  readonly buckets: BucketSettings;
}

/** null in a process that nobody else has anything to ask of. */
export function startNodeLinks(
  { config, inner, reactor, ring, log, faults, metrics }: NodeLinksContext,
  { id, maxLinks, listen = innerListen }: NodeConfig,
  { slab, driver, forward, buckets }: Answering,
): NodeLinks | null {
  const cluster = config.cluster ?? inner;
  if (cluster === null) return null;
  const { secret, tcp } = cluster;
  const links = new LinkServer(
    { reactor, faults, reads: new LinkReads(driver), forwardPort: forward },
    {
      ...defaultLinkServerOptions,
      secret: linkKey(secret),
      rtoMinUs: tcp.rtoMinUs,
      delackMaxUs: tcp.delackMaxUs,
      maxLinks,
      lendPages: slab.lendsPages,
    },
  );
  links.ring = ring;
  ring.onChange(() => {
    links.ringChanged();
  });
  links.tellBucketMark(buckets.mark);
  buckets.onChange((mark) => {
    links.tellBucketMark(mark);
  });
  driver.linkAnswers = new LinkAnswers(links.reads, slab.readDescriptor);
  const { host } = listen;
  const port = links.listen(host, listen.port);
  metrics.readFrom('s3accel_node_links', () => links.links);
  publishLimit(metrics, 'node_links', () => links.linksRefused);
  publishLimit(metrics, 'link_reads', () => links.reads.refused);
  log.info({ host, port }, 'listening for links');
  const at = { host, port };
  if (config.cluster === undefined) nameOnlyMember(ring, id, at);
  return { server: links, at };
}

/** A ring that others ask for says where its members are; the one of a process that nobody asked had no need to. */
function nameOnlyMember(ring: ProcessRing, nodeId: number, at: Address): void {
  ring.advance(new Ring(ring.version + 1, [{ nodeId, weight: 1, address: formatAddress(at) }]));
}
