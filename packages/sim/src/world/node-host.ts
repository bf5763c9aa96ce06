/** A machine that runs a storage node: one life of its process after another, and a disk that outlives them. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { NodeFiles } from './node-files.ts';
import { NodeRun, type NodeRunOptions } from './node-run.ts';

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

  startIfDown(): void {
    if (this.run === null) this.start();
  }

  start(): void {
    assert(this.run === null, 'a host runs one node at a time');
    this.#lives += 1;
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

  /** The process is asked to end: it does once all that it stored is durable, unless something else ends it before. */
  stop(): void {
    const { run } = this;
    assert(run !== null, 'only a node that is up is stopped');
    this.isStopping = true;
    run.shutDown(() => {
      this.#endRun(() => {
        run.endClean();
      });
      this.files.disk.abandon();
    });
  }

  #endRun(end: (run: NodeRun) => void): void {
    const { run } = this;
    assert(run !== null, 'only a node that is up goes down');
    this.run = null;
    this.isStopping = false;
    end(run);
    this.onRunEnded(run);
  }
}
