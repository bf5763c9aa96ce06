/**
 * PEERS: every system that is installed beside ours in the same run, one after the other with the same requests. No target
 * hangs on it: it says where the figures stand.
 */
import { join } from 'node:path';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin } from '../accelerator/origin.ts';
import type { Comparison, Outcome } from '../figure.ts';
import { serverPrefix } from '../machine/child.ts';
import { measure } from '../measure.ts';
import { compilerVersion, startFloor } from '../peers/floor.ts';
import { haproxyVersion, startHaproxy } from '../peers/haproxy.ts';
import { nginxVersion, startNginx, type NginxRole, type RunningNginx } from '../peers/nginx.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { startVarnish, varnishVersion } from '../peers/varnish.ts';
import { alternate, comparisonOf } from '../rounds.ts';
import type { Run } from '../run.ts';
import { jobOf, prime, rangesOf, sizes, synthetic, wholes, type Reads } from './jobs.ts';

const keptMegabytes = 1024;

interface System {
  readonly name: string;
  readonly isOurs: boolean;
  readonly note: string;
  /** It serves no ranges of what it caches: it is asked for whole objects of that size. */
  readonly onlyWholes?: boolean;
  /** It answers from the start. */
  readonly needsNoPriming?: boolean;
  start(answerBytes: number): Promise<Omit<RunningPeer, 'stop'> & { stop?(): Promise<void> }>;
}

type Request = Run['scale']['peerSizes'][number];

const readsOf = (what: Request, { scale }: Run): Reads => {
  switch (what) {
    case '4 KiB':
      return rangesOf(scale);
    case '64 KiB':
      return wholes('small', 2000);
    case '1 MiB':
      return wholes('block', 200);
  }
};
const tinyObjects = wholes('tiny', 20_000);

const unsigned = 'checks no signature';

export async function measurePeers(run: Run): Promise<Outcome> {
  const asked = run.scale.peerSizes.map((what) => readsOf(what, run));
  const origin = await startOrigin(
    0,
    asked.map(({ kind, count }) => synthetic(kind, count)),
  );
  const ours = (processes: 1 | 2): Promise<Accelerator> =>
    startAccelerator({
      directory: join(run.directory, `ours-${processes}`),
      originPort: origin.port,
      cacheGibibytes: 2,
      processes,
    });
  const [one, two] = await Promise.all([ours(1), ours(2)]);
  const nginx = await startAllOfNginx(run);
  const systems = [
    ...[one, two].map(ourSystem),
    ...(nginx === null ? [] : nginxSystems(nginx)),
    ...otherCaches(run, nginx),
    ...(compilerVersion() === null ? [] : [theFloor(run)]),
  ];
  try {
    const comparisons: Comparison[] = [];
    for (const what of run.scale.peerSizes) {
      comparisons.push(...(await compare(run, systems, what)));
    }
    return { figures: [], comparisons };
  } finally {
    await Promise.all([one.stop(), two.stop()]);
    await nginx?.stop();
    await origin.stop();
  }
}

async function startAllOfNginx(run: Run): Promise<RunningNginx | null> {
  if (nginxVersion() === null) return null;
  return startNginx({
    directory: join(run.directory, 'nginx'),
    sizes: Object.values(sizes),
    launch: serverPrefix,
  });
}

function ourSystem(accelerator: Accelerator, index: number): System {
  return {
    name: `s3-accelerator, ${index === 0 ? 'one process' : 'two processes'}`,
    isOurs: true,
    note: '',
    start: () => Promise.resolve({ port: accelerator.gatewayPort, pids: () => accelerator.pids }),
  };
}

function nginxSystems(nginx: RunningNginx): System[] {
  const system = (name: string, role: NginxRole): System => ({
    name,
    isOurs: false,
    note: unsigned,
    start: () => {
      const { port, pids } = nginx.peer(role);
      return Promise.resolve({ port, pids });
    },
  });
  return [
    { ...system('nginx, static files', 'static'), needsNoPriming: true },
    system('nginx proxy_cache', 'cache'),
    system('nginx slice 1m', 'slice'),
    system('nginx, two hops', 'relay'),
  ];
}

/** Those need an origin, which is nginx's plain files. */
function otherCaches(run: Run, nginx: RunningNginx | null): System[] {
  if (nginx === null) return [];
  const options = (name: string): Parameters<typeof startVarnish>[0] => ({
    directory: join(run.directory, name),
    originPort: nginx.peer('static').port,
    megabytes: keptMegabytes,
    launch: serverPrefix,
  });
  const systems: System[] = [];
  if (varnishVersion() !== null) {
    systems.push({
      name: 'Varnish, in memory',
      isOurs: false,
      note: unsigned,
      start: (answerBytes) => startVarnish(options(`varnish-${answerBytes}`)),
    });
  }
  if (haproxyVersion() !== null) {
    systems.push({
      name: 'HAProxy, in memory',
      isOurs: false,
      note: `${unsigned}; whole objects only`,
      onlyWholes: true,
      start: (answerBytes) => startHaproxy(options(`haproxy-${answerBytes}`)),
    });
  }
  return systems;
}

function theFloor(run: Run): System {
  return {
    name: 'C floor',
    isOurs: false,
    note: 'parses nothing',
    needsNoPriming: true,
    start: (answerBytes) =>
      startFloor({
        directory: join(run.directory, `floor-${answerBytes}`),
        answerBytes,
        fileBytes: sizes.large.bytes / 4,
        launch: serverPrefix,
      }),
  };
}

async function compare(run: Run, systems: readonly System[], what: Request): Promise<Comparison[]> {
  const { scale, progress } = run;
  const reads = readsOf(what, run);
  const { bodyBytes } = jobOf(0, reads, 1);
  const requests = scale.requests / { '4 KiB': 1, '64 KiB': 2, '1 MiB': 15 }[what];
  const started: (Omit<RunningPeer, 'stop'> & { stop?(): Promise<void> })[] = [];
  try {
    for (const system of systems) {
      progress.say(`peers, ${what}: ${system.name}`);
      const running = await system.start(bodyBytes);
      started.push(running);
      if (system.needsNoPriming !== true) await prime(running.port, readsFrom(system, reads));
    }
    const rounds = await alternate(
      { title: `peers, ${what}`, rounds: scale.rounds, progress },
      systems.map((system, index) => ({
        name: system.name,
        run: () => {
          const running = started[index]!;
          const job = jobOf(running.port, readsFrom(system, reads), requests);
          return measure(job, running.pids());
        },
      })),
    );
    return systems.map(({ name, isOurs, note }, index) =>
      comparisonOf({ system: name, isOurs, what, note }, rounds[index] ?? []),
    );
  } finally {
    for (const running of started) await running.stop?.();
  }
}

const readsFrom = (system: System, reads: Reads): Reads =>
  system.onlyWholes === true && reads.isRanged ? tinyObjects : reads;
