// Objects as large as S3 takes in one piece, in both directions: memory doesn't grow with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection } from '../testing/raw-connection.ts';
import {
  arrangements,
  assertNothingInUse,
  residentBytes,
  startRig,
  type Rig,
} from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
import { pathOf } from '../testing/sign.ts';
import { version } from '../testing/versions.ts';

const mib = 1 << 20;
const size = 5_000_000_000;
const timeout = 900_000;

/** Runs something and asserts that no process of the program grows by more than this meanwhile. @returns by how much one did */
async function assertSteadyMemory(
  rig: Rig,
  mostBytes: number,
  run: () => Promise<void>,
): Promise<number> {
  const pids = [rig.cluster.gateway.pid, rig.cluster.node.pid];
  const before = pids.map(residentBytes);
  let most = 0;
  const watch = setInterval(() => {
    for (const [index, pid] of pids.entries()) {
      most = Math.max(most, residentBytes(pid) - before[index]!);
    }
  }, 200);
  try {
    await run();
  } finally {
    clearInterval(watch);
  }
  assert.ok(most < mostBytes, `grown by ${most} bytes`);
  return most;
}

async function download(rig: Rig, key: string): Promise<void> {
  const connection = await rig.client.begin(getOf('bucket', key));
  let position = 0;
  // 64 KiB of every 500 MB are compared; sizes of pieces and their order are checked by the length and those places.
  const samples: { at: number; bytes: Buffer }[] = [];
  const onBody = (bytes: Buffer): void => {
    if (Math.floor(position / 5e8) !== Math.floor((position + bytes.length) / 5e8)) {
      samples.push({ at: position, bytes: Buffer.from(bytes) });
    }
    position += bytes.length;
  };
  const answer = await connection.answer({ onBody });
  connection.close();
  assert.equal(answer.status, 200);
  assert.equal(answer.header('content-length'), String(size));
  assert.equal(position, size);
  assert.ok(samples.length >= 9);
  for (const { at, bytes } of samples) {
    const range = `bytes=${at}-${at + bytes.length - 1}`;
    assert.ok((await rig.direct.get('bucket', key, range)).body.equals(bytes), `bytes at ${at}`);
  }
}

async function upload(rig: Rig, key: string): Promise<void> {
  const connection = await RawConnection.open(rig.client.port);
  const { socket } = connection;
  connection.write(
    rig.client.bytesOf({
      method: 'PUT',
      target: pathOf('discard', key),
      headers: [['content-length', String(size)]],
      payload: 'UNSIGNED-PAYLOAD',
    }),
  );
  const piece = version('piece', mib);
  for (let left = size; left > 0; left -= piece.length) {
    const isFull = !socket.write(piece.subarray(0, Math.min(left, piece.length)));
    while (isFull && socket.writableNeedDrain) await sleep(1);
  }
  const answer = await connection.answer();
  connection.close();
  assert.equal(answer.status, 200, answer.body.toString());
  const head = await rig.direct.head('discard', key);
  assert.equal(head.header('content-length'), String(size));
}

for (const { name, processes } of arrangements) {
  test(
    `5 GB are read and written through ${name} in constant memory`,
    { timeout },
    async (context) => {
      const rig = await startRig({ processes, cache: '[cache.default_policy]\nimmutable = true' });
      try {
        rig.s3.createBucket('discard', { discard: true });
        rig.s3.putSynthetic('bucket', 'large', size);
        // Heaps and buffers first grow to what they need for anything at all.
        await rig.client.get('bucket', 'large', 'bytes=0-99999999');
        const grown = [
          await assertSteadyMemory(rig, 400 * mib, () => download(rig, 'large')),
          await assertSteadyMemory(rig, 400 * mib, () => download(rig, 'large')),
          await assertSteadyMemory(rig, 400 * mib, () => upload(rig, 'upload')),
        ];
        context.diagnostic(`memory grew by ${grown.join(', ')} bytes at most`);
        await assertNothingInUse(rig.cluster);
      } finally {
        await rig.stop();
      }
    },
  );
}
