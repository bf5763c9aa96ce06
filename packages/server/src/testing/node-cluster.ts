/**
 * A cluster of real processes: storage nodes that gossip, and gateways that know no more than the nodes they are told.
 *
 * memory-s3 runs in the test's own process. Ports are the kernel's, folders temporary; what is left at the end of the test is
 * ended by its pid.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { credentials, freePort, here, runProgram, type Place, type Running } from './programs.ts';
import { until } from './rig.ts';
import { S3Client } from './s3-client.ts';

export const testSecret = 'a secret that only these tests share';

export interface NodeClusterOptions {
  readonly buckets?: readonly string[];
  readonly downGraceS?: number;
  readonly fallbackWindowS?: number;
  /** Where a node runs, by its id, or a gateway; on this machine if absent. */
  readonly placeOf?: (of: number | 'gateway') => Place;
  /** Where S3 listens; on the loopback address if absent. */
  readonly s3Host?: string;
  /** TOML of `[cache.default_policy]`; immutable objects that are stored at their first read if absent. */
  readonly policy?: string;
  /** `cache.capacity_bytes` of each node; 128 MiB if absent. */
  readonly capacity?: string;
  /** TOML below `[cache]`. */
  readonly cache?: string;
  /** TOML of `[cluster.tcp]`. */
  readonly tcp?: string;
  /** TOML below `[gateway]`. */
  readonly gateway?: string;
  /** `gateway.loops`; 1 if absent. */
  readonly loops?: number;
}

/** How a process is told of others: node ids, each with the address that this cluster gave it. */
export interface ProcessOptions {
  readonly names: readonly number[];
  readonly secret?: string;
  /** False: doesn't wait until it is ready. */
  readonly isAwaited?: boolean;
}

export interface NodeProcessOptions extends ProcessOptions {
  /** Where it listens, if that isn't where the others find this id. */
  readonly at?: string;
  /** The port of a gateway in the same process. */
  readonly gatewayPort?: number;
}

/** One process of the cluster. */
export class ClusterProcess {
  readonly running: Running;
  readonly #admin: string;

  constructor(running: Running, admin: string) {
    this.running = running;
    this.#admin = admin;
  }

  log(): string {
    return this.running.log();
  }

  /** The lines of its log that contain a text. */
  lines(part: string): string[] {
    return this.log()
      .split('\n')
      .filter((line) => line.includes(part));
  }

  /** The sum of a metric's samples whose labels contain `label`. */
  async metric(name: string, label = ''): Promise<number> {
    return this.#sum(await this.#scrape(), name, label);
  }

  /** The ring that it places by, as of one moment. */
  async ring(): Promise<{ readonly version: number; readonly members: number }> {
    const text = await this.#scrape();
    return {
      version: this.#sum(text, 's3accel_ring_version'),
      members: this.#sum(text, 's3accel_ring_members'),
    };
  }

