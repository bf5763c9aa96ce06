/** The configurations of the processes of a run: what users get, but for what the run is about. */
import { join } from 'node:path';

export const credentials = { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' };

export interface AcceleratorOptions {
  readonly directory: string;
  readonly originPort: number;
  readonly cacheGibibytes: number;
  /** 1: gateway and node in one process. 2: a gateway, and each node in a process of its own. */
  readonly processes: 1 | 2;
  readonly nodes?: number;
  /** Lines that go into [gateway] and [cache] as they are. */
  readonly gatewayLines?: string;
  readonly cacheLines?: string;
  /** Leave the processes to the scheduler instead of all on the servers' processor. */
  readonly isFree?: boolean;
  /** Flags of Node, such as --cpu-prof. */
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface NodeAddress {
  readonly id: number;
  readonly port: number;
}

export class Config {
  readonly #options: AcceleratorOptions;
  readonly #gatewayPort: number;

  constructor(options: AcceleratorOptions, gatewayPort: number) {
    this.#options = options;
    this.#gatewayPort = gatewayPort;
  }

  both(node: NodeAddress, nodes: readonly NodeAddress[]): string {
    return clusterTable(nodes) + this.#nodeTables(node) + this.#gatewayTables();
  }

  node(node: NodeAddress, nodes: readonly NodeAddress[]): string {
    return clusterTable(nodes) + this.#nodeTables(node);
  }

  gateway(nodes: readonly NodeAddress[]): string {
    return clusterTable(nodes) + this.#gatewayTables();
  }

  /** Buckets: everything of `bench` and `load` is kept at its first read, `cold` as it is by default. */
  #nodeTables({ id }: NodeAddress): string {
    const { originPort, directory, cacheGibibytes, cacheLines = '' } = this.#options;
    return `
[origin]
endpoint = "http://127.0.0.1:${originPort}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"

[node]
id = ${id}
data_dir = "${join(directory, `node-${id}`)}"

[cache]
capacity_bytes = "${cacheGibibytes}GiB"
${cacheLines}
[cache.buckets.bench]
immutable = true
admit_on_first_read = true

[cache.buckets.load]
immutable = true
admit_on_first_read = true
`;
  }

  #gatewayTables(): string {
    const grant = (bucket: string): string => `{ bucket = "${bucket}", access = "write" }`;
    return `
[gateway]
listen = "127.0.0.1:${this.#gatewayPort}"
${this.#options.gatewayLines ?? ''}
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [${['bench', 'cold', 'load'].map(grant).join(', ')}]
`;
  }
}

function clusterTable(nodes: readonly NodeAddress[]): string {
  const entries = nodes.map(({ id, port }) => `{ id = ${id}, address = "127.0.0.1:${port}" }`);
  return `
[cluster]
secret = "a-secret-of-the-benchmark-alone"
nodes = [${entries.join(', ')}]
`;
}
