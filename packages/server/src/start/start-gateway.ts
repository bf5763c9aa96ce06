/** Puts a gateway together: HTTP server, authorisation, core, and the ways to nodes and to S3. */
import { randomBytes } from 'node:crypto';
import { defaultGatewayLimits, type GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import type { WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { Layout } from '@s3-accelerator/core/layout.ts';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { requiredScratchBytes, SigV4 } from '../auth/sigv4.ts';
import type { Config, GatewayConfig } from '../config/config.ts';
import { addressesOf, RingFollower } from '../cluster/ring-follower.ts';
import { BrowserUploads } from '../browser-upload/browser-uploads.ts';
import { GatewayDriver } from '../gateway/gateway-driver.ts';
import { HomeForward } from '../gateway/home-forward.ts';
import { RequestRouter } from '../gateway/request-router.ts';
import type { ConnectionBudget } from '../http/connection-budget.ts';
import type { ExchangeId } from '../http/exchange.ts';
import { HttpServer } from '../http/http-server.ts';
import { RequestCounter } from '../metrics/counters.ts';
import { publishGateway, publishLimit, publishServer } from '../metrics/publish.ts';
import { ObjectHash } from '../object-hash.ts';
import { PassThrough } from '../passthrough/pass-through.ts';
import { defaultPeerOptions } from '../peers/link-options.ts';
import { Peers, type PeerAddress } from '../peers/peers.ts';
import { GatewayClients } from './gateway-clients.ts';
import { linkKey } from './link-key.ts';
import type { ProcessContext } from './process-context.ts';
import type { RunningNode } from './start-node.ts';

/** Credential scopes (client, day, region) whose signing keys are kept: more than 10,000 clients need in a day. 8 MiB at most. */
const maxScopes = 16_384;
/** How long answers under way may take once the process is asked to stop. */
const stopGraceMs = 20_000;

export interface GatewayContext extends Omit<ProcessContext, 'wrapFiles' | 'mustStop' | 'signal'> {
  /** The node of this process, reached in memory; null when it has none, or this loop isn't on the node's thread. */
  readonly node: RunningNode | null;
  /** Where a loop that isn't on the node's thread reaches the node of its own process; null when there is none. */
  readonly near?: PeerAddress | null;
  /** Shared by all loops of the process, as is `connections`. */
  readonly epochs: WriteEpochs;
  readonly connections: ConnectionBudget;
}

export interface RunningGateway {
  readonly driver: GatewayDriver;
  /** Listens for clients from now on; returns at which port. Throws when it can't. */
  listen(): number;
  /** null when clients can be served, else why not. */
  notReady(): string | null;
  tick(): void;
  reload(config: Config): void;
  stop(): Promise<void>;
}

/** Links to the nodes in other processes, which follow the ring; null in a process that is a cluster of its own. */
function startPeers(
  { config, reactor, faults, metrics, ring }: GatewayContext,
  gateway: GatewayConfig,
  driver: GatewayDriver,
): Peers | null {
  if (config.cluster === undefined) return null;
  const { secret, tcp } = config.cluster;
  const peers = new Peers(
    reactor,
    {
      ...defaultPeerOptions,
      secret: linkKey(secret),
      rtoMinUs: tcp.rtoMinUs,
      delackMaxUs: tcp.delackMaxUs,
      multiplexedLinks: gateway.multiplexedLinks,
      exclusiveLinks: gateway.exclusiveLinks,
      forwardLinks: gateway.forwardLinks,
      smallAnswerBytes: gateway.smallAnswerBytes,
      maxReads: gateway.maxReads + defaultGatewayLimits.maxAheadReads,
    },
    faults,
    driver,
  );
  peers.ring = ring;
  publishLimit(metrics, 'peer_reads', () => peers.readsRefused);
  return peers;
}

/** Where the ring comes from: this process's node, which gossips, or the nodes that the configuration names. */
function followRing(
  { config, ring, node, near = null, log, faults }: GatewayContext,
  peers: Peers | null,
): RingFollower | null {
  if (peers === null || config.cluster === undefined) return null;
  if (node === null) {
    const named = config.cluster.nodes.map(({ id, address }) => ({ nodeId: id, ...address }));
    const asked = near === null ? peers : withNear(peers, near);
    return new RingFollower({ ring, peers: asked, named, log, faults });
  }
  ring.onChange(({ members }) => {
    peers.setMembers(addressesOf(members.filter(({ nodeId }) => nodeId !== node.nodeId)));
  });
  return null;
}

/** The node of the same process is always asked, and where it is near, whatever address it has for others. */
function withNear(peers: Peers, near: PeerAddress): Pick<Peers, 'setMembers' | 'reachesAny'> {
  return {
    setMembers: (members) => {
      peers.setMembers([near, ...members.filter(({ nodeId }) => nodeId !== near.nodeId)]);
    },
    reachesAny: () => peers.reachesAny(),
  };
}

function limitsOf(gateway: GatewayConfig): GatewayLimits {
  return {
    ...defaultGatewayLimits,
    maxReads: gateway.maxReads,
    readAheadBytes: gateway.readAheadBytes,
    maxAheadBytes: gateway.maxAheadBytes,
    smallAnswerBytes: gateway.smallAnswerBytes,
    metadataEntries: gateway.metadataEntries,
    metadataBytes: gateway.metadataBytes,
    gatewayTtlMs: gateway.metadataTtlMs,
    readTimeoutMs: gateway.readTimeoutMs,
  };
}

function newServer(
  { reactor, connections }: GatewayContext,
  router: RequestRouter,
  gateway: GatewayConfig,
): HttpServer {
  const limits = {
    maxConnections: gateway.maxConnections,
    keepAliveMs: gateway.keepAliveMs,
    headMs: gateway.headTimeoutMs,
    bodyIdleMs: gateway.bodyIdleMs,
  };
  const answered = (exchange: ExchangeId, status: number): void => {
    router.onAnswer(exchange, status);
  };
  return new HttpServer(reactor, router, limits, answered, connections);
}

function newDriver(
  { reactor, ring, epochs, now, node }: GatewayContext,
  gateway: GatewayConfig,
  server: HttpServer,
  router: RequestRouter,
): GatewayDriver {
  return new GatewayDriver({
    reactor,
    server,
    ring: ring.current,
    layout: new Layout(),
    limits: limitsOf(gateway),
    epochs,
    seed: randomBytes(4).readUInt32LE(0),
    now,
    local: node,
    passThrough: (exchange) => {
      router.passThroughRead(exchange);
    },
    resourceOf: (exchange) => router.resourceOf(exchange),
  });
}

/** Whatever writes by it raises the epoch of what it writes. */
function newPassThrough(
  server: HttpServer,
  forward: HomeForward,
  driver: GatewayDriver,
  hash: ObjectHash,
): PassThrough {
  return new PassThrough(server, forward, {
    onWriteStarted: (bucket, key) => {
      driver.onWriteStarted(hash.of(bucket, key));
    },
    onWriteFinished: (bucket, key, outcome) => {
      driver.onWriteFinished(hash.of(bucket, key), outcome);
    },
  });
}

export function startGateway(context: GatewayContext, gateway: GatewayConfig): RunningGateway {
  const { config, ring, log, metrics, now, node } = context;
  const { listen, region } = gateway;
  const hash = new ObjectHash();
  const clients = new GatewayClients(context, (claimed) => {
    sigv4.forget(claimed);
  });
  const sigv4 = new SigV4(new Digester(requiredScratchBytes), clients.of(config), {
    region,
    maxScopes,
  });
  const router = new RequestRouter();
  const server = newServer(context, router, gateway);
  const driver = newDriver(context, gateway, server, router);
  const peers = startPeers(context, gateway, driver);
  driver.remote = peers;
  const follower = followRing(context, peers);
  // After the links, so that whoever is asked can be reached.
  ring.onChange((changed) => {
    driver.gateway.onRing(now(), changed);
  });
  // Nodes in other processes tell it over links.
  node?.onBucketsChanged(() => {
    driver.onBucketsChanged();
  });
  const forward = new HomeForward({ ring, hash, local: node, peers });
  const passThrough = newPassThrough(server, forward, driver, hash);
  const requests = new RequestCounter(metrics.counter('s3accel_gateway_requests_total'));
  const count = (operation: string, status: number): void => {
    requests.count(operation, status);
  };
  const uploads = new BrowserUploads(server, passThrough, sigv4, clients.directory);
  const { domains, debugHeaders } = gateway;
  router.connect({
    ...{ server, sigv4, driver, passThrough, uploads, hash },
    ...{ directory: clients.directory, domains, debugHeaders, count },
  });

  publishGateway(metrics, driver.gateway);
  publishServer(metrics, server.counters);
  metrics.readFrom('s3accel_gateway_loops', () => 1);
  metrics.readFrom('s3accel_gateway_connections', () => server.openConnections);

  return {
    driver,
    listen: () => {
      const port = server.listen(listen.host, listen.port);
      log.info({ host: listen.host, port }, 'listening for clients');
      return port;
    },
    notReady: () => {
      const noRing = follower?.notReady() ?? null;
      if (noRing !== null) return noRing;
      const isReached = node !== null || peers === null || peers.reachesAny();
      return isReached ? null : 'no storage node can be reached';
    },
    tick: () => {
      follower?.tick(now());
      driver.tick();
    },
    reload: (wanted) => {
      sigv4.replaceClients(clients.of(wanted));
      driver.gateway.onPoliciesChanged(now());
    },
    stop: async () => {
      await server.close(stopGraceMs);
      await clients.stop();
      peers?.close();
    },
  };
}
