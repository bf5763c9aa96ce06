/**
 * Random histories of clusters of 3 to 64: lost datagrams, partitions, kills, stops, restarts, newcomers, nodes that leave.
 * Rings are published in order throughout; once all is quiet, all members have the same table and the same ring, of those
 * that run; and what moved between any two rings of one node are the keys of members that came or went, no others.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { ownerOf } from '../placement.ts';
import type { Ring } from '../ring.ts';
import { measureMembership } from './membership.bench.ts';
import { nodesOf, settledCluster, TestNetwork, type TestMember } from './testing/test-network.ts';

const firstSeed = Number(process.env['MEMBERSHIP_SEED'] ?? 1);
const histories = Number(process.env['MEMBERSHIP_HISTORIES'] ?? 40);

class History {
  readonly network: TestNetwork;
  readonly prng: Prng;
  readonly nodes: ReturnType<typeof nodesOf>;
  readonly started: number;

  constructor(seed: number) {
    this.prng = new Prng(seed, 99);
    this.started = 3 + this.prng.below(this.prng.chance(0.2) ? 62 : 10);
    this.network = new TestNetwork(seed);
    this.nodes = nodesOf(this.started + 6);
    const config = this.nodes.slice(0, this.started);
    for (const node of config) this.network.start(node, config);
    this.network.run(5000);
  }

  play(): void {
    const { network, prng } = this;
    for (let step = 0; step < 25; step++) {
      this.#act();
      network.run(prng.below(prng.chance(0.2) ? 150_000 : 8000));
    }
    network.loss = 0;
    network.isCut = () => false;
    for (const member of network.running) {
      if (member.membership.phase === 'leaving') network.stop(member);
    }
  }

  /**
   * Those who can find each other: a node that knew nobody but nodes that are gone for good, and that nobody else knows or names,
   * is a cluster of its own, and rightly so.
   */
  groups(): TestMember[][] {
    const { running } = this.network;
    const groups: TestMember[][] = [];
    for (const member of running) {
      const linked = groups.filter((group) =>
        group.some((other) => looksFor(member, other) || looksFor(other, member)),
      );
      for (const group of linked) groups.splice(groups.indexOf(group), 1);
      groups.push([...linked.flat(), member]);
    }
    return groups;
  }

  /** Whether all is as it must be once nothing happens any more. */
  isQuiet(): boolean {
    return this.groups().every((group) => agree(group));
  }

  #act(): void {
    const { network, prng } = this;
    const running = network.running;
    const any = running[prng.below(running.length)]!;
    switch (prng.below(8)) {
      case 0:
        network.loss = prng.fraction() * 0.3;
        break;
      case 1:
        network.loss = 0;
        network.isCut = () => false;
        break;
      case 2: {
        // Any set against all others, one way or both.
        const salt = prng.u32();
        const both = prng.chance(0.5);
        const isIn = (address: string): boolean => (address.charCodeAt(7) ^ salt) % 3 === 0;
        network.isCut = (from, to) => isIn(to) !== isIn(from) && (both || isIn(to));
        break;
      }
      case 3:
        if (running.length > 2) network.kill(any);
        break;
      case 4:
        if (running.length > 2) network.stop(any);
        break;
      case 5:
        if (running.length > 2 && prng.chance(0.5)) {
          any.act((membership, now) => {
            membership.onLeave(now);
          });
        }
        break;
      default:
        this.#startOne();
    }
  }

  /** Starts a node that doesn't run, with any other one as its seed. */
  #startOne(): void {
    const { network, prng, nodes } = this;
    const running = new Set(network.running.map(({ nodeId }) => nodeId));
    const idle = nodes.filter(({ nodeId }) => !running.has(nodeId));
    if (idle.length === 0) return;
    const node = idle[prng.below(idle.length)]!;
    const seed = network.running[prng.below(running.size)]!;
    network.start(node, [nodes[seed.nodeId]!, node]);
  }
}

function looksFor(one: TestMember, other: TestMember): boolean {
  if (one.seeds.some(({ nodeId }) => nodeId === other.nodeId)) return true;
  const record = one.membership.records().find(({ nodeId }) => nodeId === other.nodeId);
  return record !== undefined && record.status !== 'left' && record.address === other.address;
}

