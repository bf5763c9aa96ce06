/**
 * One data directory through several lives of the program, gateway and node in one process, in front of one memory-s3.
 *
 * Buckets: `immutable` is never confirmed again, `strict` at every read; both store a block at its first read.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { credentials, freePort, runProgram, type Running } from './programs.ts';
import { until } from './rig.ts';
import { S3Client } from './s3-client.ts';

export interface LifeOptions {
  /** 64 MiB if absent. */
  readonly capacity?: string;
  readonly dataDir?: string;
  readonly nodeId?: number;
  /** 0 if absent: no scrub. */
  readonly scrubIntervalS?: number;
}

export class Life {
  readonly client: S3Client;
  readonly running: Running;
  readonly #adminPort: number;

  constructor(running: Running, gatewayPort: number, adminPort: number) {
    this.client = new S3Client(gatewayPort, credentials);
    this.running = running;
    this.#adminPort = adminPort;
  }

  log(): string {
    return this.running.log();
  }

  /** The sum of a metric's samples whose labels contain `label`. */
  async metric(name: string, label = ''): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#adminPort}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Waits until a metric has a value. */
  async metricIs(name: string, value: number, label = ''): Promise<void> {
    let found = NaN;
    const reaches = async (): Promise<boolean> => {
      found = await this.metric(name, label);
      return found === value;
    };
    await until(`${name} = ${value}`, reaches).catch((error: unknown) => {
      throw new Error(`${name}${label} is ${found}`, { cause: error });
    });
  }

  /** Waits until so many blocks are stored and their rows are durable. */
  async holds(blocks: number): Promise<void> {
    await this.metricIs('s3accel_node_blocks', blocks);
    await this.metricIs('s3accel_node_unrecorded_blocks', 0);
  }

  /** SIGTERM; it ends by itself, well. */
  async stop(): Promise<void> {
    assert.equal(await this.running.stop(), 0, this.log());
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const { child } = this.running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

export class Lives {
  readonly s3: MemoryS3;
  readonly directory: string;
  readonly dataDir: string;
  readonly #lives: Life[] = [];

  private constructor(s3: MemoryS3, directory: string) {
    this.s3 = s3;
    this.directory = directory;
    this.dataDir = join(directory, 'data');
  }

  static async begin(context: TestContext): Promise<Lives> {
    const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-lives-'));
    const lives = new Lives(await startMemoryS3({ buckets: ['immutable', 'strict'] }), directory);
    context.after(async () => {
      for (const life of lives.#lives) await life.kill();
      await lives.s3.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return lives;
  }

  /** The next life. What went to S3 before is forgotten. */
  async start(options: LifeOptions = {}): Promise<Life> {
    const [gatewayPort, adminPort] = await Promise.all([freePort(), freePort()]);
    const config = `
[origin]
endpoint = "http://127.0.0.1:${this.s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[node]
id = ${options.nodeId ?? 0}
data_dir = "${options.dataDir ?? this.dataDir}"
scrub_interval_s = ${options.scrubIntervalS ?? 0}
[cache]
capacity_bytes = "${options.capacity ?? '64MiB'}"
[cache.default_policy]
admit_on_first_read = true
[cache.buckets.immutable]
immutable = true
[cache.buckets.strict]
ttl_ms = 0
[gateway]
listen = "127.0.0.1:${gatewayPort}"
loops = 1
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[admin]
listen = "127.0.0.1:${adminPort}"
`;
    const running = await runProgram(
      this.directory,
      `life-${this.#lives.length}`,
      config,
      adminPort,
    );
    const life = new Life(running, gatewayPort, adminPort);
    this.#lives.push(life);
    this.s3.traffic.clear();
    return life;
  }
}
