/** Membership over the small network of testing/: joining, stopping, leaving, and what goes wrong on the way. */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { newPacket } from './packet.ts';
import { nodesOf, settledCluster, TestNetwork, type TestMember } from './testing/test-network.ts';

const idsOf = (count: number): number[] => [...Array(count).keys()];
const emptyPacket = { ...newPacket(), sender: 9 };
const byId = (network: TestNetwork, nodeId: number): TestMember =>
  network.running.find((member) => member.nodeId === nodeId)!;

test('a node alone in its configuration is a cluster of its own at once', () => {
  const network = new TestNetwork(1);
  const nodes = nodesOf(1);
  const member = network.start(nodes[0]!, nodes);
  ok(network.until(100, () => network.agreeOn([0])) >= 0);
  equal(member.founded, true);
  deepEqual(member.ring?.members, nodes);
});

test('nodes that start together from one configuration begin with one ring', () => {
  for (const count of [2, 3, 16]) {
    const network = settledCluster(count, count);
    for (const member of network.running) equal(member.rings.length, 1);
  }
});

test('a node joins by naming any running node, and the others learn of it', () => {
  for (const seed of [0, 1, 2]) {
    const network = settledCluster(5, 3);
    const nodes = nodesOf(4);
    const newcomer = network.start(nodes[3]!, [nodes[3]!, nodes[seed]!]);
    const took = network.until(10_000, () => network.agreeOn(idsOf(4)) && network.allAlive());
    ok(took >= 0 && took < 3000, `took ${took} ms`);
    equal(newcomer.founded, false);
    equal(newcomer.rings.length, 1);
  }
});

test('what a newcomer’s configuration says of others counts no more once it has found the cluster', () => {
  const network = settledCluster(6, 3);
  const nodes = nodesOf(9);
  network.start(nodes[3]!, [nodes[3]!, nodes[1]!, nodes[7]!, { ...nodes[2]!, weight: 9 }]);
  ok(network.until(10_000, () => network.agreeOn(idsOf(4))) >= 0);
  network.run(10_000);
  ok(network.agreeOn(idsOf(4)));
  equal(network.running[0]!.ring?.member(2)?.weight, 1);
});

test('a newcomer whose seed is not there yet joins when it comes', () => {
  const network = new TestNetwork(7);
  const nodes = nodesOf(2);
  network.start(nodes[1]!, nodes);
  network.run(30_000);
  network.start(nodes[0]!, [nodes[0]!]);
  ok(network.until(20_000, () => network.agreeOn([0, 1]) && network.allAlive()) >= 0);
});

test('a node killed is suspected, then down, and loses its place only after the grace', () => {
  const network = settledCluster(8, 5);
  const version = network.running[0]!.ring!.version;
  network.kill(byId(network, 4));
  const down = network.until(60_000, () =>
    network.running.every(({ membership }) => membership.statusOf(4) === 'down'),
  );
  ok(down > 0 && down < 15_000, `down after ${down} ms`);
  network.run(network.timing.graceMs - 5000);
  ok(network.agreeOn(idsOf(5)));
  equal(network.running[0]!.ring!.version, version);
  ok(network.until(20_000, () => network.agreeOn(idsOf(4))) >= 0);
  ok(network.running[0]!.ring!.version > version);
  for (const { changes } of network.running) {
    const statuses = changes.filter(({ nodeId }) => nodeId === 4).map(({ status }) => status);
    deepEqual(statuses.slice(-3), ['suspect', 'down', 'down']);
  }
});

test('a restart within the grace keeps the ring version, after a kill as after a stop', () => {
  for (const end of ['kill', 'stop'] as const) {
    const network = settledCluster(9, 4);
    const version = network.running[0]!.ring!.version;
    for (const nodeId of idsOf(4)) {
      const member = byId(network, nodeId);
      network[end](member);
      network.run(20_000);
      const nodes = nodesOf(4);
      network.start(nodes[nodeId]!, nodes);
      ok(network.until(10_000, () => network.agreeOn(idsOf(4)) && network.allAlive()) >= 0, end);
    }
    network.run(120_000);
    for (const member of network.running) {
      equal(member.ring?.version, version);
      equal(member.rings.length, 1);
    }
  }
});

