/** Gossip over real sockets on the loopback address, its intervals cut to a fraction. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import type { Conflict } from '@s3-accelerator/core/membership/effects.ts';
import { defaultTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { Member, Ring } from '@s3-accelerator/core/ring.ts';
import { Secret } from '../config/secret.ts';
import { createLog, FaultLog } from '../log.ts';
import { gossipKey } from './gossip-key.ts';
import { GossipSocket } from './gossip-socket.ts';
import { Gossip } from './gossip.ts';

const log = createLog('silent');
const faults = new FaultLog(log);
const now = (): number => performance.now();
const timing = {
  ...defaultTiming,
  probeMs: 60,
  ackMs: 25,
  newsMs: 10,
  graceMs: 400,
  retryMs: 100,
  pullMs: 50,
  settleMs: 20,
  joinMs: 30,
  joinPatienceMs: 150,
  claimMs: 90,
};
/** For tests in which nobody may pass for dead, for alone or for gone because the machine had no time for others. */
const patient = { ...timing, probeMs: 1000, ackMs: 500, joinPatienceMs: 1500, claimMs: 1500 };
const secret = gossipKey(new Secret('a long and random secret'));

interface Process {
  readonly gossip: Gossip;
  readonly socket: GossipSocket;
  readonly self: Member;
  readonly rings: Ring[];
  readonly conflicts: Conflict[];
}

const openSocket = (key = secret, port = 0): Promise<GossipSocket> =>
  GossipSocket.open({ listen: { host: '127.0.0.1', port }, key, faults, now });

function startOn(
  socket: GossipSocket,
  self: Member,
  seeds: readonly Member[],
  pace = timing,
): Process {
  const rings: Ring[] = [];
  const conflicts: Conflict[] = [];
  const events = {
    joined: (): void => undefined,
    ringChanged: (ring: Ring): void => void rings.push(ring),
    memberChanged: (): void => undefined,
    mustStop: (conflict: Conflict): void => void conflicts.push(conflict),
  };
  const gossip = new Gossip({ socket, self, seeds, timing: pace, events, log, now });
  return { gossip, socket, self, rings, conflicts };
}

/** Processes of one configuration, each with a socket of its own. */
async function startAll(context: TestContext, count: number, pace = timing): Promise<Process[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket()));
  const nodes = sockets.map((socket, nodeId) => ({
    nodeId,
    weight: 1,
    address: `127.0.0.1:${socket.port}`,
  }));
  const processes = sockets.map((socket, nodeId) => startOn(socket, nodes[nodeId]!, nodes, pace));
  context.after(() => Promise.all(processes.map(({ gossip }) => stopOnce(gossip))));
  return processes;
}

const stopped = new Set<Gossip>();

async function stopOnce(gossip: Gossip): Promise<void> {
  if (stopped.has(gossip)) return;
  stopped.add(gossip);
  await gossip.stop();
}

