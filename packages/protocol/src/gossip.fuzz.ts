/**
 * Gossip packets and ring messages against arbitrary bytes: no decoder throws or reads beyond the end, and what one accepts
 * encodes back to the same bytes. Runs about two seconds; FUZZ_SECONDS makes it longer, FUZZ_SEED repeats a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import {
  memberStatuses,
  type MemberRecord,
} from '@s3-accelerator/core/membership/member-record.ts';
import {
  maxDatagramBytes,
  newPacket,
  packetKinds,
  type Packet,
} from '@s3-accelerator/core/membership/packet.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { frameHeaderBytes } from './frame.ts';
import { decodeGossip, encodeGossip } from './gossip-packet.ts';
import { decodeRingAnswer, encodeRingAnswer } from './ring-message.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fff_ffff);
const prng = new Prng(seed, 8);

function anyRecord(): MemberRecord {
  return {
    nodeId: prng.u32(),
    incarnation: prng.below(100),
    status: memberStatuses[prng.below(4)]!,
    run: prng.u32(),
    place: prng.below(100),
    weight: 1 + prng.below(5),
    address: `10.0.0.${prng.below(256)}:${prng.below(65_536)}`,
  };
}

function anyPacket(): Packet {
  const kind = packetKinds[prng.below(packetKinds.length)]!;
  return {
    kind,
    sender: prng.u32(),
    run: prng.u32(),
    isMember: prng.chance(0.5),
    sequence: prng.u32(),
    subject: prng.u32(),
    isLast: kind === 'page' && prng.chance(0.5),
    digest: prng.u32(),
    updates: Array.from({ length: prng.below(5) }, anyRecord),
  };
}

/** A ring answer's payload, unharmed. */
function anyRings(): Uint8Array {
  const ids = [1, 2, 3, 70, 0xffff_ffff];
  const rings = Array.from({ length: prng.below(4) }, (_, index) => {
    const members = ids
      .filter(() => prng.chance(0.7))
      .map((nodeId) => ({ nodeId, weight: 1 + prng.below(2), address: `h:${prng.below(2)}` }));
    const replacedForMs = index === 0 ? 0 : prng.below(1000);
    return { ring: new Ring(1000 - index, members), replacedForMs };
  });
  return encodeRingAnswer(0, rings).slice(frameHeaderBytes);
}

/** Flips, cuts, stretches, up to three times. */
function harmed(bytes: Uint8Array): Uint8Array {
  let result = bytes;
  for (let count = prng.below(4); count > 0; count--) {
    if (result.length === 0) return result;
    const at = prng.below(result.length);
    const choice = prng.below(5);
    if (choice === 0) result[at] = prng.below(256);
    else if (choice === 1) result[at] = result[at]! ^ (1 << prng.below(8));
    else if (choice === 2) result[at] = [0, 1, 0x7f, 0x80, 0xff][prng.below(5)]!;
    else if (choice === 3) result = result.slice(0, at);
    else result = Uint8Array.from([...result, ...Array.from({ length: prng.below(20) }, () => 0)]);
  }
  return result;
}

/** Runs until time is up; `attempt` says whether its bytes were accepted. */
function fuzz(attempt: () => boolean): void {
  const until = performance.now() + (seconds * 1000) / 2;
  let attempts = 0;
  let accepted = 0;
  while (performance.now() < until) {
    attempts += 1;
    if (attempt()) accepted += 1;
  }
  assert.ok(accepted > attempts / 10, `only ${accepted} of ${attempts} were accepted`);
}

test(`no packet breaks the decoder (seed ${seed})`, () => {
  const room = new Uint8Array(maxDatagramBytes);
  const packet = newPacket();
  fuzz(() => {
    const bytes = harmed(room.slice(0, encodeGossip(room, anyPacket())));
    if (decodeGossip(bytes, bytes.length, packet) !== null) return false;
    const length = encodeGossip(room, packet);
    assert.deepEqual(room.subarray(0, length), bytes);
    return true;
  });
});

test(`no ring answer breaks the decoder (seed ${seed})`, () => {
  fuzz(() => {
    const bytes = harmed(anyRings());
    const rings = decodeRingAnswer(bytes, 0, bytes.length);
    if (typeof rings === 'string') return false;
    assert.deepEqual(encodeRingAnswer(0, rings).subarray(frameHeaderBytes), bytes);
    return true;
  });
});