  async #scrape(): Promise<string> {
    return (await fetch(`http://${this.#admin}/metrics`)).text();
  }

  #sum(text: string, name: string, label = ''): number {
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** What /readyz says. */
  async readiness(): Promise<string> {
    return (await fetch(`http://${this.#admin}/readyz`)).text();
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.running.child;
    return exitCode !== null || signalCode !== null;
  }

  /** Waits until it has ended by itself; its exit code. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await once(this.running.child, 'exit');
    return this.running.child.exitCode;
  }

  /** Waits for its own end, whatever the signal. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.hasEnded) this.running.child.kill(signal);
    return this.ended();
  }
}

export class NodeCluster {
  readonly s3: MemoryS3;
  /** Of its files; gone with it. */
  readonly directory: string;
  readonly #options: NodeClusterOptions;
  readonly #addresses = new Map<number, string>();
  readonly #processes: ClusterProcess[] = [];
  #started = 0;

  private constructor(s3: MemoryS3, options: NodeClusterOptions) {
    this.s3 = s3;
    this.#options = options;
    this.directory = mkdtempSync(join(tmpdir(), 's3-accelerator-cluster-'));
  }

  static async begin(options: NodeClusterOptions = {}): Promise<NodeCluster> {
    const { buckets = ['bucket'], s3Host = '127.0.0.1' } = options;
    const s3 = await startMemoryS3({ buckets, host: s3Host });
    return new NodeCluster(s3, options);
  }

  /** Where a node listens, whether it runs or not: the same for all its lives. */
  async addressOf(nodeId: number): Promise<string> {
    const known = this.#addresses.get(nodeId);
    if (known !== undefined) return known;
    const address = `${this.#placeOf(nodeId).host}:${await freePort()}`;
    this.#addresses.set(nodeId, address);
    return address;
  }

  /** Says that a node is found elsewhere: in front of something that is no node. */
  place(nodeId: number, port: number): void {
    this.#addresses.set(nodeId, `127.0.0.1:${port}`);
  }

  async startNode(
    nodeId: number,
    { names, secret = testSecret, isAwaited = true, at, gatewayPort }: NodeProcessOptions,
  ): Promise<ClusterProcess> {
    const listen = at ?? (await this.addressOf(nodeId));
    const place = this.#placeOf(nodeId);
    const name = `node-${nodeId}${at === undefined ? '' : '-elsewhere'}`;
    const config = `
[origin]
endpoint = "http://${place.testHost}:${this.s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[cluster]
secret = "${secret}"
nodes = ${await this.#listOf(names)}
down_grace_s = ${this.#options.downGraceS ?? 60}
fallback_window_s = ${this.#options.fallbackWindowS ?? 600}
[cluster.tcp]
${this.#options.tcp ?? ''}
[node]
id = ${nodeId}
data_dir = "${join(this.directory, name)}"
listen = "${listen}"
[cache]
capacity_bytes = "${this.#options.capacity ?? '128MiB'}"
${this.#options.cache ?? ''}
[cache.default_policy]
${this.#options.policy ?? 'immutable = true\nadmit_on_first_read = true'}
${gatewayPort === undefined ? '' : this.#gatewayTable(gatewayPort, place.host)}
`;
    return this.#start(name, config, isAwaited, place);
  }

  /** With a client for it. */
  async startGateway({
    names,
    secret = testSecret,
    isAwaited = true,
  }: ProcessOptions): Promise<{ readonly gateway: ClusterProcess; readonly client: S3Client }> {
    const port = await freePort();
    const place = this.#placeOf('gateway');
    const config = `
[cluster]
secret = "${secret}"
nodes = ${await this.#listOf(names)}
[cluster.tcp]
${this.#options.tcp ?? ''}
${this.#gatewayTable(port, place.host)}
`;
    const gateway = await this.#start('gateway', config, isAwaited, place);
    return { gateway, client: new S3Client(port, credentials, place.host) };
  }

  #placeOf(of: number | 'gateway'): Place {
    return this.#options.placeOf?.(of) ?? here;
  }

  #gatewayTable(port: number, host: string): string {
    return `
[gateway]
listen = "${host}:${port}"
loops = ${this.#options.loops ?? 1}
${this.#options.gateway ?? ''}
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
`;
  }

  /** Ends every process that is left, and S3. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.end('SIGKILL')));
    await this.s3.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #start(
    name: string,
    config: string,
    isAwaited: boolean,
    place: Place,
  ): Promise<ClusterProcess> {
    const adminPort = await freePort();
    const admin = `${place.host}:${adminPort}`;
    const text = `${config}\n[admin]\nlisten = "${admin}"\n`;
    this.#started += 1;
    const running = await runProgram(
      this.directory,
      `${name}-${this.#started}`,
      text,
      adminPort,
      isAwaited,
      place,
    );
    const process = new ClusterProcess(running, admin);
    this.#processes.push(process);
    return process;
  }

  async #listOf(names: readonly number[]): Promise<string> {
    const entries = await Promise.all(
      names.map(async (id) => `{ id = ${id}, address = "${await this.addressOf(id)}" }`),
    );
    return `[${entries.join(', ')}]`;
  }
}

/** Waits until all processes place by one ring with so many members; its version. */
export async function agreedRing(
  processes: readonly ClusterProcess[],
  members: number,
): Promise<number> {
  let version = 0;
  await until(`one ring of ${members}`, async () => {
    const rings = await Promise.all(processes.map((process) => process.ring()));
    version = rings[0]?.version ?? 0;
    return rings.every((ring) => ring.version === version && ring.members === members);
  });
  assert.ok(version > 0);
  return version;
}
