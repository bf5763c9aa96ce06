/**
 * One life of the program, from its start to its end: gateway and node as one process or as two, under the load of a few clients.
 *
 * How it ends is planned before it begins. `stop` is what an operator does: SIGTERM, gateway before node, and both must end with 0.
 * Everything else ends with SIGKILL at a planned moment, which says nothing to the program: while it starts, while it serves, or
 * while it stops.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from 's3-accelerator/testing/programs.ts';
import type { Dice } from '../dice.ts';
import { Client, type LifeUnderLoad } from '../load/client.ts';
import type { Tally } from '../load/tally.ts';
import type { Origin } from '../origin/origin.ts';
import { Child, type Exit } from './child.ts';
import { configOfBoth, configOfGateway, configOfNode, type Ports } from './config.ts';

export interface LifePlan {
  readonly processes: 1 | 2;
  readonly end: 'kill' | 'stop' | 'kill while starting' | 'kill while stopping';
  /** Answers before the end, and how many milliseconds later it comes; only these where the start is what is killed. */
  readonly afterReads: number;
  readonly afterMs: number;
  /** Milliseconds from SIGTERM to SIGKILL, and between the ends of two processes. */
  readonly betweenMs: number;
  readonly clients: number;
}

const ends = {
  kill: 60,
  stop: 18,
  'kill while starting': 10,
  'kill while stopping': 12,
} as const;

/** Draws a plan. Every few rounds there are two processes. */
export function drawPlan(dice: Dice): LifePlan {
  const end = dice.weighted(ends);
  return {
    processes: dice.chance(0.25) ? 2 : 1,
    end,
    afterReads: dice.between(0, 200),
    afterMs: end === 'kill while starting' ? dice.between(0, 700) : dice.between(0, 50),
    betweenMs: dice.between(0, end === 'kill while stopping' ? 40 : 80),
    clients: dice.between(2, 8),
  };
}

/** What all lives of a run share. */
export interface Surroundings {
  /** For configuration files. */
  readonly directory: string;
  readonly dataDir: string;
  /** Where the program notes its writes. */
  readonly undoFile: string;
  readonly origin: Origin;
  readonly tally: Tally;
}

const startWithinMs = 20_000;
const stopWithinMs = 20_000;
/** How often a serving process is looked after. */
const lookMs = 10;
/** A life on a busy machine ends after this long, whatever it has answered. */
const serveMs = 2500;

export class Life implements LifeUnderLoad {
  readonly gatewayPort: number;
  readonly isDamaged: boolean;
  readonly #plan: LifePlan;
  readonly #around: Surroundings;
  readonly #dice: Dice;
  readonly #ports: Ports;
  /** In the order of their start: the node is the first one. */
  readonly #children: Child[] = [];
  #endingSince = Infinity;
  #hasLostPort = false;

  private constructor(
    plan: LifePlan,
    around: Surroundings,
    dice: Dice,
    isDamaged: boolean,
    ports: Ports,
  ) {
    this.#plan = plan;
    this.#around = around;
    this.#dice = dice;
    this.#ports = ports;
    this.isDamaged = isDamaged;
    this.gatewayPort = ports.gateway;
  }

