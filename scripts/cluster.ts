// scripts/cluster: a gateway and N storage nodes as processes of this machine, in front of the embedded S3, to try out and to watch.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import { listenFor } from 's3-accelerator/config/check-machine.ts';
import {
  credentials,
  endpointOf,
  fallbackWindowS,
  forgetCluster,
  markLeft,
  maxNodes,
  newCluster,
  nodeName,
  partOf,
  portSpan,
  readCluster,
  startGateway,
  startMetadata,
  startNode,
  startS3,
  type LocalCluster,
} from './local-cluster/local-cluster.ts';
import {
  ended,
  isReady,
  isRunning,
  lastWords,
  metricsOf,
  signal,
  until,
  type Part,
} from './local-cluster/part.ts';

const usage = `Usage: scripts/cluster start N [--port-base P] [--metadata] [--hot-threshold R]
                                                 a gateway and N nodes, waits until all are ready
       scripts/cluster status                    the ring, versions, where reads came from
       scripts/cluster add [ID]                  one more node, or one again that was killed
       scripts/cluster leave ID                  the node hands its keys over, serves on for ${fallbackWindowS} s, and ends
       scripts/cluster kill ID                   the node dies without a word
       scripts/cluster stop                      ends everything

  --port-base P   the gateway's port; the others follow it (9000)
  --metadata      clients and origin come from a metadata service: edit metadata.toml there and send it SIGHUP
  --hot-threshold R
                  reads a second that make an object hot, so that other nodes hold it too (cache.hot_threshold)
  --dir DIR       where configurations, logs and blocks are (data/cluster)
`;

/** As cache.hot_threshold has it. */
const maxHotThreshold = 1_000_000_000;
const readyWithinMs = 60_000;
const stopWithinMs = 30_000;

const inOrder = new Intl.Collator('en', { numeric: true });

const commands: Readonly<Record<string, (folder: string, args: Args) => Promise<void>>> = {
  start,
  status,
  add,
  leave,
  kill,
  stop,
};

interface Args {
  readonly operand: number | undefined;
  readonly portBase: number;
  readonly usesMetadata: boolean;
  readonly hotThreshold: number | undefined;
}

await run(process.argv.slice(2));

async function run(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parsed(argv);
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const [name = '', text, ...more] = positionals;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) wrong(name === '' ? 'which command?' : `${name}: no such command`);
  const wantsNumber = ['start', 'leave', 'kill'].includes(name);
  const mayHaveNumber = wantsNumber || name === 'add';
  if (more.length > 0 || (text !== undefined && !mayHaveNumber)) wrong(`${name}: too many words`);
  if (text === undefined && wantsNumber) {
    wrong(name === 'start' ? 'start: how many nodes?' : `${name}: which node?`);
  }
  const [least, most] = name === 'start' ? [1, maxNodes] : [0, maxNodes - 1];
  const operand = text === undefined ? undefined : number(name, text, least, most);
  const portBase = number('--port-base', values['port-base'], 1024, 65_535 - portSpan);
  const usesMetadata = values.metadata === true;
  if (usesMetadata && name !== 'start') wrong(`${name}: --metadata belongs to start`);
  const hot = values['hot-threshold'];
  const hotThreshold =
    hot === undefined ? undefined : number('--hot-threshold', hot, 1, maxHotThreshold);
  if (hot !== undefined && name !== 'start') wrong(`${name}: --hot-threshold belongs to start`);
  await command(resolve(values.dir), { operand, portBase, usesMetadata, hotThreshold });
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        'port-base': { type: 'string', default: '9000' },
        dir: { type: 'string', default: join(import.meta.dirname, '..', 'data', 'cluster') },
        metadata: { type: 'boolean' },
        'hot-threshold': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return wrong(argumentError(error));
  }
}

function number(what: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  return wrong(`${what} ${text}: must be a whole number from ${least} to ${most}`);
}

