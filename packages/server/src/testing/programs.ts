/**
 * The program as its users run it: child processes on configs written for a test, with memory-s3 in the test's own process.
 *
 * Ports are picked by the kernel, folders are temporary, children are ended by pid.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const program = join(import.meta.dirname, '../../bin/s3-accelerator.mjs');

export const credentials = {
  accessKeyId: 'local-identity',
  secretAccessKey: 'local-credential',
} as const;

/** A local port that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** One running process of the program. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The text that it was started with. */
  readonly config: string;
  /** Changes its file, for a SIGHUP to come. */
  rewrite(config: string): void;
  /** Everything it wrote to standard error so far. */
  log(): string;
  stop(): Promise<number | null>;
}

/** Where a process of the program runs. */
export interface Place {
  /** The address that it is reached at. */
  readonly host: string;
  /** The address at which it reaches what runs in the test's own process. */
  readonly testHost: string;
  /** A command that runs another one there. */
  readonly within: readonly string[];
}

export const here: Place = { host: '127.0.0.1', testHost: '127.0.0.1', within: [] };

/** Starts the program on a config text and waits for /readyz, or only until it answers at all or has ended. */
export async function runProgram(
  directory: string,
  name: string,
  config: string,
  adminPort: number,
  isAwaited = true,
  place: Place = here,
): Promise<Running> {
  const file = join(directory, `${name}.toml`);
  writeFileSync(file, config);
  const [command, ...args] = [...place.within, process.execPath, program, file];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const running: Running = {
    child,
    pid: child.pid ?? 0,
    config,
    rewrite: (text) => {
      writeFileSync(file, text);
    },
    log: () => text,
    stop: async () => {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 10_000);
      const code = await ended;
      clearTimeout(kill);
      return code;
    },
  };
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (child.exitCode !== null && !isAwaited) return running;
    if (child.exitCode !== null)
      throw new Error(`the program ended with ${child.exitCode}:\n${text}`);
    try {
      const answer = await fetch(`http://${place.host}:${adminPort}/readyz`);
      const isStarting = (await answer.text()) === 'not ready: starting\n';
      if (answer.ok || (!isAwaited && !isStarting)) return running;
    } catch {
      // Not listening yet.
    }
    await sleep(25);
  }
  await running.stop();
  throw new Error(`the program isn't ready:\n${text}`);
}

export interface Cluster {
  /** Where clients go. */
  readonly endpoint: string;
  readonly gatewayPort: number;
  /** The node's data directory. */
  readonly dataDir: string;
  readonly gateway: Running;
  /** The same process as the gateway when there is one process. */
  readonly node: Running;
  metrics(of: 'gateway' | 'node'): Promise<string>;
  /** What /readyz says. */
  readiness(of: 'gateway' | 'node'): Promise<string>;
  /** The sum of all samples of one metric whose labels contain `label`. */
  metric(of: 'gateway' | 'node', name: string, label?: string): Promise<number>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly originPort: number;
  /** 127.0.0.1 if absent. */
  readonly originHost?: string;
  readonly processes: 1 | 2;
  /** Where the temporary folder with the data directory goes; the system's place for them if absent. */
  readonly root?: string;
  /** `cache.capacity_bytes`; 256 MiB if absent. */
  readonly capacity?: string;
  /** TOML appended to the node's [cache] table, such as policies. */
  readonly cache?: string;
  /** TOML below `[node]`. */
  readonly node?: string;
  /** TOML below `[gateway]`. */
  readonly gateway?: string;
  /** One process that has no [cluster] table: it is a cluster of its own. */
  readonly isAlone?: boolean;
  /** `gateway.loops`; 1 if absent: most tests count what one loop does. */
  readonly loops?: number;
  /** `[[clients]]` tables in place of the one that may do everything. */
  readonly clients?: string;
  /** TOML below `[origin]`. */
  readonly origin?: string;
}

const everything = `
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
`;

/** Starts a gateway and a node, as one process or as two, in front of an origin on `originPort`. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const directory = mkdtempSync(join(options.root ?? tmpdir(), 's3-accelerator-test-'));
  const [gatewayPort, nodePort, admin, gatewayAdmin] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const cluster = `
[cluster]
secret = "a secret that only these tests share"
nodes = [{ id = 0, address = "127.0.0.1:${nodePort}" }]
`;
  const node = `
[origin]
endpoint = "http://${options.originHost ?? '127.0.0.1'}:${options.originPort}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
${options.origin ?? ''}
[node]
id = 0
data_dir = "${directory}/data"
${options.node ?? ''}

[cache]
capacity_bytes = "${options.capacity ?? '256MiB'}"
${options.cache ?? ''}
`;
  const gateway = `
[gateway]
listen = "127.0.0.1:${gatewayPort}"
loops = ${options.loops ?? 1}
${options.gateway ?? ''}
${options.clients ?? everything}
`;
  const adminTable = (port: number): string => `\n[admin]\nlisten = "127.0.0.1:${port}"\n`;
  const running: Running[] = [];
  const stop = async (): Promise<void> => {
    for (const one of running.toReversed()) await one.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    if (options.processes === 1) {
      const text = (options.isAlone === true ? '' : cluster) + node + gateway + adminTable(admin);
      running.push(await runProgram(directory, 'both', text, admin));
    } else {
      running.push(await runProgram(directory, 'node', cluster + node + adminTable(admin), admin));
      const text = cluster + gateway + adminTable(gatewayAdmin);
      running.push(await runProgram(directory, 'gateway', text, gatewayAdmin));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const adminPorts = { node: admin, gateway: options.processes === 1 ? admin : gatewayAdmin };
  const metrics = async (of: 'gateway' | 'node'): Promise<string> =>
    (await fetch(`http://127.0.0.1:${adminPorts[of]}/metrics`)).text();
  return {
    endpoint: `http://127.0.0.1:${gatewayPort}`,
    gatewayPort,
    dataDir: join(directory, 'data'),
    gateway: running.at(-1)!,
    node: running[0]!,
    metrics,
    readiness: async (of) => (await fetch(`http://127.0.0.1:${adminPorts[of]}/readyz`)).text(),
    metric: async (of, name, label = '') =>
      (await metrics(of))
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0),
    stop,
  };
}
