import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { EventQueue } from './event-queue.ts';
import { Network, newLane, type Link, type LinkEnd } from './network.ts';

class End implements LinkEnd {
  readonly place: number;
  readonly processId: number;
  readonly lost: Link[] = [];

  constructor(place: number, processId = place) {
    this.place = place;
    this.processId = processId;
  }

  onRingShown(): void {
    // Nobody shows a ring here.
  }

  usesLink(): boolean {
    return false;
  }

  onLinkLost(link: Link): void {
    this.lost.push(link);
  }
}

const gatewayPlace = 0;
const nodePlace = 1;

let queue: EventQueue;
let network: Network;
let gateway: End;
let node: End;

beforeEach(() => {
  queue = new EventQueue();
  network = new Network(queue, new Prng(3, 4), {
    ...{ networkMs: 1, latePercent: 1, linkTimeoutMs: 1000, places: 2 },
  });
  gateway = new End(gatewayPlace);
  node = new End(nodePlace);
});

function settle(): void {
  while (queue.step());
}

describe('the network', () => {
  test('keeps the order within a lane, and none between lanes', () => {
    const link = network.connect(gateway, node);
    const lane = newLane();
    const inOrder: number[] = [];
    const without: number[] = [];
    for (let i = 0; i < 100; i++) {
      network.toNode(link, lane, () => inOrder.push(i));
      network.toNode(link, newLane(), () => without.push(i));
    }
    settle();
    const sent = Array.from({ length: 100 }, (_, i) => i);
    assert.deepEqual(inOrder, sent);
    assert.notDeepEqual(without, sent);
    assert.deepEqual(
      without.toSorted((one, other) => one - other),
      sent,
    );
  });

  test('tells both ends of a reset, once, and brings nothing by that link afterwards', () => {
    const link = network.connect(gateway, node);
    network.reset(link);
    settle();
    assert.deepEqual(gateway.lost, [link]);
    assert.deepEqual(node.lost, [link]);
    let arrived = 0;
    network.toNode(link, newLane(), () => (arrived += 1));
    network.toGateway(link, newLane(), () => (arrived += 1));
    settle();
    assert.equal(arrived, 0);
    assert.equal(network.links.size, 0);
  });

  test('holds messages in the blocked direction alone, until it is over', () => {
    const link = network.connect(gateway, node);
    network.block(gatewayPlace, nodePlace, 100);
    const arrivals: string[] = [];
    network.toNode(link, newLane(), () => arrivals.push(`node at ${Math.floor(queue.now / 100)}`));
    network.toGateway(link, newLane(), () => arrivals.push('gateway'));
    settle();
    assert.equal(arrivals[0], 'gateway');
    assert.match(arrivals[1]!, /^node at [1-9]/);
    assert.deepEqual(gateway.lost, []);
  });

  test('loses a link at both ends when nothing gets through for too long', () => {
    const link = network.connect(gateway, node);
    network.block(nodePlace, gatewayPlace, 10_000);
    queue.runTo(3000);
    assert.deepEqual(gateway.lost, [link]);
    settle();
    assert.deepEqual(node.lost, [link]);
  });

  test('tells the other end alone when a process ends', () => {
    const link = network.connect(gateway, node);
    network.endAll(node);
    settle();
    assert.deepEqual(node.lost, []);
    assert.deepEqual(gateway.lost, [link]);
  });

  test('refuses a link where nobody listens', () => {
    const link = network.refuse(gateway, nodePlace);
    assert.deepEqual(gateway.lost, []);
    settle();
    assert.deepEqual(gateway.lost, [link]);
  });

  test('leaves links within a process alone', () => {
    const beside = new End(nodePlace, gateway.processId);
    const link = network.connect(gateway, beside);
    network.block(gatewayPlace, nodePlace, 10_000);
    network.reset(link);
    let arrivedAt = -1;
    network.toNode(link, newLane(), () => (arrivedAt = queue.now));
    settle();
    assert.equal(arrivedAt, 0);
    assert.deepEqual(gateway.lost, []);
  });
});