async function start(folder: string, args: Args): Promise<void> {
  const { operand = 0, portBase, usesMetadata, hotThreshold } = args;
  const earlier = readCluster(folder);
  if (earlier?.parts.some(isRunning) === true) fail('it runs already: scripts/cluster status');
  const ids = Array.from({ length: operand }, (_, id) => id);
  // Before anything of an earlier cluster is thrown away.
  for (const port of [0, 1, 2, ...(usesMetadata ? [3] : [])].map((at) => portBase + at)) {
    if ((await listenFor({ host: '127.0.0.1', port })) !== undefined) {
      fail(
        `port ${port} is taken: stop what listens there (npm start?) or choose another --port-base`,
      );
    }
  }
  const cluster = newCluster(folder, { portBase, usesMetadata, hotThreshold, nodeIds: ids });
  const servants = [startS3(cluster), ...(usesMetadata ? [startMetadata(cluster)] : [])];
  const nodes = ids.map((id) => startNode(cluster, id));
  const gateway = startGateway(cluster);
  console.log(`Starting ${operand === 1 ? 'a node' : `${operand} nodes`} and a gateway…`);
  for (const part of [...nodes, gateway]) {
    const isOn = await isReady(part, readyWithinMs, () => servants.every(isRunning));
    // Without the S3 nothing else becomes ready: it is the one to be told of.
    const gone = servants.find((one) => !isRunning(one));
    if (!isOn || gone !== undefined) await giveUp(cluster, gone ?? part);
  }
  tell(cluster);
}