test('a node that stops says so: others know within a second', () => {
  const network = settledCluster(10, 8);
  network.stop(byId(network, 3));
  const took = network.until(5000, () =>
    network.running.every(({ membership }) => membership.statusOf(3) === 'down'),
  );
  ok(took >= 0 && took < 1000, `took ${took} ms`);
});

test('a node that comes back after the grace takes its place again', () => {
  const network = settledCluster(11, 3);
  network.kill(byId(network, 2));
  ok(network.until(90_000, () => network.agreeOn([0, 1])) >= 0);
  const version = network.running[0]!.ring!.version;
  const nodes = nodesOf(3);
  network.start(nodes[2]!, nodes);
  ok(network.until(10_000, () => network.agreeOn([0, 1, 2]) && network.allAlive()) >= 0);
  ok(network.running[0]!.ring!.version > version);
});

test('a node that leaves gives its place up at once, still answers, and is looked for no more but by those that name it', () => {
  const network = settledCluster(12, 4);
  const nodes = nodesOf(5);
  const newcomer = network.start(nodes[4]!, [nodes[0]!, nodes[4]!]);
  ok(network.until(5000, () => network.agreeOn(idsOf(5))) >= 0);
  const leaver = byId(network, 1);
  leaver.act((membership, now) => {
    membership.onLeave(now);
  });
  ok(network.until(5000, () => network.agreeOn([0, 2, 3, 4])) >= 0);
  equal(leaver.membership.phase, 'leaving');
  network.run(60_000);
  ok(network.allAlive());
  network.stop(leaver);
  network.run(5000);
  for (const { membership } of network.running) equal(membership.statusOf(1), 'left');
  const tries = new Map<string, number>();
  network.isCut = (from, to) => {
    if (to === leaver.address) tries.set(from, (tries.get(from) ?? 0) + 1);
    return false;
  };
  network.run(60_000);
  equal(tries.has(newcomer.address), false);
  deepEqual([...tries.values()], [12, 12, 12], 'one packet in five seconds');
});

test('a node that leaves stays out, whatever is still said of a place that it had', () => {
  const network = settledCluster(12, 3);
  const leaver = byId(network, 1);
  leaver.act((membership, now) => {
    membership.onLeave(now);
  });
  ok(network.until(5000, () => network.agreeOn([0, 2])) >= 0);
  // Of a later place than it knows: it had that one in a life that this one didn't hear of.
  const record = leaver.membership.records().find(({ nodeId }) => nodeId === 1)!;
  const updates = [{ ...record, place: record.place + 5 }];
  byId(network, 0).act((membership, now) => {
    membership.onPacket(now, '10.0.0.9:9400', { ...emptyPacket, updates });
  });
  network.run(10_000);
  ok(network.agreeOn([0, 2]));
  ok(network.allAlive());
});

test('a node that left may come back', () => {
  const network = settledCluster(13, 3);
  const leaver = byId(network, 1);
  leaver.act((membership, now) => {
    membership.onLeave(now);
  });
  network.run(5000);
  network.stop(leaver);
  network.run(5000);
  network.start(nodesOf(3)[1]!, nodesOf(3));
  ok(network.until(10_000, () => network.agreeOn([0, 1, 2]) && network.allAlive()) >= 0);
});

