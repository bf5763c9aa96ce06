// Valid packets that somebody recorded and plays back, late, in any order and from any address: nobody believes what is over.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import type { Packet } from './packet.ts';
import { nodesOf, TestNetwork, type TestMember } from './testing/test-network.ts';

/** A network whose every datagram is recorded. */
class RecordedNetwork extends TestNetwork {
  readonly recorded: { from: string; to: string; packet: Packet }[] = [];
  isRecording = true;

  override carry(from: TestMember, address: string, packet: Packet): void {
    const copy = { ...packet, updates: [...packet.updates] };
    if (this.isRecording) this.recorded.push({ from: from.address, to: address, packet: copy });
    super.carry(from, address, packet);
  }
}

/** Four nodes: one is lost and comes back, one leaves for good, a fifth comes. */
function eventful(seed: number): RecordedNetwork {
  const network = new RecordedNetwork(seed, { graceMs: 5000 });
  const nodes = nodesOf(5);
  const first = nodes.slice(0, 4).map((node) => network.start(node, nodes.slice(0, 4)));
  const settles = (ids: readonly number[]): void => {
    ok(network.until(60_000, () => network.agreeOn(ids) && network.allAlive()) >= 0);
  };
  settles([0, 1, 2, 3]);
  network.kill(first[3]!);
  ok(network.until(120_000, () => network.agreeOn([0, 1, 2])) >= 0, 'it lost its place');
  network.start(nodes[3]!, nodes);
  settles([0, 1, 2, 3]);
  first[2]!.act((membership, now) => {
    membership.onLeave(now);
  });
  ok(network.until(60_000, () => network.agreeOn([0, 1, 3])) >= 0);
  network.stop(first[2]!);
  network.start(nodes[4]!, nodes);
  settles([0, 1, 3, 4]);
  network.run(20_000);
  return network;
}

for (const seed of [1, 2, 3, 4, 5]) {
  test(`all that was ever said changes nothing when it is said again (seed ${seed})`, () => {
    const network = eventful(seed);
    network.isRecording = false;
    const tables = network.running.map(({ membership }) => membership.records());
    const rings = network.running.map((member) => member.rings.length);
    const prng = new Prng(seed, 7);
    const { recorded } = network;
    ok(recorded.length > 500, `${recorded.length} packets`);
    for (let nth = 0; nth < 2 * recorded.length; nth++) {
      const { from, packet } = recorded[prng.below(recorded.length)]!;
      const to = network.running[prng.below(network.running.length)]!;
      const pretended = prng.chance(0.5) ? from : `10.9.9.${prng.below(250)}:9400`;
      to.act((membership, now) => {
        membership.onPacket(now, pretended, { ...packet, updates: [...packet.updates] });
      });
      network.run(prng.below(20));
    }
    network.run(60_000);
    deepEqual(
      network.running.map(({ membership }) => membership.records()),
      tables,
    );
    deepEqual(
      network.running.map((member) => member.rings.length),
      rings,
    );
    ok(network.allAlive());
    equal(network.running.filter(({ membership }) => membership.phase !== 'member').length, 0);
  });
}
