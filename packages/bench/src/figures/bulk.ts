/**
 * P4: large hits, in CPU seconds a GiB: the node against the C floor, which does nothing but send a file, and gateway and node
 * together against nginx's two hops. And proof from outside, with strace, that their bytes stay in the kernel.
 */
import { join } from 'node:path';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { figureOf, type Comparison, type FigureResult, type Outcome } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { serverPrefix } from '../machine/child.ts';
import { watchCopies } from '../machine/copied-bytes.ts';
import { measure, type Measured } from '../measure.ts';
import { compilerVersion, startFloor } from '../peers/floor.ts';
import { nginxVersion, startNginx, type RunningNginx } from '../peers/nginx.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { alternate, comparisonOf, type Contender } from '../rounds.ts';
import type { Run } from '../run.ts';
import { jobOf, prime, sizes, synthetic, wholes } from './jobs.ts';

const gibibyte = 2 ** 30;

interface Size {
  readonly kind: 'medium' | 'large';
  readonly name: string;
  readonly objects: number;
  readonly over: number;
  readonly ids: readonly [node: string, sum: string];
}

const measuredSizes: readonly Size[] = [
  { kind: 'medium', name: '16 MiB', objects: 16, over: 8, ids: ['P4a', 'P4b'] },
  { kind: 'large', name: '256 MiB', objects: 2, over: 4, ids: ['P4c', 'P4d'] },
];

export async function measureBulk(run: Run): Promise<Outcome> {
  const origin = await startOrigin(
    0,
    measuredSizes.map(({ kind, objects }) => synthetic(kind, objects)),
  );
  const nginx =
    nginxVersion() === null
      ? null
      : await startNginx({
          directory: join(run.directory, 'nginx'),
          sizes: [sizes.medium, sizes.large],
          launch: serverPrefix,
        });
  const ours = await startAccelerator({
    directory: join(run.directory, 'two'),
    originPort: origin.port,
    cacheGibibytes: 4,
    processes: 2,
  });
  try {
    const outcomes: Outcome[] = [];
    for (const size of measuredSizes) outcomes.push(await oneSize(run, ours, nginx, size));
    return {
      figures: [
        ...outcomes.flatMap(({ figures }) => figures),
        await copiedShare(run, ours, measuredSizes[0]!),
      ],
      comparisons: outcomes.flatMap(({ comparisons }) => comparisons),
    };
  } finally {
    await ours.stop();
    await nginx?.stop();
    await origin.stop();
  }
}

async function oneSize(
  run: Run,
  ours: Accelerator,
  nginx: RunningNginx | null,
  size: Size,
): Promise<Outcome> {
  const { kind, name, objects } = size;
  const reads = wholes(kind, objects);
  const requests = Math.ceil(run.scale.bulkBytes / sizes[kind].bytes);
  const over = Math.min(size.over, requests);
  const floor =
    compilerVersion() === null
      ? null
      : await startFloor({
          directory: join(run.directory, `floor-${kind}`),
          answerBytes: sizes[kind].bytes,
          fileBytes: sizes[kind].bytes * objects,
          launch: serverPrefix,
        });
  try {
    const relay = nginx?.peer('relay') ?? null;
    await prime(ours.gatewayPort, reads);
    await ours.settled();
    if (relay !== null) await prime(relay.port, reads);
    const contender = (
      contenderName: string,
      { port, pids }: Omit<RunningPeer, 'stop'>,
    ): Contender => ({
      name: contenderName,
      run: () => measure(jobOf(port, reads, requests, over), pids()),
    });
    const own = { port: ours.gatewayPort, pids: () => ours.pids };
    const contenders = [contender('s3-accelerator', own)];
    if (relay !== null) contenders.push(contender('nginx', relay));
    if (floor !== null) contenders.push(contender('floor', floor));
    const rounds = await alternate(
      { title: `P4, ${name}`, rounds: run.scale.rounds, progress: run.progress },
      contenders,
    );
    const of = (contenderName: string): Measured[] | null =>
      rounds[contenders.findIndex((each) => each.name === contenderName)] ?? null;
    return judge(size, of('s3-accelerator') ?? [], of('nginx'), of('floor'));
  } finally {
    await floor?.stop();
  }
}