// Seed 8418 of the simulator: a node that had left came back while none of those that it named ran, and began a cluster of its own. The old
// cluster, of nodes added later, knew it as one that left, and looked only for those that were down: both went on beside each other for ever.
test('a node that left, and came back while nobody whom it names ran, is found by those that name it', () => {
  const network = settledCluster(13, 3);
  const nodes = nodesOf(4);
  const named = nodes.slice(0, 3);
  network.start(nodes[3]!, [...named, nodes[3]!]);
  ok(network.until(10_000, () => network.agreeOn(idsOf(4))) >= 0);
  for (const nodeId of [1, 2]) {
    const leaver = byId(network, nodeId);
    leaver.act((membership, now) => {
      membership.onLeave(now);
    });
    network.run(2000);
    network.stop(leaver);
  }
  network.kill(byId(network, 0));
  ok(network.until(120_000, () => network.agreeOn([3])) >= 0);
  const back = network.start(nodes[2]!, named);
  ok(network.until(120_000, () => network.agreeOn([2, 3]) && network.allAlive()) >= 0);
  equal(back.founded, true, 'nobody answered as it began');
});

test('clusters that know nothing of each other become one where a configuration names a node of the other', () => {
  const network = settledCluster(16, 2);
  const nodes = nodesOf(4);
  network.isCut = (_from, to) => to === nodes[3]!.address;
  network.start(nodes[3]!, [nodes[3]!]);
  network.start(nodes[2]!, [nodes[0]!, nodes[3]!, nodes[2]!]);
  ok(network.until(10_000, () => byId(network, 2).ring?.member(0) !== undefined) >= 0);
  equal(byId(network, 2).membership.statusOf(3), null);
  network.isCut = () => false;
  ok(network.until(30_000, () => network.agreeOn(idsOf(4)) && network.allAlive()) >= 0);
});

test('a new weight or address takes effect with a restart, and is one new ring', () => {
  const network = settledCluster(14, 3);
  network.stop(byId(network, 1));
  network.run(2000);
  const nodes = nodesOf(3);
  network.start({ nodeId: 1, weight: 5, address: '10.9.9.9:9400' }, nodes);
  ok(network.until(10_000, () => network.agreeOn([0, 1, 2]) && network.allAlive()) >= 0);
  const member = network.running[0]!.ring?.member(1);
  equal(member?.weight, 5);
  equal(member.address, '10.9.9.9:9400');
  equal(network.running[0]!.rings.length, 2);
});

test('a flapping node whose outages are short changes no ring', () => {
  const network = settledCluster(15, 5);
  const version = network.running[0]!.ring!.version;
  for (let i = 0; i < 10; i++) {
    const flapping = byId(network, 2);
    network.kill(flapping);
    network.run(3000 + network.prng.below(30_000));
    network.start(nodesOf(5)[2]!, nodesOf(5));
    network.run(1000 + network.prng.below(10_000));
  }
  ok(network.until(30_000, () => network.agreeOn(idsOf(5)) && network.allAlive()) >= 0);
  equal(network.running[0]!.ring?.version, version);
});

test('two nodes of one id: the newcomer gives way, and both say so once', () => {
  const network = settledCluster(16, 3);
  const nodes = nodesOf(3);
  const rival = { nodeId: 1, weight: 1, address: '10.7.7.7:9400' };
  const newcomer = network.start(rival, [rival, nodes[0]!]);
  network.run(10_000);
  equal(newcomer.membership.phase, 'stopped');
  equal(newcomer.rings.length, 0);
  deepEqual(newcomer.conflicts, [
    { about: 'id', givesWay: true, rivalId: 1, rivalAddress: nodes[1]!.address },
  ]);
  deepEqual(byId(network, 1).conflicts, [
    { about: 'id', givesWay: false, rivalId: 1, rivalAddress: rival.address },
  ]);
  ok(network.agreeOn(idsOf(3)) || network.running.length === 4);
  network.kill(newcomer);
  ok(network.agreeOn(idsOf(3)) && network.allAlive());
  equal(network.running[0]!.rings.length, 1);
});

test('a configuration copied to another host, id and address included, is noticed too', () => {
  const network = settledCluster(17, 3);
  const nodes = nodesOf(3);
  const copy = network.start(nodes[1]!, nodes, '10.7.7.7:9400');
  network.run(10_000);
  equal(copy.membership.phase, 'stopped');
  deepEqual(copy.conflicts, [
    { about: 'id', givesWay: true, rivalId: 1, rivalAddress: nodes[1]!.address },
  ]);
  equal(byId(network, 1).conflicts.length, 1);
});

