/**
 * Random schedules over one gateway and three to five nodes: reads of every kind, writes through the gateway and behind its back,
 * clients that leave or stall, nodes that go, crash or restart, rings that change and that everybody hears of in his own time,
 * previous owners that are silent or break off, hot keys whose leases and reports are late or lost, S3 that fails or cuts bodies short, disks that fail and forget, little
 * memory. Every answer is judged byte for byte against what S3 held; afterwards nothing may be left of anything.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Prng } from '../base/prng.ts';
import { noPreconditions } from '../s3/preconditions.ts';
import type { RangeRequest } from '../s3/byte-range.ts';
import { judge } from './judge.ts';
import { blockBytes, chunkBytes, Rig, type RigOptions } from './rig.ts';
import type { Fault } from './s3-model.ts';
import type { TestClient } from './test-client.ts';
import { diskFails } from './test-disk.ts';
import type { TestNode } from './test-node.ts';

interface Schedule extends RigOptions {
  readonly seed: number;
  readonly steps: number;
  readonly faultPercent: number;
  readonly behindPercent: number;
  readonly unknownPercent: number;
  readonly crashPercent: number;
  readonly diskFaultPercent: number;
  readonly ringPercent: number;
  readonly lostMessagePercent: number;
}

const keys = ['a', 'b', 'c'];
const sizes = [0, 1, 700, blockBytes, blockBytes + 1, 3 * blockBytes + 5, 2 * chunkBytes + 9];
const largeSize = 5 * chunkBytes + 2 * blockBytes + 3;

class Run {
  readonly rig: Rig;
  readonly schedule: Schedule;
  readonly prng: Prng;
  readonly stalled: TestClient[] = [];
  /** The last write of each key through the gateway that surely took effect. */
  readonly writtenAt = new Map<string, number>();

  constructor(schedule: Schedule) {
    this.schedule = schedule;
    this.rig = new Rig(schedule);
    this.prng = new Prng(schedule.seed, 77);
    this.rig.s3.faultOf = () => this.#fault();
    for (const key of keys) this.rig.s3.put(0, 'b', key, this.#size());
  }

  /** Runs the schedule; throws on a wrong answer or a leak. */
  play(): void {
    for (let i = 0; i < this.schedule.steps; i++) {
      this.#act();
      const events = this.prng.below(12);
      for (let j = 0; j < events && this.rig.step(); j++);
    }
    this.rig.s3.faultOf = () => null;
    this.rig.losesMessages = false;
    for (const node of this.rig.nodes) {
      node.isDown = false;
      node.isSilent = false;
      node.cutsHandovers = false;
      node.disk.heal();
    }
    // All of them again: one alone may be too small for what it is asked.
    this.rig.changeRing(this.rig.nodes.map((_, nodeId) => nodeId));
    for (const client of this.stalled) if (client.isOpen) this.rig.resume(client);
    this.rig.assertNothingLeft();
    this.#judgeAll();
    for (const key of keys) {
      const client = this.rig.get(key);
      assert.ok(client.end === 'finished' || client.end === 'originError', client.end);
    }
    this.#judgeAll();
    this.rig.assertNothingLeft();
  }

  #act(): void {
    const { rig, prng } = this;
    const key = keys[prng.below(keys.length)]!;
    const dice = prng.below(100);
    if (dice < 70) this.#read(key);
    else if (dice < 78) this.#write(key);
    else if (dice < 78 + this.schedule.behindPercent) this.#writeBehind(key);
    else if (dice < 90) this.#leave();
    else if (dice < 94) this.#resume();
    else if (dice < 97) rig.pass(prng.below(50));
    else rig.pass(prng.below(8000));
    if (prng.below(100) < this.schedule.ringPercent) this.#changeRing();
    rig.losesMessages = prng.below(100) < this.schedule.lostMessagePercent;
    for (const node of rig.nodes) this.#disturb(node);
  }

  #changeRing(): void {
    const { rig, prng } = this;
    const members = rig.nodes.map((_, nodeId) => nodeId).filter(() => prng.chance(0.7));
    if (members.length > 0) rig.changeRing(members);
  }

  #disturb(node: TestNode): void {
    const { prng, schedule } = this;
    const isDue = (percent: number): boolean => prng.below(100) < percent;
    if (prng.chance(0.02)) node.isDown = !node.isDown;
    if (isDue(schedule.ringPercent)) {
      node.isSilent = prng.chance(0.1);
      node.cutsHandovers = prng.chance(0.2);
    }
    node.disk.nextWriteErrno = isDue(schedule.diskFaultPercent) ? diskFails : 0;
    node.disk.nextSlabSyncErrno = isDue(schedule.diskFaultPercent) ? diskFails : 0;
    node.disk.nextTableSyncErrno = isDue(schedule.diskFaultPercent) ? diskFails : 0;
    if (!isDue(schedule.crashPercent)) return;
    if (prng.chance(0.5)) {
      node.crash();
    } else if (prng.chance(0.5)) {
      node.disk.heal();
      node.restart();
    } else {
      node.truncate(prng.below(node.store.slabBytes));
    }
  }

  #read(key: string): void {
    const { rig, prng } = this;
    const etag = rig.s3.history('b', key).at(-1)!.etag;
    const ifNoneMatch = prng.chance(0.1) ? etag : null;
    const client = rig.ask(key, {
      head: prng.chance(0.1),
      range: this.#range(),
      conditions: ifNoneMatch === null ? noPreconditions : { ...noPreconditions, ifNoneMatch },
    });
    if (prng.chance(0.1) && client.isOpen) {
      client.isStalled = true;
      this.stalled.push(client);
    }
  }

  #write(key: string): void {
    const { rig, prng } = this;
    const passesHome = prng.chance(0.5);
    rig.startWrite(key, passesHome);
    const isUnknown = prng.below(100) < this.schedule.unknownPercent;
    rig.queue.in(rig.delayMs(), () => {
      if (prng.chance(0.15)) rig.s3.delete(rig.queue.now, 'b', key);
      else rig.s3.put(rig.queue.now, 'b', key, this.#size());
      if (isUnknown) return;
      rig.queue.in(rig.delayMs(), () => {
        rig.finishWrite(key, 'done', passesHome);
        this.writtenAt.set(`${key}@${rig.queue.now}`, rig.queue.now);
      });
    });
    if (isUnknown) rig.finishWrite(key, 'unknown', passesHome);
  }

  #writeBehind(key: string): void {
    this.rig.s3.put(this.rig.queue.now, 'b', key, this.#size());
  }

  #leave(): void {
    const open = [...this.rig.clients.values()].filter(({ isOpen }) => isOpen);
    if (open.length > 0) this.rig.leave(open[this.prng.below(open.length)]!);
  }

  #resume(): void {
    const client = this.stalled.pop();
    if (client?.isOpen === true) this.rig.resume(client);
  }

  #size(): number {
    if (this.prng.chance(0.05)) return largeSize;
    return sizes[this.prng.below(sizes.length)]!;
  }

  #range(): RangeRequest {
    const { prng } = this;
    const first = prng.below(prng.chance(0.5) ? blockBytes : 3 * chunkBytes);
    switch (prng.below(5)) {
      case 0:
        return { kind: 'bounded', first, last: first + prng.below(3 * blockBytes) };
      case 1:
        return { kind: 'from', first, last: 0 };
      case 2:
        return { kind: 'suffix', first: prng.below(3 * blockBytes), last: 0 };
      default:
        return { kind: 'none', first: 0, last: 0 };
    }
  }

  #fault(): Fault | null {
    const { prng } = this;
    if (prng.below(100) >= this.schedule.faultPercent) return null;
    switch (prng.below(7)) {
      case 0:
        return { kind: 'status', status: 500, code: 'InternalError' };
      case 1:
        return { kind: 'unreachable' };
      case 2:
        return { kind: 'ignoresIfMatch' };
      case 3:
        return { kind: 'wrongRange' };
      case 4:
        return { kind: 'ignoresRange' };
      default:
        return { kind: 'short', bytes: prng.below(2 * blockBytes) };
    }
  }

  #judgeAll(): void {
    const { rig } = this;
    for (const client of rig.clients.values()) {
      // An answer may be as old as the bucket allows, but never older than this gateway's last write.
      let notBefore = client.startedAt - (rig.policy.immutable ? Infinity : rig.policy.ttlMs);
      for (const [name, at] of this.writtenAt) {
        if (name.startsWith(`${client.request.key}@`) && at <= client.startedAt) {
          notBefore = Math.max(notBefore, at);
        }
      }
      const complaint = judge(rig.s3, client, notBefore);
      assert.equal(complaint, '', `client ${client.exchange} of ${client.request.key}`);
    }
  }
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000_000 }),
  steps: fc.integer({ min: 1, max: 150 }),
  faultPercent: fc.constantFrom(0, 0, 5, 30),
  behindPercent: fc.constantFrom(0, 4, 8),
  unknownPercent: fc.constantFrom(0, 0, 30),
  policy: fc.record({
    immutable: fc.constant(false),
    ttlMs: fc.constantFrom(0, 20, 1000, 60_000),
    admitOnFirstRead: fc.boolean(),
  }),
  gatewayLimits: fc.record({
    gatewayTtlMs: fc.constantFrom(5, 1000),
    metadataEntries: fc.constantFrom(1, 1000),
    maxReads: fc.constantFrom(8, 256),
    readTimeoutMs: fc.constantFrom(20, 30_000),
  }),
  writeSlots: fc.constantFrom(1, 1024),
  nodeLimits: fc.record({
    maxFetches: fc.constantFrom(2, 6, 32),
    maxReaders: fc.constantFrom(4, 256),
    fillBudgetBytes: fc.constantFrom(1, 3, 64).map((blocks) => blocks * blockBytes),
    metadataEntries: fc.constantFrom(1, 1000),
    maxVerifications: fc.constantFrom(1, 64),
    maxUnrecorded: fc.constantFrom(2, 4096),
    maxClears: fc.constantFrom(2, 4096),
    rowsPerSync: fc.constantFrom(1, 4096),
    slabSyncDelayMs: fc.constantFrom(0, 30, 200),
    scrubIntervalMs: fc.constantFrom(100_000, Infinity),
    fallbackWindowMs: fc.constantFrom(0, 500, 600_000),
    peerFetchTimeoutMs: fc.constantFrom(5, 500),
    standInMs: fc.constantFrom(50, 60_000),
    hotThreshold: fc.constantFrom(2, 8, Infinity),
    hotReplicas: fc.constantFrom(1, 2),
    leaseMs: fc.constantFrom(20, 300, 10_000),
    maxLeases: fc.constantFrom(1, 1024),
  }),
  crashPercent: fc.constantFrom(0, 2, 10),
  diskFaultPercent: fc.constantFrom(0, 5, 30),
  ringPercent: fc.constantFrom(0, 3, 15),
  lostMessagePercent: fc.constantFrom(0, 0, 30),
  spareNodes: fc.constantFrom(0, 2),
  storeBytes: fc.constantFrom(0.125, 1, 8).map((mib) => mib * 1024 * 1024),
});

test('whatever the schedule, every answer is one that S3 could have given, and nothing leaks', () => {
  fc.assert(
    fc.property(schedules, (schedule) => new Run(schedule).play()),
    { numRuns: Number(process.env.MACHINE_RUNS ?? 150) },
  );
});
