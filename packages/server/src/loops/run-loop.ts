/** A further loop, as its own thread has it: a gateway on a reactor, like that of a process without a node. */
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { ProcessRing } from '../cluster/process-ring.ts';
import { createLog, FaultLog } from '../log.ts';
import { Figures } from '../metrics/figures.ts';
import { publishReactor } from '../metrics/publish.ts';
import { startGateway } from '../start/start-gateway.ts';
import { spareConnections, tickMs } from '../start/start-limits.ts';
import type { FromLoop, LoopStart } from './loop-messages.ts';
import { Heartbeats } from './heartbeats.ts';
import { unpackConfig, type PackedConfig } from './packed-config.ts';
import { sharedParts } from './shared-memory.ts';

/** No file is read or written here but by the threads of the node. */
const noFiles = { readThreads: 1, writeThreads: 1, syncThreads: 1 } as const;

export interface RunningLoop {
  reload(config: PackedConfig): void;
  tellFigures(): void;
  stop(): Promise<void>;
}

/**
 * Beside a node the loop doesn't listen before it can serve, however long that takes: clients come to all that listen alike, and would be
 * refused by this one while the first, which has all of them until then, serves. In a process without a node no loop has the ring before
 * the others, and they listen at once. Throws, now or from a timer, when it can't listen.
 */
export function runLoop(start: LoopStart, tell: (message: FromLoop) => void): RunningLoop {
  const { near, memory } = start;
  const config = unpackConfig(start.config);
  const { gateway: settings } = config;
  if (settings === undefined) throw new Error('a loop is one of a gateway');
  const { maxConnections } = settings;
  const log = createLog(start.logLevel).child({ loop: start.loop });
  const now = (): number => performance.now();
  const reactor = new Reactor({ maxConnections: maxConnections + spareConnections, ...noFiles });
  const metrics = new Figures();
  const ring = new ProcessRing({
    windowMs: (config.cluster?.fallbackWindowS ?? 0) * 1000,
    isFollowed: true,
    now,
  });
  const gateway = startGateway(
    {
      ...{ config, reactor, ring, log, metrics, now, near },
      node: null,
      faults: new FaultLog(log),
      ...sharedParts(memory, settings),
    },
    settings,
  );
  reactor.onBatchEnd = () => {
    gateway.driver.drain();
  };
  publishReactor(metrics, () => reactor.stats());
  let told: string | null = 'starting';
  const tellReadiness = (): void => {
    const notReady = gateway.notReady();
    if (notReady !== told) tell({ kind: 'readiness', notReady });
    told = notReady;
  };
  let isListening = false;
  const listenOnceReady = (): void => {
    if (isListening || (near !== null && gateway.notReady() !== null)) return;
    isListening = true;
    gateway.listen();
  };
  listenOnceReady();
  tell({ kind: 'started' });
  const heartbeats = new Heartbeats(memory.heartbeats);
  const ticker = setInterval(() => {
    heartbeats.beat(start.loop, now());
    gateway.tick();
    listenOnceReady();
    tellReadiness();
  }, tickMs);
  return {
    reload: (packed) => {
      const wanted = unpackConfig(packed);
      gateway.reload(wanted);
      log.level = wanted.log.level;
      tell({ kind: 'reloaded' });
    },
    tellFigures: () => {
      tell({ kind: 'figures', samples: metrics.allSamples() });
    },
    stop: async () => {
      await gateway.stop();
      clearInterval(ticker);
      reactor.stop();
    },
  };
}
