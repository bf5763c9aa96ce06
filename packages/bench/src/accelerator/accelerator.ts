/**
 * The accelerator under test, as processes of their own on configurations written for the run: a gateway, any number of nodes, or
 * gateway and node in one.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pinToServers, serverPrefix, start, stop, type StartedChild } from '../machine/child.ts';
import { freePorts } from '../machine/ports.ts';
import { Config, type AcceleratorOptions, type NodeAddress } from './config.ts';
import { metricIn } from './metrics.ts';

const root = join(import.meta.dirname, '../../../..');
const program = join(root, 'packages/server/bin/s3-accelerator.mjs');

/** One process. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly child: StartedChild;
  readonly adminPort: number;
}

export class Accelerator {
  readonly gatewayPort: number;
  readonly #options: AcceleratorOptions;
  readonly #addresses: NodeAddress[];
  readonly #config: Config;
  readonly #parts: Part[] = [];
  #isStopping = false;

  constructor(options: AcceleratorOptions, gatewayPort: number, addresses: NodeAddress[]) {
    this.gatewayPort = gatewayPort;
    this.#options = options;
    this.#addresses = addresses;
    this.#config = new Config(options, gatewayPort);
  }

  /** Nodes in order; in one process the gateway is the node. */
  get nodes(): readonly Part[] {
    return this.#parts.filter(({ name }) => name !== 'gateway');
  }

  get gateway(): Part {
    return this.#parts.find(({ name }) => name === 'gateway') ?? this.#parts[0]!;
  }

  /** The processes whose CPU time counts. */
  get pids(): readonly number[] {
    return this.#parts.map(({ pid }) => pid);
  }

  async startAll(): Promise<void> {
    mkdirSync(this.#options.directory, { recursive: true });
    if (this.#options.processes === 1) {
      await this.#start('both', this.#config.both(this.#addresses[0]!, this.#addresses));
      return;
    }
    await Promise.all([
      ...this.#addresses.map((node) => this.#startNode(node)),
      this.#start('gateway', this.#config.gateway(this.#addresses)),
    ]);
    this.#parts.sort((a, b) => Number(a.name === 'gateway') - Number(b.name === 'gateway'));
  }

  /** Starts one more node and waits until it is ready. */
  async addNode(): Promise<Part> {
    const [port = 0] = await freePorts(1);
    const node = { id: this.#addresses.length, port };
    this.#addresses.push(node);
    return this.#startNode(node);
  }

  /** What a process's /metrics says by this name, all its labels together. */
  async metric(part: Part, name: string, label = ''): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${part.adminPort}/metrics`);
    return metricIn(await answer.text(), name, label);
  }

  /** The same over all nodes. */
  async sumOfNodes(name: string, label = ''): Promise<number> {
    const values = await Promise.all(this.nodes.map((node) => this.metric(node, name, label)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Waits until nothing fills and everything that was stored is on the disk; half a minute at most. */
  async settled(): Promise<void> {
    for (let attempt = 0; attempt < 300; attempt++) {
      const busy = await Promise.all(
        ['fetches_in_flight', 'slot_writes', 'unrecorded_blocks'].map((name) =>
          this.sumOfNodes(`s3accel_node_${name}`),
        ),
      );
      if (busy.every((count) => count === 0)) return;
      await sleep(100);
    }
    throw new Error('the nodes go on filling');
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    // Gateways first: nodes that are gone are nothing that they should have to notice.
    for (const { child } of this.#parts.toReversed()) await stop(child);
  }

  #startNode(node: NodeAddress): Promise<Part> {
    return this.#start(`node-${node.id}`, this.#config.node(node, this.#addresses));
  }

  async #start(name: string, config: string): Promise<Part> {
    const { directory, nodeFlags = [], environment = {}, isFree = false } = this.#options;
    const [adminPort = 0] = await freePorts(1);
    const file = join(directory, `${name}.toml`);
    writeFileSync(file, `${config}\n[admin]\nlisten = "127.0.0.1:${adminPort}"\n`);
    // A gateway starts as many loops as it sees processors. Nodes start quicker on both, and move afterwards.
    const prefix = isFree || name.startsWith('node-') ? [] : serverPrefix;
    const child = start(prefix, [process.execPath, ...nodeFlags, program, file], environment);
    child.stdout?.resume();
    child.once('exit', (code, signal) => {
      if (this.#isStopping) return;
      const how = String(code ?? signal);
      process.stderr.write(`${name} of the accelerator ended (${how}):\n${child.output()}\n`);
    });
    const part = { name, pid: child.pid ?? 0, child, adminPort };
    this.#parts.push(part);
    await untilReady(part);
    if (!isFree) pinToServers(part.pid);
    return part;
  }
}

/** Starts all processes and waits until each is ready. */
export async function startAccelerator(options: AcceleratorOptions): Promise<Accelerator> {
  const [gateway = 0, ...nodes] = await freePorts(1 + (options.nodes ?? 1));
  const addresses = nodes.map((port, id) => ({ id, port }));
  const accelerator = new Accelerator(options, gateway, addresses);
  try {
    await accelerator.startAll();
  } catch (error) {
    await accelerator.stop();
    throw error;
  }
  return accelerator;
}

async function untilReady({ name, child, adminPort }: Part): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${child.output()}`);
    try {
      const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`, {
        signal: AbortSignal.timeout(1000),
      });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(50);
  }
  throw new Error(`${name} isn't ready:\n${child.output()}`);
}