  /** Lives it. `isDamaged` says whether its files were damaged before. Resolves to whether it stopped cleanly. */
  static async live(
    plan: LifePlan,
    around: Surroundings,
    dice: Dice,
    isDamaged: boolean,
  ): Promise<boolean> {
    for (;;) {
      const [gateway, node, admin, gatewayAdmin] = await Promise.all([
        freePort(),
        freePort(),
        freePort(),
        freePort(),
      ]);
      const ports = { origin: around.origin.s3.port, gateway, node, admin, gatewayAdmin };
      const life = new Life(plan, around, dice, isDamaged, ports);
      around.tally.lives++;
      try {
        const isClean = await life.#run();
        if (!life.#hasLostPort) return isClean;
      } finally {
        for (const child of life.#children) child.signal('SIGKILL');
        await Promise.all(life.#children.map((child) => child.ended(stopWithinMs)));
      }
    }
  }

  get endingSince(): number {
    return this.#endingSince;
  }

  async #run(): Promise<boolean> {
    if (this.#plan.end === 'kill while starting') {
      void this.#start();
      await sleep(this.#plan.afterMs);
      this.#endingSince = performance.now();
      return false;
    }
    if (!(await this.#start())) return false;
    await this.#count('begins');
    const { origin, tally } = this.#around;
    const clients = Array.from({ length: this.#plan.clients }, (_, index) =>
      new Client(this, origin, tally, this.#dice.for(`client ${index}`)).run(),
    );
    const hasSurvived = await this.#survives();
    if (hasSurvived) await this.#count('ends');
    this.#endingSince = performance.now();
    const isClean = hasSurvived && (await this.#end());
    await Promise.all(clients);
    return isClean;
  }

  /** Starts its processes; false when one doesn't come up, which is a finding unless it is meant to be killed. */
  async #start(): Promise<boolean> {
    const { directory, dataDir, undoFile } = this.#around;
    const ports = this.#ports;
    const recording = { S3ACCEL_UNDO_FILE: undoFile };
    const start = async (
      name: string,
      config: string,
      port: number,
      environment: Readonly<Record<string, string>>,
    ): Promise<boolean> => {
      const child = new Child(join(directory, `${name}.toml`), config, port, environment);
      this.#children.push(child);
      if (await child.ready(startWithinMs)) return true;
      // Somebody else on this machine was given the port meanwhile: nobody's fault, and the life begins again on other ports.
      this.#hasLostPort = /EADDRINUSE|another process listens there/.test(child.output);
      if (this.#endingSince === Infinity && !this.#hasLostPort) {
        this.#find(`doesn't start, ${told(child)}`);
      }
      return false;
    };
    if (this.#plan.processes === 1) {
      return start('both', configOfBoth(ports, dataDir), ports.admin, recording);
    }
    const isUp = await start('node', configOfNode(ports, dataDir), ports.admin, recording);
    if (!isUp || this.#endingSince !== Infinity) return false;
    return start('gateway', configOfGateway(ports), ports.gatewayAdmin, {});
  }

  async #end(): Promise<boolean> {
    const { end, betweenMs } = this.#plan;
    // A gateway goes before its node: its last answers come from there.
    const children = this.#children.toReversed();
    if (end === 'stop') {
      let isClean = true;
      for (const child of children) {
        child.signal('SIGTERM');
        const exit = await child.ended(stopWithinMs);
        if (exit?.code === 0) continue;
        this.#find(`doesn't stop as it should, ${told(child)}`);
        isClean = false;
      }
      return isClean;
    }
    for (const child of children) {
      if (end === 'kill while stopping') child.signal('SIGTERM');
      else child.signal('SIGKILL');
      await sleep(betweenMs);
    }
    // A short stop may have been done before it could be killed.
    const isDone = end === 'kill while stopping' && this.#children[0]?.exit?.code === 0;
    for (const child of children) child.signal('SIGKILL');
    await Promise.all(children.map((child) => child.ended(stopWithinMs)));
    return isDone;
  }

  /** Adds what the node says of its disk: what it came back with at the beginning, what it found out by the end. */
  async #count(moment: 'begins' | 'ends'): Promise<void> {
    const metrics = await this.#children[0]?.metrics();
    if (metrics === null || metrics === undefined) return;
    const { tally } = this.#around;
    const sum = (...names: readonly string[]): number =>
      names.reduce((all, name) => all + (metrics.get(`s3accel_node_${name}`) ?? 0), 0);
    if (moment === 'begins') {
      tally.recovered += sum('restored_blocks');
      tally.trusted += sum('restored_trusted_blocks');
      tally.dropped += sum('refused_rows');
    } else {
      tally.verified += sum('verified_blocks_total{verdict="intact"}');
      tally.dropped += sum(
        'verified_blocks_total{verdict="damaged"}',
        'verified_blocks_total{verdict="unreadable"}',
        'lost_blocks_total{cause="unsynced"}',
        'lost_blocks_total{cause="truncated"}',
      );
    }
  }

  /** Serves as long as planned. False as soon as one of the processes ends by itself, which is a finding. */
  async #survives(): Promise<boolean> {
    const { tally } = this.#around;
    const { afterReads, afterMs } = this.#plan;
    const enough = tally.reads + afterReads;
    const deadline = performance.now() + serveMs;
    for (;;) {
      const isEnough = tally.reads >= enough || performance.now() >= deadline;
      await sleep(isEnough ? afterMs : lookMs);
      const dead = this.#children.find((child) => child.exit !== null);
      if (dead !== undefined) {
        this.#find(`ended by itself, ${told(dead)}`);
        return false;
      }
      if (isEnough) return true;
    }
  }

  #find(what: string): void {
    const { tally } = this.#around;
    tally.wrong.push(`life ${tally.lives}: the program ${what}`);
  }
}

function told({ exit, output }: Child): string {
  const how = (one: Exit): string => `code ${String(one.code)}, signal ${String(one.signal)}`;
  return `${exit === null ? 'still running' : how(exit)}; it said:\n${output}`;
}
