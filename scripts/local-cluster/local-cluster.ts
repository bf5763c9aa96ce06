// A cluster on this machine: which processes it has, where they listen and what their configurations say.
//
// All of it is in one folder: cluster.json says what runs, NAME.toml and NAME.log belong to each process, NAME is a node's data.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPart, type Part } from './part.ts';

const root = join(import.meta.dirname, '..', '..');
const packages = join(root, 'packages');

/** Ports from the base on: the gateway, its admin listener, S3 and the metadata service first, then those of nodes. */
const nodePorts = 100;
const adminPorts = 200;
/** Node ids are below this: each has a port in both ranges. */
export const maxNodes = 100;
/** The last port that is used, from the base on. */
export const portSpan = adminPorts + maxNodes;

export const credentials = { id: 'local-identity', secret: 'local-credential' } as const;
/** How long a node goes on serving once it has left: short, to be watched. */
export const fallbackWindowS = 30;

export interface LocalCluster {
  readonly folder: string;
  readonly portBase: number;
  /** Clients and origins come from a metadata service, and not from each process's own file. */
  readonly usesMetadata: boolean;
  /** Reads a second that make an object hot, where it isn't the default. */
  readonly hotThreshold?: number | undefined;
  /** Ids of all nodes that ever were part of it. */
  readonly nodeIds: number[];
  readonly parts: Part[];
}

const fileOf = (folder: string): string => join(folder, 'cluster.json');

/** null when there is none in the folder. */
export function readCluster(folder: string): LocalCluster | null {
  if (!existsSync(fileOf(folder))) return null;
  return { ...(JSON.parse(readFileSync(fileOf(folder), 'utf8')) as LocalCluster), folder };
}

export function writeCluster(cluster: LocalCluster): void {
  writeFileSync(fileOf(cluster.folder), `${JSON.stringify(cluster, null, 2)}\n`);
}

/** An empty one, in place of what an earlier one left in the folder. */
export function newCluster(
  folder: string,
  settings: Omit<LocalCluster, 'folder' | 'parts'>,
): LocalCluster {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return { ...settings, folder, parts: [] };
}

export function forgetCluster({ folder }: LocalCluster): void {
  rmSync(fileOf(folder), { force: true });
}

export const partOf = (cluster: LocalCluster, name: string): Part | undefined =>
  cluster.parts.findLast((part) => part.name === name);

export const nodeName = (id: number): string => `node-${id}`;
export const endpointOf = ({ portBase }: LocalCluster): string => `http://127.0.0.1:${portBase}`;
const s3EndpointOf = ({ portBase }: LocalCluster): string => `http://127.0.0.1:${portBase + 2}`;

export function startS3(cluster: LocalCluster): Part {
  const port = String(cluster.portBase + 2);
  const script = join(packages, 'memory-s3', 'src', 'main.ts');
  return start(cluster, 's3', [script, '--port', port, '--bucket', 'demo', '--quiet'], 0);
}

/** The service that a cluster started with --metadata asks. Its token is no secret: the cluster is for trying out. */
const token = 'the token of a cluster on one machine'.replaceAll(' ', '-');
const metadataPort = ({ portBase }: LocalCluster): number => portBase + 3;

export function startMetadata(cluster: LocalCluster): Part {
  const file = join(cluster.folder, 'metadata.toml');
  writeFileSync(
    file,
    `[service]
listen = "127.0.0.1:${metadataPort(cluster)}"

[[tokens]]
token = "${token}"

${originTable(cluster)}
${clientTable}`,
  );
  const script = join(packages, 'metadata', 'bin', 's3-accelerator-metadata.mjs');
  return start(cluster, 'metadata', [script, file], 0);
}

const clientTable = `[[clients]]
access_key_id = "${credentials.id}"
secret_access_key = "${credentials.secret}"
grants = [{ bucket = "*", access = "write" }]
`;

function originTable(cluster: LocalCluster): string {
  return `[origin]
endpoint = "${s3EndpointOf(cluster)}"
region = "us-east-1"
access_key_id = "${credentials.id}"
secret_access_key = "${credentials.secret}"
`;
}

function metadataTable(cluster: LocalCluster): string {
  return `[metadata]
url = "http://127.0.0.1:${metadataPort(cluster)}"
token = "${token}"
refresh_s = 5
`;
}

export function startGateway(cluster: LocalCluster): Part {
  const { portBase, nodeIds, usesMetadata } = cluster;
  const config = `${clusterTable(cluster, nodeIds)}
[gateway]
listen = "127.0.0.1:${portBase}"

${usesMetadata ? metadataTable(cluster) : clientTable}`;
  return startProgram(cluster, 'gateway', config, portBase + 1);
}

/** Starts a node, for the first time or again. */
export function startNode(cluster: LocalCluster, id: number): Part {
  const { folder, portBase, nodeIds, usesMetadata, hotThreshold } = cluster;
  if (!nodeIds.includes(id)) nodeIds.push(id);
  const name = nodeName(id);
  const config = `${usesMetadata ? metadataTable(cluster) : originTable(cluster)}
${clusterTable(cluster, nodeIds)}
[node]
id = ${id}
data_dir = "${join(folder, name)}"

[cache]
capacity_bytes = "256MiB"
${hotThreshold === undefined ? '' : `hot_threshold = ${hotThreshold}\n`}`;
  return startProgram(cluster, name, config, portBase + adminPorts + id);
}

function clusterTable({ portBase }: LocalCluster, nodeIds: readonly number[]): string {
  const entries = nodeIds.map(
    (id) => `  { id = ${id}, address = "127.0.0.1:${portBase + nodePorts + id}" },`,
  );
  return `
[cluster]
secret = "the secret of a cluster on one machine"
nodes = [
${entries.join('\n')}
]
fallback_window_s = ${fallbackWindowS}
`;
}

function startProgram(cluster: LocalCluster, name: string, config: string, admin: number): Part {
  const file = join(cluster.folder, `${name}.toml`);
  writeFileSync(file, `${config}\n[admin]\nlisten = "127.0.0.1:${admin}"\n`);
  return start(cluster, name, [join(packages, 'server', 'bin', 's3-accelerator.mjs'), file], admin);
}

/** Remembers that a node has given up its place in the ring. */
export function markLeft(cluster: LocalCluster, part: Part): void {
  replacePart(cluster, { ...part, hasLeft: true });
}

function start(cluster: LocalCluster, name: string, args: string[], adminPort: number): Part {
  const part = startPart(name, args, join(cluster.folder, `${name}.log`), adminPort);
  // At once: whatever happens next, it can be ended.
  replacePart(cluster, part);
  return part;
}

function replacePart(cluster: LocalCluster, part: Part): void {
  const at = cluster.parts.findIndex(({ name }) => name === part.name);
  if (at >= 0) cluster.parts.splice(at, 1);
  cluster.parts.push(part);
  writeCluster(cluster);
}
