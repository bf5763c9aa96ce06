// Clients that hold unread answers while the slots those came from are evicted and filled with other objects. The kernel may still
// hold pages of the slab for them: each client gets exactly the bytes that it was promised, of every size class, over one hop and
// two, and on a file system without O_DIRECT too.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { SizeClasses } from '@s3-accelerator/core/store/size-classes.ts';
import type { ClusterOptions } from '../testing/programs.ts';
import type { RawConnection } from '../testing/raw-connection.ts';
import { arrangements, assertNothingInUse, startRig, until, type Rig } from '../testing/rig.ts';
import { getOf } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const mib = 1 << 20;

const classes = new SizeClasses(mib).slotBytes;
/** Of every size class, its largest block and one a bit shorter. */
const sizesOfClasses = classes.flatMap((each) => [each, each - 1000]);
/** Answers of several slots. */
const largerSizes = [2 * mib + 100_000, 4 * mib];
const sizes = [...sizesOfClasses, ...largerSizes];

interface Held {
  readonly connection: RawConnection;
  readonly key: string;
  readonly bytes: Buffer;
}

/** Asks for stored objects of all sizes and reads none of the answers. */
async function holdAnswers(rig: Rig): Promise<Held[]> {
  const held: Held[] = [];
  for (const size of sizes) {
    const key = `held-${size}`;
    const bytes = version(key, size);
    rig.s3.put('bucket', key, bytes);
    assert.equal((await rig.client.get('bucket', key)).status, 200);
    held.push({ connection: await rig.client.begin(getOf('bucket', key)), key, bytes });
  }
  await until('what was asked for to be sent', async () => {
    return (await rig.cluster.metric('node', 's3accel_node_slots_reserved')) === 0;
  });
  return held;
}

/** Reads other objects of the same sizes, often enough that they displace everything else. */
async function displace(rig: Rig, bytesInAll: number): Promise<void> {
  const before = await rig.cluster.metric('node', 's3accel_node_evictions_total');
  let read = 0;
  for (let round = 0; read < bytesInAll; round++) {
    await Promise.all(
      sizes.map(async (size) => {
        const key = `other-${round}-${size}`;
        rig.s3.put('bucket', key, Buffer.alloc(size, round + 1));
        for (let time = 0; time < 2; time++) {
          const { body } = await rig.client.get('bucket', key);
          assert.ok(body.length === size && body.at(-1) === ((round + 1) & 0xff));
        }
        rig.s3.delete('bucket', key);
        read += size;
      }),
    );
  }
  const evicted = (await rig.cluster.metric('node', 's3accel_node_evictions_total')) - before;
  assert.ok(evicted > 100, `only ${evicted} blocks made room`);
}

async function assertHeldAnswersSurvive(
  options: Omit<ClusterOptions, 'originPort'>,
): Promise<void> {
  const rig = await startRig({
    ...options,
    capacity: '64MiB',
    cache: '[cache.default_policy]\nimmutable = true\nadmit_on_first_read = true',
  });
  try {
    const held = await holdAnswers(rig);
    await displace(rig, 130 * mib);
    for (const { connection, key, bytes } of held) {
      const { status, body, isCut } = await connection.answer();
      assert.equal(status, 200);
      assert.ok(!isCut && body.equals(bytes), `${key} has bytes of something else`);
      connection.close();
    }
    rig.s3.traffic.clear();
    for (const { key, bytes } of held) {
      assert.ok((await rig.client.get('bucket', key)).body.equals(bytes));
    }
    const fetched = new Set(rig.s3.traffic.log.map(({ key }) => key));
    const stayed = classes.filter((each) => {
      return !fetched.has(`held-${each}`) && !fetched.has(`held-${each - 1000}`);
    });
    assert.deepEqual(stayed, [], 'classes whose slots were never given to other objects');
    await assertNothingInUse(rig.cluster);
  } finally {
    await rig.stop();
  }
}

for (const { name, processes } of arrangements) {
  test(`unread answers outlive their slots (${name})`, () =>
    assertHeldAnswersSurvive({ processes }));
}

test('unread answers outlive their slots on a file system without O_DIRECT', async () => {
  const memory = '/dev/shm';
  assert.ok(existsSync(memory), `${memory} is missing: this test needs a tmpfs there`);
  await assertHeldAnswersSurvive({ processes: 1, root: memory });
});
