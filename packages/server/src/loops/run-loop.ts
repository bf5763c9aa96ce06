/** A further loop, as its own thread has it: a gateway on a reactor, like that of a process without a node. */
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { ProcessRing } from '../cluster/process-ring.ts';
import { createLog, FaultLog } from '../log.ts';
import { Figures } from '../metrics/figures.ts';
import { publishReactor } from '../metrics/publish.ts';
import { startGateway } from '../start/start-gateway.ts';
import { spareConnections, tickMs } from '../start/start-limits.ts';
import type { FromLoop, LoopStart } from './loop-messages.ts';
import { unpackConfig, type PackedConfig } from './packed-config.ts';
import { sharedParts } from './shared-memory.ts';

/** How long a loop beside a node waits for the ring before it listens all the same, and refuses what needs one. */
const patienceMs = 5000;

/** No file is read or written here but by the threads of the node. */
const noFiles = { readThreads: 1, writeThreads: 1, syncThreads: 1 } as const;

export interface RunningLoop {
  reload(config: PackedConfig): void;
  tellFigures(): void;
  stop(): Promise<void>;
}

/**
 * Beside a node the loop doesn't listen before it has the ring: clients come to all loops of a process alike, and would be refused by
 * this one while the first serves them. Throws, now or from a timer, when it can't listen.
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
  const listensBy = near === null ? 0 : now() + patienceMs;
  let isListening = false;
  const listenOnceReady = (): void => {
    if (isListening || (gateway.notReady() !== null && now() < listensBy)) return;
    isListening = true;
    gateway.listen();
    tell({ kind: 'started' });
  };
  listenOnceReady();
  const ticker = setInterval(() => {
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