/** Whether these have published one ring, of exactly these, and take each other for alive. */
function agree(members: readonly TestMember[]): boolean {
  const ids = members.map(({ nodeId }) => nodeId);
  const wanted = ids.toSorted((a, b) => a - b).join();
  const version = members[0]?.ring?.version;
  return members.every(
    ({ ring, membership }) =>
      ring?.version === version &&
      ring?.members.map(({ nodeId }) => nodeId).join() === wanted &&
      ids.every((nodeId) => membership.statusOf(nodeId) === 'alive'),
  );
}

function assertOnlyTheirKeysMove(before: Ring, after: Ring, prng: Prng): void {
  if (before.members.length === 0 || after.members.length === 0) return;
  const stayed = (nodeId: number): boolean =>
    before.member(nodeId) !== null && after.member(nodeId) !== null;
  for (let i = 0; i < 50; i++) {
    const placement = { hi: prng.u32(), lo: prng.u32() };
    const [from, to] = [ownerOf(before, placement), ownerOf(after, placement)];
    if (from !== to) ok(!stayed(from) || !stayed(to), 'a key moved between two that stayed');
  }
}

function describe(members: readonly TestMember[]): string {
  return members
    .map(({ nodeId, ring, membership: { phase } }) => {
      const ids = ring?.members.map((member) => member.nodeId).join();
      return `${nodeId} ${phase} ${ring?.version ?? 0}: ${ids ?? ''}`;
    })
    .join('\n');
}

for (let seed = firstSeed; seed < firstSeed + histories; seed += 10) {
  test(`histories ${seed} to ${seed + 9} end in one ring`, () => {
    let united = 0;
    for (let each = seed; each < seed + 10; each++) {
      const history = new History(each);
      history.play();
      const { network } = history;
      // Those that a partition took for dead are looked for every five seconds, one at a time; graces end meanwhile.
      const took = network.until(15 * 60_000, () => history.isQuiet());
      ok(took >= 0, `seed ${each}:\n${describe(network.running)}`);
      network.run(30_000);
      ok(history.isQuiet(), `seed ${each}:\n${describe(network.running)}`);
      const groups = history.groups();
      if (groups.length === 1) united += 1;
      for (const [first, ...others] of groups) {
        for (const other of others) {
          deepEqual(other.membership.records(), first!.membership.records(), `seed ${each}`);
        }
      }
      for (const { rings, conflicts } of network.lives) {
        deepEqual(conflicts, [], `seed ${each}`);
        for (const [index, ring] of rings.entries()) {
          const before = rings[index - 1];
          if (before !== undefined) assertOnlyTheirKeysMove(before, ring, history.prng);
        }
      }
    }
    ok(united >= 7, `${united} of 10 clusters ended as one`);
  });
}

test('a history repeats to the byte', () => {
  const outcome = (): string => {
    const history = new History(4);
    history.play();
    const { bytes, datagrams, running } = history.network;
    return `${bytes} ${datagrams}\n${describe(running)}`;
  };
  equal(outcome(), outcome());
});

test('5% loss for an hour: suspicions are contradicted, nobody is found down, no ring changes', () => {
  for (const count of [3, 16]) {
    const network = settledCluster(50 + count, count);
    network.loss = 0.05;
    network.run(3_600_000);
    for (const { rings, membership } of network.running) {
      equal(rings.length, 1);
      equal(membership.counters.downs, 0);
    }
  }
});

test('news of a join reaches 64 members within two seconds, at 10% loss too', () => {
  for (const loss of [0, 0.1]) {
    const network = settledCluster(60, 64);
    network.loss = loss;
    const nodes = nodesOf(65);
    network.start(nodes[64]!, [nodes[64]!, nodes[20]!]);
    const ids = nodes.map(({ nodeId }) => nodeId);
    const took = network.until(20_000, () => network.agreeOn(ids));
    // The ring waits half a second for more changes.
    ok(took >= 0 && took < (loss === 0 ? 2500 : 4000), `took ${took} ms`);
  }
});

test('the benchmark runs, gives the same result each time, and a quiet member sends at most 200 bytes a second', () => {
  const first = measureMembership(16, 30_000);
  ok(first.quietBytesPerSecond <= 200, `${first.quietBytesPerSecond}`);
  equal(measureMembership(16, 30_000).resultHash, first.resultHash);
});