test('an address that another node has: whoever claims it gives way, and both say so once', () => {
  const network = settledCluster(18, 3);
  const nodes = nodesOf(3);
  const claimed = { nodeId: 7, weight: 1, address: nodes[2]!.address };
  const newcomer = network.start(claimed, [claimed, nodes[0]!], '10.7.7.7:9400');
  network.run(10_000);
  equal(newcomer.membership.phase, 'stopped');
  deepEqual(newcomer.conflicts, [
    { about: 'address', givesWay: true, rivalId: 2, rivalAddress: nodes[2]!.address },
  ]);
  deepEqual(byId(network, 2).conflicts, [
    { about: 'address', givesWay: false, rivalId: 7, rivalAddress: '10.7.7.7:9400' },
  ]);
  network.kill(newcomer);
  network.run(10_000);
  ok(network.agreeOn(idsOf(3)) && network.allAlive());
});

test('an address of a node that is gone may be given to another', () => {
  const network = settledCluster(19, 4);
  const nodes = nodesOf(4);
  network.kill(byId(network, 3));
  network.run(1000);
  const heir = { nodeId: 9, weight: 1, address: nodes[3]!.address };
  network.start(heir, [heir, nodes[0]!]);
  ok(network.until(120_000, () => network.agreeOn([0, 1, 2, 9])) >= 0);
  for (const { conflicts } of network.lives) deepEqual(conflicts, []);
});

test('two nodes of one id that met only later: exactly one gives way', () => {
  for (let seed = 20; seed < 30; seed++) {
    const network = new TestNetwork(seed);
    const nodes = nodesOf(4);
    const rival = { nodeId: 1, weight: 1, address: '10.7.7.7:9400' };
    const isLeft = (address: string): boolean =>
      ['10.0.0.0:9400', '10.0.0.1:9400'].includes(address);
    network.isCut = (from, to) => isLeft(from) !== isLeft(to);
    const left = [network.start(nodes[0]!, nodes), network.start(nodes[1]!, nodes)];
    const right = [network.start(nodes[2]!, nodes), network.start(rival, nodes)];
    network.run(20_000);
    network.isCut = () => false;
    network.run(60_000);
    const rivals = [left[1]!, right[1]!];
    const stopped = rivals.filter(({ membership }) => membership.phase === 'stopped');
    equal(stopped.length, 1, `seed ${seed}`);
    for (const { conflicts } of rivals) equal(conflicts.length, 1, `seed ${seed}`);
    network.kill(stopped[0]!);
    const others = (): boolean =>
      network.running.every(({ membership }) => membership.statusOf(1) === 'alive');
    ok(network.until(60_000, others) >= 0);
  }
});

test('a partition heals: both halves find together again, even after they gave each other up', () => {
  for (const minutes of [0.25, 5, 15]) {
    const network = settledCluster(30, 6);
    const isLeft = (address: string): boolean => Number(address.split('.')[3]!.split(':')[0]) < 2;
    network.isCut = (from, to) => isLeft(from) !== isLeft(to);
    network.run(minutes * 60_000);
    for (const { nodeId, ring } of network.running) {
      const isSmaller = nodeId < 2;
      // The smaller half thinks that it may be the one that is cut off, for ten times as long.
      const hasGivenUp = minutes > (isSmaller ? 11 : 1.5);
      const rest = isSmaller ? [0, 1] : [2, 3, 4, 5];
      deepEqual(
        ring?.members.map((one) => one.nodeId),
        hasGivenUp ? rest : idsOf(6),
      );
    }
    network.isCut = () => false;
    const took = network.until(90_000, () => network.agreeOn(idsOf(6)) && network.allAlive());
    ok(took >= 0, `healed after ${took} ms`);
    // Whoever had been given up takes its place back; that settles into few rings.
    for (const { rings } of network.running) ok(rings.length <= 6, `${rings.length} rings`);
  }
});

