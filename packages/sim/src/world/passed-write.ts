/**
 * A client's write on its way through: marked at the gateway, sent by the object's home, which is told of it before S3 is and
 * again before its outcome can be known, and made at S3 or not.
 *
 * | moment                       | gateway's machine | home's machine        |
 * | sent on                      | onWriteStarted    |                       |
 * | arrives at the home          |                   | onWrite 'started'     |
 * | S3's head, and its end (1)   |                   | onWrite 'finished'    |
 * | a link or the client is lost |                   | onWrite 'finished'    |
 * | the gateway knows, or can't  | onWriteFinished   |                       |
 *
 * (1) Copies, completed uploads and multi-deletes say 200 early and only at their end what happened; a multi-delete names no
 * key in its target, so no home is told. Until the body's end was handed on, a write that broke off has surely failed;
 * afterwards nobody knows, and it may still take effect.
 */
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import type { ClientWrite } from '../history/client-write.ts';
import { nameOf, type WriteAnswer } from '../oracle/oracle.ts';
import { newLane, type Link } from './network.ts';
import type { OriginWrites, WriteFault } from './origin-writes.ts';
import type { Pass, PassingGateway, PassingNode } from './pass.ts';
import type { Surroundings } from './surroundings.ts';
import type { WriteRequest } from './write-request.ts';

interface WritingGateway extends PassingGateway {
  homeOf(bucket: string, key: string): number;
  writeStarted(bucket: string, key: string): void;
  writeFinished(bucket: string, key: string, outcome: WriteOutcome): void;
}

export interface PassedWriteOptions {
  readonly world: Surroundings;
  readonly gateway: WritingGateway;
  readonly writes: OriginWrites;
  readonly record: ClientWrite;
  readonly request: WriteRequest;
  /** How long the body takes to come. */
  readonly uploadMs: number;
  /** The client heard, or left. */
  readonly onEnd: () => void;
}

export class PassedWrite implements Pass {
  readonly link: Link;
  readonly #options: PassedWriteOptions;
  readonly #run: PassingNode | null;
  /** The object's home as the write set out. */
  readonly #home: number;
  readonly #toNode = newLane();
  readonly #toGateway = newLane();
  #bodyIsWhole = false;
  #hasArrived = false;
  #isOverAtGateway = false;
  #isOverAtNode = false;

  constructor(options: PassedWriteOptions) {
    const { bucket } = options.request;
    const { link, run } = options.gateway.linkToHome(bucket, keyInTarget(options.request));
    this.#options = options;
    this.#home = options.gateway.homeOf(bucket, keyInTarget(options.request));
    this.link = link;
    this.#run = run;
  }

  start(): void {
    const { world, gateway, request, uploadMs } = this.#options;
    for (const key of request.keys) gateway.writeStarted(request.bucket, key);
    gateway.passes.add(this);
    world.network.toNode(this.link, this.#toNode, () => {
      this.#arrive();
    });
    world.queue.in(uploadMs, () => {
      if (!this.#isOverAtGateway) this.#endBody();
    });
  }

  /** The client doesn't wait any more. */
  clientGone(): void {
    if (this.#isOverAtGateway) return;
    this.#options.world.network.toNode(this.link, this.#toNode, () => {
      if (!this.#isOverAtNode) this.lostAtNode();
    });
    this.#conclude(this.#outcomeOfBreak(), 'unknown', 0, '');
  }

  lostAtGateway(): void {
    const outcome = this.#outcomeOfBreak();
    this.#conclude(outcome, outcome, 503, 'ServiceUnavailable');
  }

  lostAtNode(): void {
    this.#leaveNode();
    if (this.#hasArrived) this.#noteAtNode('finished');
  }

  gatewayEnded(): void {
    const { gateway, record, world, onEnd } = this.#options;
    this.#isOverAtGateway = true;
    gateway.passes.delete(this);
    record.outcome = 'unknown';
    record.endedAt = world.queue.now;
    onEnd();
  }

  nodeEnded(): void {
    this.#leaveNode();
  }

  #arrive(): void {
    this.#hasArrived = true;
    this.#run!.passes.add(this);
    this.#noteAtNode('started');
  }