async function status(folder: string): Promise<void> {
  const cluster = clusterIn(folder);
  const parts = cluster.parts.toSorted((a, b) => inOrder.compare(a.name, b.name));
  const rows = await Promise.all(parts.map(rowOf));
  console.log(`Endpoint ${endpointOf(cluster)}, folder ${folder}\n`);
  const titles = ['process', 'pid', 'state', 'ring', 'nodes', 'from disk', 'from fill', 'from S3'];
  const all = [titles, ...rows];
  const widths = titles.map((_, at) => Math.max(...all.map((row) => row[at]!.length)));
  for (const row of all) {
    console.log(
      row
        .map((cell, at) => (at < 3 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
        .join('  ')
        .trimEnd(),
    );
  }
  if (!cluster.parts.some(isRunning)) process.exitCode = 1;
}

async function rowOf(part: Part): Promise<string[]> {
  const metric = part.adminPort === 0 ? null : await metricsOf(part);
  const state = part.hasLeft === true ? 'left' : isRunning(part) ? 'runs' : 'ended';
  if (metric === null) return [part.name, String(part.pid), state, '', '', '', '', ''];
  const ring = [metric('s3accel_ring_version'), metric('s3accel_ring_members')].map(String);
  const reads = ['disk', 'fill', 's3'].map((source) =>
    part.name === 'gateway'
      ? ''
      : String(metric('s3accel_node_block_reads_total', `source="${source}"`)),
  );
  return [part.name, String(part.pid), state, ...ring, ...reads];
}

async function add(folder: string, { operand }: Args): Promise<void> {
  const cluster = clusterIn(folder);
  const id = operand ?? Math.max(...cluster.nodeIds) + 1;
  if (id >= maxNodes) fail(`there are ${maxNodes} node ids at most`);
  const known = partOf(cluster, nodeName(id));
  if (known !== undefined && isRunning(known)) {
    fail(known.hasLeft === true ? leftAlready(id) : `node ${id} runs already`);
  }
  const part = startNode(cluster, id);
  if (!(await isReady(part, readyWithinMs))) {
    signal(part, 'SIGKILL');
    fail(`node ${id} is not ready:\n${lastWords(part)}`);
  }
  console.log(`node ${id} has joined (pid ${part.pid}, log ${part.log})`);
}

async function leave(folder: string, { operand = 0 }: Args): Promise<void> {
  const cluster = clusterIn(folder);
  if (partOf(cluster, nodeName(operand))?.hasLeft === true) fail(leftAlready(operand));
  const part = runningNode(cluster, operand);
  const others = cluster.parts.filter(
    (other) => other !== part && isRunning(other) && other.hasLeft !== true,
  );
  if (!others.some(({ name }) => name.startsWith('node-'))) fail('it is the last node');
  const gateway = partOf(cluster, 'gateway');
  const before = await ringOf(part);
  signal(part, 'SIGUSR1');
  const hasLeft = await until(async () => {
    const after = await ringOf(part);
    const isFollowed = gateway === undefined || (await ringOf(gateway)) === after;
    return after !== before && isFollowed;
  }, readyWithinMs);
  if (!hasLeft) fail(`node ${operand} does not leave:\n${lastWords(part)}`);
  markLeft(cluster, part);
  console.log(
    `node ${operand} has left the ring; it serves what it holds for ${fallbackWindowS} s`,
  );
}

function leftAlready(id: number): string {
  const again = `scripts/cluster add ${id} brings it back once it has ended, within ${fallbackWindowS} s`;
  return `node ${id} has left already; ${again}`;
}

async function ringOf(part: Part): Promise<number> {
  return (await metricsOf(part))?.('s3accel_ring_version') ?? 0;
}

async function kill(folder: string, { operand = 0 }: Args): Promise<void> {
  const part = runningNode(clusterIn(folder), operand);
  signal(part, 'SIGKILL');
  if (!(await ended(part, stopWithinMs))) fail(`pid ${part.pid} does not end`);
  console.log(`node ${operand} is dead; scripts/cluster add ${operand} brings it back`);
}

async function stop(folder: string): Promise<void> {
  const cluster = readCluster(folder);
  if (cluster === null) {
    console.log('nothing runs');
    return;
  }
  const stubborn = await endAll(cluster);
  if (stubborn.length > 0) fail(`these do not end: pid ${stubborn.join(', ')}`);
  console.log('stopped');
}

/** The gateway first, which finishes its answers, then the nodes, then the S3 and the service that they ask. */
async function endAll(cluster: LocalCluster): Promise<number[]> {
  const isNode = ({ name }: Part): boolean => name.startsWith('node-');
  const order = [
    cluster.parts.filter(({ name }) => name === 'gateway'),
    cluster.parts.filter(isNode),
    cluster.parts.filter(({ name }) => name === 's3' || name === 'metadata'),
  ];
  for (const parts of order) {
    for (const part of parts) signal(part, 'SIGTERM');
    for (const part of parts) {
      if (!(await ended(part, stopWithinMs))) signal(part, 'SIGKILL');
    }
  }
  const stubborn = cluster.parts.filter(isRunning).map(({ pid }) => pid);
  if (stubborn.length === 0) forgetCluster(cluster);
  return stubborn;
}

async function giveUp(cluster: LocalCluster, part: Part): Promise<never> {
  const words = lastWords(part);
  await endAll(cluster);
  return fail(`${part.name} is not ready; everything is stopped again. Its last words:\n${words}`);
}

function clusterIn(folder: string): LocalCluster {
  return readCluster(folder) ?? fail('nothing runs: scripts/cluster start N');
}

function runningNode(cluster: LocalCluster, id: number): Part {
  const part = partOf(cluster, nodeName(id));
  if (part === undefined || !isRunning(part)) return fail(`node ${id} does not run`);
  return part;
}

function tell(cluster: LocalCluster): void {
  const url = endpointOf(cluster);
  const { id, secret } = credentials;
  console.log(`
Ready at ${url}. Its logs are in ${cluster.folder}.

  export AWS_ACCESS_KEY_ID=${id} AWS_SECRET_ACCESS_KEY=${secret} AWS_REGION=us-east-1
  aws --endpoint-url ${url} s3 cp README.md s3://demo/README.md
  aws --endpoint-url ${url} s3 cp s3://demo/README.md -   # three times: from S3, stored, a hit

or

  curl --user ${id}:${secret} --aws-sigv4 aws:amz:us-east-1:s3 -H x-amz-content-sha256:UNSIGNED-PAYLOAD -T README.md ${url}/demo/README.md

  scripts/cluster status   # the ring, and where reads came from
  scripts/cluster add      # one more node
  scripts/cluster stop
`);
}

function wrong(why: string): never {
  process.stderr.write(`scripts/cluster: ${why}\n\n${usage}`);
  process.exit(2);
}

function fail(why: string): never {
  process.stderr.write(`scripts/cluster: ${why}\n`);
  process.exit(1);
}