test('a way that is lost between two nodes makes nobody suspect: others relay', () => {
  const network = settledCluster(31, 5);
  network.isCut = (from, to) => {
    const ends = [from, to];
    return ends.includes('10.0.0.0:9400') && ends.includes('10.0.0.1:9400');
  };
  network.run(300_000);
  for (const { membership } of network.running) equal(membership.counters.downs, 0);
  equal(
    network.running.reduce((sum, { membership }) => sum + membership.counters.probesFailed, 0),
    0,
  );
});

test('a node that is deaf is found down, whatever it says of the others', () => {
  const network = settledCluster(32, 5);
  network.isCut = (_from, to) => to === '10.0.0.4:9400';
  network.run(180_000);
  const hearing = network.running.filter(({ nodeId }) => nodeId !== 4);
  for (const { membership, ring, rings } of hearing) {
    deepEqual(
      ring?.members.map(({ nodeId }) => nodeId),
      [0, 1, 2, 3],
    );
    equal(rings.length, 2);
    for (const other of hearing) equal(membership.statusOf(other.nodeId), 'alive');
  }
  network.isCut = () => false;
  ok(network.until(60_000, () => network.agreeOn(idsOf(5)) && network.allAlive()) >= 0);
});

test('most nodes of a ring that go at once lose their places too, only later', () => {
  const network = settledCluster(38, 5);
  for (const nodeId of [1, 2, 3]) network.kill(byId(network, nodeId));
  network.run(5 * 60_000);
  ok(network.agreeOn(idsOf(5)));
  ok(network.until(6 * 60_000, () => network.agreeOn([0, 4])) >= 0);
});

test('of two nodes one is enough to take the other’s place', () => {
  const network = settledCluster(39, 2);
  network.kill(byId(network, 1));
  ok(network.until(75_000, () => network.agreeOn([0])) >= 0);
});

test('a node that is mute is found down, and comes back when it is heard', () => {
  const network = settledCluster(33, 5);
  network.isCut = (from, to) => from === '10.0.0.4:9400' && from !== to;
  network.run(180_000);
  for (const { nodeId, ring } of network.running) {
    if (nodeId !== 4)
      deepEqual(
        ring?.members.map((one) => one.nodeId),
        [0, 1, 2, 3],
      );
  }
  network.isCut = () => false;
  ok(network.until(60_000, () => network.agreeOn(idsOf(5)) && network.allAlive()) >= 0);
});

test('a process that stood still blames nobody when it goes on', () => {
  const network = settledCluster(34, 5);
  const sleeper = byId(network, 0);
  sleeper.isFrozen = true;
  network.run(4000);
  sleeper.isFrozen = false;
  sleeper.act((membership, now) => {
    membership.onTick(now);
  });
  network.run(30_000);
  ok(network.allAlive());
  equal(sleeper.membership.counters.lateTicks, 1);
  equal(sleeper.membership.counters.probesFailed, 0);
  for (const { rings } of network.running) equal(rings.length, 1);
});

test('a probe that was under way when the process stood still is no failure', () => {
  for (let seed = 40; seed < 45; seed++) {
    const network = settledCluster(seed, 5);
    const sleeper = byId(network, 0);
    // Its probe stays without an answer, for less than a period.
    network.isCut = (_from, to) => to === sleeper.address;
    network.run(700);
    sleeper.isFrozen = true;
    network.isCut = () => false;
    network.run(4000);
    sleeper.isFrozen = false;
    sleeper.act((membership, now) => {
      membership.onTick(now);
    });
    network.run(10_000);
    equal(sleeper.membership.counters.probesFailed, 0);
  }
});

