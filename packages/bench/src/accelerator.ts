/** The accelerator under test: one process or two, with memory-s3 behind it, on configs written for the run. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverPrefix, start, stop, type StartedChild } from './child.ts';
import { freePorts } from './ports.ts';

const root = join(import.meta.dirname, '../../..');
const program = join(root, 'packages/server/bin/s3-accelerator.mjs');
const memoryS3 = join(root, 'packages/memory-s3/src/main.ts');

export const credentials = { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' };

export interface Origin {
  readonly port: number;
  readonly child: ChildProcess;
}

/**
 * memory-s3 with an optional delay before the first byte of each answer, and with objects `BUCKET/PREFIX0`, `BUCKET/PREFIX1`, …
 * for each of `objects` ("BUCKET/PREFIX:COUNT:BYTES").
 */
export async function startOrigin(delayMs: number, objects: readonly string[]): Promise<Origin> {
  const [port = 0] = await freePorts(1);
  const command = [process.execPath, memoryS3, '--port', String(port), '--quiet'];
  if (delayMs > 0) command.push('--delay-ms', String(delayMs));
  for (const spec of objects) command.push('--synthetic', spec);
  const child = start([], command);
  child.stdout?.resume();
  await untilListening(port, () => child.output());
  return { port, child };
}

export interface Accelerator {
  readonly gatewayPort: number;
  /** Prometheus text of the process that holds the node. */
  nodeMetrics(): Promise<string>;
  /** The processes whose CPU time counts. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const originTable = (port: number): string => `
[origin]
endpoint = "http://127.0.0.1:${port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
`;

const clientTable = `
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "bench", access = "write" }, { bucket = "cold", access = "read" }]
`;

const nodeTables = (directory: string, gibibytes: number): string => `
[node]
id = 0
data_dir = "${directory}/node"

[cache]
capacity_bytes = "${gibibytes}GiB"

[cache.buckets.bench]
immutable = true
admit_on_first_read = true
`;

/** Starts one process with both tables, or a node and a gateway. */
export async function startAccelerator(options: {
  readonly directory: string;
  readonly originPort: number;
  readonly cacheGibibytes: number;
  readonly processes: 1 | 2;
}): Promise<Accelerator> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true });
  const [gateway = 0, node = 0, admin = 0, gatewayAdmin = 0] = await freePorts(4);
  const cluster = `
[cluster]
secret = "a-secret-of-the-benchmark-alone"
nodes = [{ id = 0, address = "127.0.0.1:${node}" }]
`;
  const gatewayTable = `\n[gateway]\nlisten = "127.0.0.1:${gateway}"\n`;
  const nodePart = originTable(options.originPort) + nodeTables(directory, options.cacheGibibytes);
  const adminTable = (port: number): string => `\n[admin]\nlisten = "127.0.0.1:${port}"\n`;
  const configs =
    options.processes === 1
      ? [cluster + nodePart + gatewayTable + clientTable + adminTable(admin)]
      : [
          cluster + nodePart + adminTable(admin),
          cluster + gatewayTable + clientTable + adminTable(gatewayAdmin),
        ];
  const children: StartedChild[] = [];
  let isStopping = false;
  for (const [index, config] of configs.entries()) {
    const file = join(directory, `accelerator-${index}.toml`);
    writeFileSync(file, config);
    const child = start(serverPrefix, [process.execPath, program, file]);
    child.stdout?.resume();
    children.push(child);
    child.once('exit', (code, signal) => {
      if (!isStopping) {
        process.stderr.write(
          `the accelerator ended (${String(code ?? signal)}):\n${child.output()}\n`,
        );
      }
    });
    await untilReady(index === 0 ? admin : gatewayAdmin, child);
  }
  return {
    gatewayPort: gateway,
    nodeMetrics: async () => (await fetch(`http://127.0.0.1:${admin}/metrics`)).text(),
    pids: children.map((child) => child.pid ?? 0),
    stop: async () => {
      isStopping = true;
      for (const child of children.reverse()) await stop(child);
    },
  };
}

async function untilReady(port: number, child: StartedChild): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (child.exitCode !== null) throw new Error(`the accelerator ended:\n${child.output()}`);
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`, {
        signal: AbortSignal.timeout(1000),
      });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(50);
  }
  throw new Error(`the accelerator isn't ready:\n${child.output()}`);
}

async function untilListening(port: number, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`memory-s3 doesn't answer:\n${output()}`);
}
