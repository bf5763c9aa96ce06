/**
 * A small run that is told step by step: who asks for what and when, what breaks, what must be seen. It uses the world of the
 * simulator, with all its checkers, without its clients and its faults.
 *
 * Delays are drawn from a fixed seed. So a story waits for what it is about ("until S3 has decided") and never for times that
 * happen to fit.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { ownerOf, placeBlock } from '@s3-accelerator/core/placement.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ClientWrite } from '../history/client-write.ts';
import type { OriginRequest } from '../history/origin-request.ts';
import type { BucketOptions, RunOptions } from '../options.ts';
import { anyState } from '../oracle/oracle.ts';
import { noConditions } from '../oracle/request.ts';
import type { NewObject, Version } from '../oracle/version.ts';
import { PLAIN_RUN } from '../plain-run.ts';
import { Trace } from '../trace.ts';
import { ClientRequests, type Sender } from '../world/client-requests.ts';
import type { Exchange } from '../world/gateway-run.ts';
import type { NodeHost } from '../world/node-host.ts';
import { World } from '../world/world.ts';
import type { WriteRequest } from '../world/write-request.ts';

/** Bytes of a block in every story; a chunk has two, and objects of more than four lie on several nodes. */
export const BLOCK = PLAIN_RUN.cluster.sizes.blockBytes;

/** What a story has otherwise than the plainest run. */
export type Setting = {
  readonly [Group in 'cluster' | 'gateway' | 'node' | 'delays' | 'faults']?: Partial<
    RunOptions[Group]
  >;
};

/** Far more than the disk, its syncs and the gateways' lifetimes take in the plainest run, far less than a bucket's. */
const SETTLING_MS = 2_000;

/** Longer than anything is waited for. */
const RESTING_MS = 130_000;

/** No story has as many: one that goes on and on has failed. */
const MAX_EVENTS = 200_000;

/** Who may do what, as the simulator's credentials have it. */
const EVERYTHING = 0;
export const READ_ONLY = 1;
export const TEAM_A = 2;
export const NOTHING = 4;

const BUCKETS: readonly BucketOptions[] = [
  { name: 'tables', immutable: false, ttlMs: 60_000, admitOnFirstRead: false },
  { name: 'models', immutable: true, ttlMs: 60_000, admitOnFirstRead: false },
  { name: 'builds', immutable: false, ttlMs: 60_000, admitOnFirstRead: true },
  { name: 'fresh', immutable: false, ttlMs: 0, admitOnFirstRead: false },
];

/** Where a read goes, and what it asks for. */
export interface Asking {
  readonly bucket?: string;
  readonly range?: string | null;
  readonly head?: boolean;
  readonly gateway?: number;
  /** Which of the gateway's loops; the first if absent. */
  readonly loop?: number;
  readonly credential?: number;
  /** The client doesn't read for so long once its answer has begun. */
  readonly stallMs?: number;
}

/** A read that was sent. The record fills as the answer comes. */
export interface SentGet {
  readonly answer: ClientAnswer;
  leave(): void;
}

/** Tells a story to its end: everything must come to rest, and no checker may object. */
export function tell(setting: Setting, plot: (story: Story) => void): void {
  const story = new Story(setting);
  plot(story);
  story.end();
}

export class Story {
  readonly world: World;
  readonly #requests: ClientRequests;
  #clients = 0;
  #faultsEndedAt = 0;
  #events = 0;

  constructor(setting: Setting) {
    const options: RunOptions = {
      seed: 1,
      cluster: { ...PLAIN_RUN.cluster, ...setting.cluster },
      gateway: { ...PLAIN_RUN.gateway, ...setting.gateway },
      node: { ...PLAIN_RUN.node, ...setting.node },
      buckets: BUCKETS,
      workload: PLAIN_RUN.workload,
      delays: { ...PLAIN_RUN.delays, ...setting.delays },
      faults: { ...PLAIN_RUN.faults, ...setting.faults },
    };
    this.world = new World(options, new Trace());
    const { writes } = this.world;
    this.#requests = new ClientRequests({ world: this.world, writes, buckets: BUCKETS });
  }

  // What happens.

  /** The object is stored at S3, past every gateway. */
  put(key: string, size: number, bucket: string = 'tables'): Version {
    const { oracle, queue } = this.world;
    const { version } = oracle.put(queue.now, bucket, key, this.#object(size));
    assert(version !== null, 'a put without conditions is made');
    return version;
  }

  /** A client sends a GET. */
  send(key: string, asking: Asking = {}): SentGet {
    const { bucket = 'tables', range = null, head = false, stallMs = 0 } = asking;
    const request = { bucket, key, head, range, conditions: noConditions };
    const sender = this.#sender(asking);
    const exchange: Exchange = this.#requests.read(
      sender,
      { request, passes: false, stallMs },
      () => undefined,
    );
    return {
      answer: exchange.record,
      leave: () => {
        sender.gateway.leave(exchange);
      },
    };
  }

  /** A client reads, to the end of the answer. */
  get(key: string, asking: Asking = {}): ClientAnswer {
    const { answer } = this.send(key, asking);
    this.until(() => answer.end !== 'open');
    return answer;
  }

  /** Clients read at the same moment, to the end of the last answer. */
  getAll(keys: readonly string[], asking: Asking = {}): readonly ClientAnswer[] {
    const sent = keys.map((key) => this.send(key, asking));
    this.until(() => sent.every(({ answer }) => answer.end !== 'open'));
    return sent.map(({ answer }) => answer);
  }