test('a suspicion doesn’t end while the process that holds it stands still', () => {
  const network = settledCluster(45, 5);
  const sleeper = byId(network, 0);
  network.kill(byId(network, 4));
  ok(network.until(20_000, () => sleeper.membership.statusOf(4) === 'suspect') >= 0);
  sleeper.isFrozen = true;
  network.run(500);
  network.start(nodesOf(5)[4]!, nodesOf(5));
  network.run(20_000);
  sleeper.isFrozen = false;
  sleeper.act((membership, now) => {
    membership.onTick(now);
  });
  ok(network.until(20_000, () => network.allAlive()) >= 0);
  equal(sleeper.membership.counters.downs, 0);
});

test('a ring is published every five seconds, even while changes don’t end', () => {
  const network = settledCluster(46, 3);
  const nodes = nodesOf(33);
  for (const node of nodes.slice(3)) {
    network.start(node, [node, nodes[0]!]);
    network.run(200);
  }
  const { rings } = byId(network, 0);
  ok(rings.length >= 2 && rings.length <= 3, `${rings.length} rings in 6 s`);
});

test('what an earlier life of a node said last is contradicted, once nobody stands up for it', () => {
  const network = settledCluster(47, 3);
  const member = byId(network, 1);
  const own = member.membership.records().find(({ nodeId }) => nodeId === 1)!;
  const earlier = { ...own, run: own.run ^ 1, incarnation: own.incarnation + 3 };
  for (const other of network.running) {
    other.act((membership, now) => {
      membership.onPacket(now, '10.0.0.9:9400', { ...emptyPacket, updates: [earlier] });
    });
  }
  network.run(10_000);
  equal(member.membership.phase, 'member');
  deepEqual(member.conflicts, []);
  for (const { membership } of network.running) {
    const record = membership.records().find(({ nodeId }) => nodeId === 1)!;
    equal(record.run, own.run);
    ok(record.incarnation > earlier.incarnation);
  }
});

test('a cluster that restarted whole outbids the ring that a gateway still holds', () => {
  const network = settledCluster(35, 3);
  const held = 50 * network.running[0]!.ring!.version;
  // Seen once or for ever: the claim holds until it is explained.
  byId(network, 1).act((membership, now) => {
    membership.onVersionSeen(now, held);
  });
  network.run(5000);
  notEqual(network.running[0]!.ring!.version > held, true);
  ok(
    network.until(
      30_000,
      () => network.agreeOn(idsOf(3)) && network.running[0]!.ring!.version > held,
    ) >= 0,
  );
  equal(network.running[0]!.rings.length, 2);
});

test('one that comes to the very epoch of that ring outbids it as well', () => {
  const network = settledCluster(35, 3);
  const held = network.running[0]!.ring!.version + 1;
  byId(network, 1).act((membership, now) => {
    membership.onVersionSeen(now, held);
  });
  const isAbove = (): boolean => network.running[0]!.ring!.version > held;
  ok(network.until(30_000, () => network.agreeOn(idsOf(3)) && isAbove()) >= 0);
  equal(network.running[0]!.rings.length, 2);
});

test('a version that is explained in time is not outbid', () => {
  const network = settledCluster(36, 3);
  const nodes = nodesOf(4);
  network.start(nodes[3]!, nodes);
  network.until(5000, () => network.agreeOn(idsOf(4)));
  const { version } = network.running[0]!.ring!;
  for (const member of network.running) {
    member.act((membership, now) => {
      membership.onVersionSeen(now, version);
    });
  }
  network.run(60_000);
  equal(network.running[0]!.ring?.version, version);
});

test('records of more node ids than a ring may have are refused and counted', () => {
  const network = settledCluster(37, 2);
  const member = byId(network, 0);
  const record = { incarnation: 1, status: 'left', run: 1, place: 2, weight: 1 } as const;
  for (let nodeId = 100; nodeId < 2200; nodeId++) {
    const updates = [{ ...record, nodeId, address: '10.1.1.1:1' }];
    member.act((membership, now) => {
      membership.onPacket(now, '10.0.0.9:9400', { ...emptyPacket, updates });
    });
  }
  equal(member.membership.records().length, 2048);
  equal(member.membership.counters.recordsRefused, 2100 - 2046);
});