function judge(
  { kind, name, ids, over }: Size,
  ours: readonly Measured[],
  nginx: readonly Measured[] | null,
  floor: readonly Measured[] | null,
): Outcome {
  const perGibibyte = (us: number): number => ((us / 1e6) * gibibyte) / sizes[kind].bytes;
  const sums = (rounds: readonly Measured[]): number[] =>
    rounds.map(({ cpuUs }) => perGibibyte(cpuUs));
  const node = ours.map(({ cpuUsOf: [ofNode = Number.NaN] }) => perGibibyte(ofNode));
  // Over loopback the sender and the receiver do each other's work: who acknowledges also sends what that makes room for.
  const ofClient = (rounds: readonly Measured[]): string =>
    perGibibyte(
      median(rounds.map(({ clientCpuSeconds, requests }) => (clientCpuSeconds * 1e6) / requests)),
    ).toFixed(2);
  const clients =
    `the client ${ofClient(ours)} s/GiB` +
    (floor === null ? '' : `, of the floor ${ofClient(floor)} s/GiB`);
  const rate = median(ours.map(({ bytesPerSecond }) => bytesPerSecond / gibibyte));
  const figure = (
    id: string,
    title: string,
    values: readonly number[],
    peer: readonly Measured[] | null,
    limit: { readonly ratio: number; readonly peerName: string },
    alsoNoted = '',
  ): FigureResult => {
    const peerValue = peer === null ? null : median(sums(peer));
    const ratio = peerValue === null ? null : median(values) / peerValue;
    return figureOf(
      { id, title, unit: 's/GiB', target: `≤ ${limit.ratio} × ${limit.peerName}` },
      values,
      {
        peer: peerValue,
        peerName: limit.peerName,
        ratio,
        used: ratio === null ? null : ratio / limit.ratio,
        note: `${rate.toFixed(2)} GiB/s, ${over} connections${alsoNoted}`,
      },
    );
  };
  const bar = (
    system: string,
    isOurs: boolean,
    rounds: readonly Measured[] | null,
    note: string,
  ): Comparison[] =>
    rounds === null ? [] : [comparisonOf({ system, isOurs, what: `${name} object`, note }, rounds)];
  return {
    figures: [
      figure(
        ids[0],
        `${name} hit, CPU of the node`,
        node,
        floor,
        { ratio: 1.1, peerName: 'the C floor' },
        `; ${clients}`,
      ),
      figure(ids[1], `${name} hit, CPU of gateway + node`, sums(ours), nginx, {
        ratio: 1,
        peerName: 'nginx, two hops',
      }),
    ],
    comparisons: [
      ...bar('s3-accelerator, two processes', true, ours, ''),
      ...bar('nginx, two hops', false, nginx, 'checks no signature'),
      ...bar('C floor, one hop', false, floor, 'parses nothing'),
    ],
  };
}

/** The share of the answers' bytes that a process sent out of its memory, instead of by sendfile or splice. */
async function copiedShare(run: Run, ours: Accelerator, size: Size): Promise<FigureResult> {
  run.progress.say('P4: under strace');
  const requests = size.objects;
  const watch = await watchCopies(ours.pids, join(run.directory, 'strace'));
  const job = jobOf(ours.gatewayPort, wholes(size.kind, size.objects), requests, size.over);
  let copied: number[] = [];
  try {
    await measure(job, []);
  } finally {
    copied = await watch.stop();
  }
  const [node = Number.NaN, gateway = Number.NaN] = copied.map(
    (bytes) => (100 * bytes) / (requests * sizes[size.kind].bytes),
  );
  return figureOf(
    {
      id: 'P4e',
      title: `${size.name} hits: bytes that a process sent out of its own memory, by strace`,
      unit: '%',
      target: 'no payload: ≤ 1%, heads and requests included',
    },
    [Math.max(gateway, node)],
    {
      used: Math.max(gateway, node),
      note: `gateway ${gateway.toFixed(2)}%, node ${node.toFixed(2)}%`,
    },
  );
}
