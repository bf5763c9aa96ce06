/**
 * One run from its options to its outcome.
 *
 * Clients send their requests while faults come and go; then faults stop, the rest of the requests is sent, and everything
 * must come to rest with nothing left of anything. The first violation, or the first assertion that a machine breaks, ends
 * the run.
 */
import { describeObjects } from './checkers/describe.ts';
import { streamOf, type RunOptions } from './options.ts';
import type { Situation } from './situations.ts';
import { Trace } from './trace.ts';
import { Clients } from './world/clients.ts';
import { Faults } from './world/faults.ts';
import { World } from './world/world.ts';
import { Workload } from './world/workload.ts';

export { optionsOf, type RunOptions } from './options.ts';

export interface Failure {
  /** The checker's name, or `assertion` for an invariant that a machine found broken itself. */
  readonly checker: string;
  readonly what: string;
  /** True time, in milliseconds. */
  readonly at: number;
  /** What happened last to the objects involved, or at all. */
  readonly lastEvents: readonly string[];
}

export interface RunOutcome {
  readonly failure: Failure | null;
  readonly traceHash: string;
  /** Requests that clients sent. */
  readonly requests: number;
  readonly situations: ReadonlyMap<Situation, number>;
  readonly simulatedMs: number;
}

/** More events than any run takes: one that goes on for ever fails. */
const maxEvents = 5_000_000;
const lastEvents = 60;
/** Longer than anything is waited for after the last client had its answer. */
const restMs = 130_000;
/** How often the levels of all processes are held against their limits. */
const eventsBetweenLooks = 100;

/** Of a hundred requests, after how many faults stop. */
const faultyPercent = 85;

/** Runs it. With `print`, every effect of every machine is told as a line. */
export function simulate(
  options: RunOptions,
  print: ((line: string) => void) | null = null,
): RunOutcome {
  const trace = new Trace(print);
  const world = new World(options, trace);
  const workload = new Workload(
    streamOf(options.seed, 'workload'),
    world.oracle,
    options.buckets,
    options.workload,
    options.cluster.sizes,
  );
  workload.populate(world.queue.now);
  const { requests } = options.workload;
  const { writes } = world;
  const clients = new Clients({ world, workload, writes, buckets: options.buckets, requests });
  let client = 0;
  for (const gateway of world.gateways) {
    for (let i = 0; i < options.workload.clientsPerGateway; i++) {
      clients.add(client, gateway);
      client += 1;
    }
  }
  const failure = run(world, clients, (requests * faultyPercent) / 100);
  world.countSituations();
  return {
    failure,
    traceHash: trace.hash,
    requests: clients.sent,
    situations: world.situations.counts,
    simulatedMs: world.queue.now,
  };
}

function run(world: World, clients: Clients, faultyRequests: number): Failure | null {
  const { queue, checkers } = world;
  const faults = new Faults(world);
  try {
    faults.start();
    let restsAt = Infinity;
    let isQuiet = false;
    for (let events = 0; queue.step() && checkers.violation === null; events++) {
      if (clients.areDone) restsAt = Math.min(restsAt, queue.now + restMs);
      // Some look at deadlines for ever: the run is over when they have for long, and nothing else is under way.
      if (queue.now >= restsAt && queue.busy === 0) break;
      if (events === maxEvents) return failureOf(world, 'liveness', 'it never comes to rest', []);
      if (!faults.hasStopped && clients.sent >= faultyRequests) faults.stop();
      if (events % eventsBetweenLooks !== 0) continue;
      world.look();
      // Nodes gossip for ever: once nothing can change any more there is nothing to be learned from that.
      if (clients.areDone && !isQuiet && world.isSettled) {
        isQuiet = true;
        world.endGossip();
      }
    }
    if (checkers.violation === null) {
      world.lookAtRest();
      checkers.ended(faults.stoppedAt);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failureOf(world, 'assertion', error.stack ?? error.message, []);
  }
  const { violation } = checkers;
  if (violation === null) return null;
  return failureOf(world, violation.checker, violation.what, violation.objects);
}

function failureOf(
  world: World,
  checker: string,
  what: string,
  objects: readonly string[],
): Failure {
  const { history, oracle, queue } = world;
  return {
    checker,
    what,
    at: queue.now,
    lastEvents: describeObjects(history, oracle, objects, lastEvents),
  };
}