  /** A client sends a write. */
  sendWrite(
    key: string,
    write: Partial<WriteRequest> & Pick<WriteRequest, 'operation'>,
    asking: Asking = {},
  ): ClientWrite {
    const { bucket = 'tables' } = asking;
    const plain = { bucket, keys: [key], source: null, object: null, conditions: anyState };
    this.#requests.write(this.#sender(asking), { ...plain, ...write }, 0, () => undefined);
    return this.world.history.writes.at(-1)!;
  }

  /** A client writes and hears what came of it. */
  write(
    key: string,
    write: Partial<WriteRequest> & Pick<WriteRequest, 'operation'>,
    asking: Asking = {},
  ): ClientWrite {
    const record = this.sendWrite(key, write, asking);
    this.until(() => record.outcome !== 'open');
    return record;
  }

  /** The object of a PUT through a gateway. */
  objectOf(size: number): { operation: 'put'; object: NewObject } {
    return { operation: 'put', object: this.#object(size) };
  }

  /** Lets things happen until it is so. */
  until(isSo: () => boolean): void {
    while (!isSo()) assert(this.#step(), 'the story waits for what never happens');
  }

  /** Lets `ms` milliseconds pass. */
  wait(ms: number): void {
    const { queue } = this.world;
    const end = queue.now + ms;
    while (queue.next <= end) this.#step();
    queue.runTo(end);
  }

  /** Lets blocks get to disk, and their rows after them. */
  settle(): void {
    this.wait(SETTLING_MS);
  }

  /** Something is wrong from now on that may cost clients their answers. Returns what ends it. */
  fault(what: string): () => void {
    const { history, queue } = this.world;
    const from = queue.now;
    const record = history.faultBegan({ what, from, until: Infinity, gateway: -1, object: '' });
    return () => {
      record.until = this.#faultsEndedAt = queue.now;
    };
  }

  /** A node's process ends, for whichever reason, and is started again after `downMs`. */
  restart(node: NodeHost, ending: (node: NodeHost) => void, downMs: number = 10): void {
    const mend = this.fault(`node ${node.nodeId} is down`);
    ending(node);
    this.until(() => node.run === null);
    this.wait(downMs);
    node.start();
    this.until(() => node.run?.cluster.isMember === true);
    mend();
  }

  /** A node that wasn't there is started, and everybody comes to know. */
  add(node: NodeHost): void {
    node.start();
    this.agree();
  }

  /** A node leaves the ring, and everybody comes to know; it hands over as long as the window lasts. */
  leave(node: NodeHost): void {
    node.leave(this.world.options.node.fallbackWindowMs);
    this.agree();
  }

  /** Lets everybody come to one ring, the one of the nodes that run. */
  agree(): void {
    this.until(() => this.world.isSettled);
  }

  /** The last page: everything comes to rest, and nothing is left of anything. */
  end(): void {
    const { queue } = this.world;
    const restsAt = queue.now + RESTING_MS;
    while (queue.busy > 0 || queue.now < restsAt) this.#step();
    this.world.lookAtRest();
    this.world.checkers.ended(this.#faultsEndedAt);
    this.#assertNoViolation();
  }

  // What is seen.

  /** What nodes sent to S3 for an object, bodiless requests and all, since the story began. */
  fetches(key: string, bucket: string = 'tables'): readonly OriginRequest[] {
    return this.world.history.of(bucket, key).originRequests;
  }

  /** What nodes send to S3 while `act` happens. */
  fetchesDuring(act: () => void): number {
    const { originRequests } = this.world.history;
    const before = originRequests.length;
    act();
    return originRequests.length - before;
  }

  /** The node that keeps an object's metadata. */
  homeOf(key: string, bucket: string = 'tables'): NodeHost {
    const { link } = this.world.gateways[0]!.run!.linkToHome(bucket, key);
    return this.world.nodes.find(({ place }) => place === link.node.place)!;
  }

  /** The node that keeps a block. */
  ownerOf(key: string, size: number, block: number): NodeHost {
    const { identities, layout, ring, nodes } = this.world;
    const placement = { hi: 0, lo: 0 };
    placeBlock(layout, identities.hashOf('tables', key), size, block, placement);
    return nodes[ownerOf(ring, placement)]!;
  }

  /** Blocks in the first node's store. */
  get stored(): number {
    const { run } = this.world.nodes[0]!;
    assert(run !== null, 'the node is up');
    return run.store.counters.blocks;
  }

  #sender({ gateway = 0, loop = 0, credential = EVERYTHING }: Asking): Sender {
    const run = this.world.gateways[gateway]!.loops[loop];
    assert(run !== undefined, 'the gateway is up');
    this.#clients += 1;
    return { client: this.#clients, credential, gateway: run };
  }

  #object(size: number): NewObject {
    return { size, content: this.world.oracle.newContent(), parts: 0, isWeak: false };
  }

  #step(): boolean {
    this.#events += 1;
    assert(this.#events <= MAX_EVENTS, 'a story comes to its end');
    const happened = this.world.queue.step();
    this.#assertNoViolation();
    return happened;
  }

  #assertNoViolation(): void {
    const { violation } = this.world.checkers;
    if (violation !== null) throw new Error(`${violation.checker}: ${violation.what}`);
  }
}