  /** The client's body has come to its end: from here on S3 may make the write. */
  #endBody(): void {
    this.#bodyIsWhole = true;
    const { world } = this.#options;
    world.network.toNode(this.link, this.#toNode, () => {
      if (!this.#isOverAtNode) this.#sendToOrigin();
    });
  }

  #sendToOrigin(): void {
    const { world, writes } = this.#options;
    world.queue.in(world.origin.delayMs(), () => {
      const fault = writes.drawFault();
      if (fault !== 'none') this.#noteFault(fault);
      if (fault === 'none' && speaksInBody(this.#options.request)) this.#headComesBack();
      this.#takeEffect(fault);
    });
  }

  /** The moment at which S3 makes the write, if it does. */
  #takeEffect(fault: WriteFault): void {
    const { world, writes, request, record } = this.#options;
    switch (fault) {
      case 'none': {
        const answer = writes.make(request, record);
        this.#later(() => {
          this.#endComesBack(answer);
        });
        return;
      }
      case 'made and refused':
        writes.make(request, record);
        this.#later(() => {
          this.#endComesBack(null);
        });
        return;
      case 'refused':
        this.#later(() => {
          this.#endComesBack(null);
        });
        return;
      case 'late':
        // S3 takes its time while everybody else gives up.
        this.#later(() => {
          this.#endComesBack(null);
        });
        world.queue.in(world.origin.delayMs() * 40, () => {
          writes.make(request, record);
          if (this.#isOverAtGateway)
            world.situations.arose('write taking effect after its client was told it may not have');
        });
    }
  }

  #later(act: () => void): void {
    const { queue, origin } = this.#options.world;
    queue.in(origin.delayMs(), act);
  }

  /** A head that says nothing yet. */
  #headComesBack(): void {
    this.#later(() => {
      if (!this.#isOverAtNode) this.#noteAtNode('finished');
    });
  }

  /** S3's answer is complete; null for an error of S3's own. */
  #endComesBack(answer: WriteAnswer | null): void {
    if (this.#isOverAtNode) return;
    this.#noteAtNode('finished');
    this.#leaveNode();
    this.#options.world.network.toGateway(this.link, this.#toGateway, () => {
      if (this.#isOverAtGateway) return;
      if (answer === null) this.#conclude('unknown', 'unknown', 500, 'InternalError');
      else if (answer.code === '') this.#conclude('done', 'done', answer.status, '');
      else this.#conclude('failed', 'failed', answer.status, answer.code);
    });
  }

  /** The gateway's machine is told, then the client. */
  #conclude(
    conclusion: WriteOutcome,
    outcome: ClientWrite['outcome'],
    status: number,
    code: string,
  ): void {
    const { world, gateway, record, request, onEnd } = this.#options;
    this.#isOverAtGateway = true;
    gateway.passes.delete(this);
    const home = gateway.homeOf(request.bucket, keyInTarget(request));
    if (home !== this.#home) world.situations.arose('home change during a write');
    record.conclusion = conclusion;
    record.concludedAt = world.queue.now;
    for (const key of request.keys) gateway.writeFinished(request.bucket, key, conclusion);
    record.outcome = outcome;
    record.status = status;
    record.code = code;
    record.endedAt = world.queue.now;
    if (conclusion === 'unknown') world.situations.arose('write with an unknown outcome');
    onEnd();
  }

  #outcomeOfBreak(): 'unknown' | 'failed' {
    return this.#bodyIsWhole ? 'unknown' : 'failed';
  }

  #noteAtNode(phase: 'started' | 'finished'): void {
    const { request } = this.#options;
    const key = keyInTarget(request);
    if (key !== '') this.#run!.noteWrite(request.bucket, key, phase);
  }

  #leaveNode(): void {
    this.#isOverAtNode = true;
    this.#run?.passes.delete(this);
  }

  #noteFault(fault: WriteFault): void {
    const { world, request } = this.#options;
    const { now } = world.queue;
    for (const key of request.keys) {
      const object = nameOf(request.bucket, key);
      world.history.faultBegan({
        what: `write at S3: ${fault}`,
        from: now,
        until: now,
        gateway: -1,
        object,
      });
    }
  }
}

/** The key that the request's path names. */
function keyInTarget({ operation, keys }: WriteRequest): string {
  return operation === 'multi-delete' ? '' : keys[0]!;
}

/** Whether S3 answers 200 at once and says only at the end what happened. */
function speaksInBody({ operation }: WriteRequest): boolean {
  return operation === 'copy' || operation === 'complete' || operation === 'multi-delete';
}