const membersOf = (ring: Ring | null): string =>
  ring?.members.map(({ nodeId }) => nodeId).join() ?? '';

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = now() + 20_000;
  while (!holds()) {
    assert.ok(now() < end, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const agree = (processes: readonly Process[], members: string): boolean =>
  processes.every(
    ({ gossip: { ring } }) =>
      membersOf(ring) === members && ring?.version === processes[0]!.gossip.ring?.version,
  );

test('three processes agree, one that stops loses its place after the grace and gets it back', async (context) => {
  const all = await startAll(context, 3);
  await until('one ring', () => agree(all, '0,1,2'));
  const version = all[0]!.gossip.ring!.version;
  const [one, two, three] = all as [Process, Process, Process];

  await stopOnce(three.gossip);
  await until('known as down', () => one.gossip.statusOf(2) === 'down');
  assert.equal(one.gossip.ring?.version, version, 'within the grace the ring stays');
  await until('out of the ring', () => agree([one, two], '0,1'));

  const socket = await openSocket(secret, Number(three.self.address.split(':')[1]));
  const back = startOn(socket, three.self, [one.self, three.self]);
  context.after(() => back.gossip.stop());
  await until('back in the ring', () => agree([one, two, back], '0,1,2'));
  assert.ok(back.gossip.ring!.version > version);
  assert.deepEqual(back.conflicts, []);
});

test('a process that leaves is out of the ring at once and answers until it stops', async (context) => {
  const all = await startAll(context, 3);
  await until('one ring', () => agree(all, '0,1,2'));
  all[1]!.gossip.leave();
  await until('out of the ring', () => agree(all, '0,2'));
  assert.equal(all[0]!.gossip.statusOf(1), 'alive');
  await stopOnce(all[1]!.gossip);
  await until('gone', () =>
    all.every(({ gossip }, id) => id === 1 || gossip.statusOf(1) === 'left'),
  );
});

test('a process with another’s id gives way', async (context) => {
  const all = await startAll(context, 2, patient);
  await until('one ring', () => agree(all, '0,1'));
  // Known from itself, not only from the configuration.
  const hasMet = ({ gossip }: Process): boolean =>
    gossip.records().every(({ incarnation }) => incarnation > 0);
  await until('both have met', () => all.every(hasMet));
  const socket = await openSocket();
  const self = { nodeId: 1, weight: 1, address: `127.0.0.1:${socket.port}` };
  const rival = startOn(socket, self, [all[0]!.self, self], patient);
  context.after(() => rival.gossip.stop());
  await until('the rival gives way', () => rival.conflicts.length > 0);
  assert.deepEqual(rival.conflicts, [
    { about: 'id', givesWay: true, rivalId: 1, rivalAddress: all[1]!.self.address },
  ]);
  assert.deepEqual(all[1]!.conflicts, []);
  assert.ok(agree(all, '0,1'));
});

test('with another secret there is no way in, and it is counted', async (context) => {
  const all = await startAll(context, 2);
  await until('one ring', () => agree(all, '0,1'));
  const socket = await openSocket(gossipKey(new Secret('not the same')));
  const self = { nodeId: 7, weight: 1, address: `127.0.0.1:${socket.port}` };
  const stranger = startOn(socket, self, [all[0]!.self, self]);
  context.after(() => stranger.gossip.stop());
  await until('the stranger is alone', () => membersOf(stranger.gossip.ring) === '0,7');
  await until('its packets are counted', () => all[0]!.socket.counters.badMacs > 0);
  assert.ok(agree(all, '0,1'));
  assert.equal(all[0]!.gossip.statusOf(7), null);
});

test('a flood of false packets and garbage is counted, checked only within budget, and harms nobody', async (context) => {
  const all = await startAll(context, 3);
  await until('one ring', () => agree(all, '0,1,2'));
  const { socket, self } = all[0]!;
  const flood = createSocket('udp4');
  context.after(() => {
    flood.close();
  });
  const port = Number(self.address.split(':')[1]);
  const looksReal = Uint8Array.from({ length: 120 }, (_, at) => [0x53, 0x47, 1, 0][at] ?? at);
  const garbage = Uint8Array.from({ length: 50 }, (_, at) => at);
  const { counters } = socket;
  const received = (): number => counters.badMacs + counters.unchecked + counters.foreign;
  // Batches that the socket's buffer holds, so that none is lost on the way.
  for (let batch = 0; batch < 60; batch++) {
    const before = received();
    for (let i = 0; i < 45; i++) flood.send(looksReal, port, '127.0.0.1');
    for (let i = 0; i < 5; i++) flood.send(garbage.subarray(0, i * 12), port, '127.0.0.1');
    await until('the batch has arrived', () => received() >= before + 50);
  }
  assert.equal(counters.foreign, 300);
  assert.equal(counters.badMacs + counters.unchecked, 2700);
  assert.ok(counters.unchecked > 0, 'the budget ended');
  assert.ok(counters.badMacs >= 1000, 'the budget was used');
  assert.ok(agree(all, '0,1,2'));
  for (const { rings } of all) assert.equal(rings.length, 1);
});

test('a member’s packets that are played back from other addresses share the budget of strangers', async (context) => {
  const recorder = createSocket('udp4');
  context.after(() => {
    recorder.close();
  });
  await new Promise<void>((resolve) => recorder.bind(0, '127.0.0.1', resolve));
  const recorded = new Promise<Buffer>((resolve) => {
    recorder.on('message', (datagram: Buffer) => {
      // One that joins says nothing of itself yet.
      if (process.gossip.ring !== null) resolve(datagram);
    });
  });
  const socket = await openSocket();
  const self = { nodeId: 0, weight: 1, address: `127.0.0.1:${socket.port}` };
  const elsewhere = { nodeId: 1, weight: 1, address: `127.0.0.1:${recorder.address().port}` };
  const process = startOn(socket, self, [self, elsewhere]);
  context.after(() => process.gossip.stop());
  // Its clock stands still: what each may send at once is all that there is.
  const listen = { host: '127.0.0.1', port: 0 };
  const target = await GossipSocket.open({ listen, key: secret, faults, now: () => 0 });
  context.after(() => target.close());

  const datagram = await recorded;
  const { counters, port } = target;
  const seen = (): number => counters.packetsReceived + counters.unchecked;
  for (let player = 0; player < 30; player++) {
    const copies = createSocket('udp4');
    const before = seen();
    for (let i = 0; i < 50; i++) copies.send(datagram, port, '127.0.0.1');
    await until('the batch has arrived', () => seen() >= before + 50);
    copies.close();
  }
  assert.deepEqual([counters.packetsReceived, counters.unchecked], [1000, 500]);
});

test('an address that is taken is refused with the system’s reason', async () => {
  const socket = await openSocket();
  await assert.rejects(openSocket(secret, socket.port), { code: 'EADDRINUSE' });
  await socket.close();
});
