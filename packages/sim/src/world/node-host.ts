/** A machine that runs a storage node: one life of its process after another, and a disk that outlives them. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Gossip } from './gossip.ts';
import type { NodeFiles } from './node-files.ts';
import { NodeRun, type NodeRunOptions } from './node-run.ts';

/** How often a node that is to stop looks whether it is idle. */
const drainTickMs = 10;

/** What every life of a node has in common. */
export interface NodeHostOptions extends Omit<NodeRunOptions, 'life' | 'storeBytes'> {
  /** The capacity that the next life is configured with. */
  readonly nextStoreBytes: () => number;
}

export class NodeHost {
  readonly place: number;
  readonly files: NodeFiles;
  /** Null while the process is down. */
  run: NodeRun | null = null;
  /** It was asked to end, and still runs. */
  isStopping = false;
  /** It gave its place in the ring up, and still serves. */
  isLeaving = false;
  /** Nobody expects it to be up: it was never started, left, or was lost for good. */
  isOut = true;
  /** Told of each life's figures as it ends. */
  onRunEnded: (run: NodeRun) => void = () => undefined;
  readonly #options: NodeHostOptions;
  #lives = 0;

  constructor(options: NodeHostOptions) {
    this.#options = options;
    this.place = options.place;
    this.files = options.files;
  }

  get nodeId(): number {
    return this.#options.nodeId;
  }

  /** The present life as long as it lets new links in. */
  get listener(): NodeRun | null {
    return this.run?.isLeaving === false ? this.run : null;
  }

  get gossip(): Gossip | null {
    return this.run?.cluster.gossip ?? null;
  }

  startIfDown(): void {
    if (this.run === null) this.start();
  }

  start(): void {
    assert(this.run === null, 'a host runs one node at a time');
    this.#lives += 1;
    this.isOut = false;
    const storeBytes = this.#options.nextStoreBytes();
    this.run = new NodeRun({ ...this.#options, life: this.#lives, storeBytes });
  }

  /** The machine loses its power. */
  crash(lostShare: number): void {
    this.run?.checkDurable();
    this.#endRun((run) => {
      run.end();
    });
    this.files.crash(lostShare);
  }

  /** The process is killed: the machine and its page cache live on. */
  kill(): void {
    this.#endRun((run) => {
      run.end();
    });
    this.files.disk.abandon();
  }

  /** It gives its place in the ring up, hands over what moves for `servesMs`, and ends. */
  leave(servesMs: number): void {
    const { run } = this;
    assert(run !== null && !this.isStopping && !this.isLeaving, 'only a node that is up leaves');
    this.isLeaving = true;
    run.cluster.gossip.leave();
    const { queue } = this.#options.world;
    queue.lookAt(queue.now + servesMs, () => {
      if (this.run === run && !this.isStopping) this.stop();
    });
  }

  /**
   * The process is asked to end: it does once what is under way is answered and all that it stored is durable, unless something
   * else ends it before.
   */
  stop(): void {
    const { run } = this;
    assert(run !== null, 'only a node that is up is stopped');
    this.isStopping = true;
    run.leaveLinks();
    this.#flushWhenIdle(run);
  }

  #flushWhenIdle(run: NodeRun): void {
    this.#options.world.queue.in(drainTickMs, () => {
      if (run.isOver) return;
      if (run.isUsed) {
        this.#flushWhenIdle(run);
        return;
      }
      run.shutDown(() => {
        this.isOut = this.isLeaving;
        if (this.isOut) this.#options.world.situations.arose('node ended after it left');
        this.#endRun(() => {
          run.endClean();
        });
        this.files.disk.abandon();
      });
    });
  }

  #endRun(end: (run: NodeRun) => void): void {
    const { run } = this;
    assert(run !== null, 'only a node that is up goes down');
    run.checkStored();
    this.run = null;
    this.isStopping = false;
    this.isLeaving = false;
    end(run);
    this.onRunEnded(run);
  }
}
