/** A client's read that the cache doesn't answer: sent to S3 by the object's home, and what comes is relayed as it is. */
import type { OriginRequest } from '../history/origin-request.ts';
import type { Exchange, Exchanges } from './exchanges.ts';
import { newLane, type Link } from './network.ts';
import { requestOfError, type OriginAnswer } from './origin.ts';
import type { Pass, PassingGateway, PassingNode } from './pass.ts';
import type { Surroundings } from './surroundings.ts';

interface ReadingGateway extends PassingGateway {
  readonly exchanges: Exchanges;
}

export class PassedRead implements Pass {
  readonly link: Link;
  readonly #world: Surroundings;
  readonly #gateway: ReadingGateway;
  readonly #run: PassingNode | null;
  readonly #exchange: Exchange;
  readonly #toNode = newLane();
  readonly #toGateway = newLane();
  #record: OriginRequest | null = null;
  #isOverAtGateway = false;
  #isOverAtNode = false;

  constructor(world: Surroundings, gateway: ReadingGateway, exchange: Exchange) {
    const { bucket, key } = exchange.record.request;
    const { link, run } = gateway.linkToHome(bucket, key);
    this.#world = world;
    this.#gateway = gateway;
    this.#exchange = exchange;
    this.link = link;
    this.#run = run;
  }

  start(): void {
    this.#gateway.passes.add(this);
    this.#world.network.toNode(this.link, this.#toNode, () => {
      this.#arrive();
    });
  }

  lostAtGateway(): void {
    this.#leaveGateway();
    this.#gateway.exchanges.refuse(this.#exchange, 'ServiceUnavailable');
  }

  lostAtNode(): void {
    this.#leaveNode();
    this.#cut();
  }

  gatewayEnded(): void {
    this.#leaveGateway();
  }

  nodeEnded(): void {
    this.#leaveNode();
    this.#cut();
  }

  /** The client left: so does its request. */
  clientGone(): void {
    this.#leaveGateway();
    this.#world.network.toNode(this.link, this.#toNode, () => {
      if (!this.#isOverAtNode) this.lostAtNode();
    });
  }

  #arrive(): void {
    const { history, queue, origin } = this.#world;
    const run = this.#run!;
    const { nodeId: node, life } = run;
    const { request } = this.#exchange.record;
    run.passes.add(this);
    const record = history.originAsked({ node, life, kind: 'passed', request, sentAt: queue.now });
    this.#record = record;
    queue.in(origin.delayMs(), () => {
      const answer = origin.decide(record);
      queue.in(origin.delayMs(), () => {
        this.#comesBack(record, answer);
      });
    });
  }

  #comesBack(record: OriginRequest, answer: OriginAnswer): void {
    if (this.#isOverAtNode) return;
    record.endedAt = this.#world.queue.now;
    record.end = answer.head === null ? 'unreachable' : answer.breaksOff ? 'broken' : 'answered';
    this.#leaveNode();
    this.#world.network.toGateway(this.link, this.#toGateway, () => {
      if (!this.#isOverAtGateway) this.#relay(answer);
    });
  }

  #relay({ head, told, body, breaksOff }: OriginAnswer): void {
    this.#leaveGateway();
    const exchange = this.#exchange;
    const { record } = exchange;
    if (head === null) {
      this.#gateway.exchanges.refuse(exchange, 'ServiceUnavailable');
      return;
    }
    record.isPassedThrough = true;
    record.status = head.status;
    record.answeredAt = this.#world.queue.now;
    if (told !== null) Object.assign(record, told);
    if (body.length > 0) this.#world.history.bytesCame(record, body);
    if (head.error !== null) {
      record.code = head.error.code;
      record.errorOf = requestOfError(head.error);
    }
    this.#gateway.exchanges.end(exchange, breaksOff ? 'cut' : 'finished');
  }

  #leaveGateway(): void {
    this.#isOverAtGateway = true;
    this.#gateway.passes.delete(this);
  }

  #leaveNode(): void {
    this.#isOverAtNode = true;
    this.#run?.passes.delete(this);
  }

  #cut(): void {
    if (this.#record === null) return;
    this.#record.end = 'cut';
    this.#record.endedAt = this.#world.queue.now;
  }
}
