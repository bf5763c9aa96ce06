// What the death of a node costs readers, in time: of its process, which the network tells at once, and of its host, whose packets just
// stop. The figures are printed; what is asserted leaves room for a machine with other things to do. As long as nobody is dead, reads are
// watched for equally long: virtual cables drop packets now and then, and a read that waits for one again waits for no node.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, test } from 'node:test';
import { credentials } from '../testing/programs.ts';
import { NetworkCluster } from '../testing/network-cluster.ts';
import { testsInOwnNetwork } from '../testing/own-network.ts';
import { S3Client } from '../testing/s3-client.ts';

/** From the request to the first byte, at S3. */
const s3DelayMs = 50;
const noticedWithinMs = 2000;
const promisedMs = 10;
/** For scheduling on a machine that does more than this: still less than any timer by which a read waits for a node. */
const noiseMs = 400;

const deaths: readonly { what: string; die: (cluster: NetworkCluster) => Promise<unknown> }[] = [
  { what: 'a process that is killed', die: ({ nodes }) => nodes[1]!.end('SIGKILL') },
  {
    what: 'a host that is unplugged',
    die: (cluster) => {
      for (const other of [0, 2, cluster.gatewayHost]) cluster.cut(1, other, true);
      return Promise.resolve();
    },
  },
];

testsInOwnNetwork(import.meta.filename, () => {
  for (const { what, die } of deaths) {
    test(`${what} costs no read, and after 2 s none waits for it`, async () => {
      const cluster = await NetworkCluster.start(3, { policy: 'immutable = true' });
      after(() => cluster.stop());
      await cluster.readsThrough((load) => cluster.furtherReads(load, 100));
      cluster.s3.faults.set({ delayMs: s3DelayMs });

      const atS3: number[] = [];
      const s3 = new S3Client(cluster.s3.port, credentials);
      await cluster.readsThrough(
        (load) => cluster.furtherReads(load, 200),
        (_askedAt, tookMs) => atS3.push(tookMs),
        s3,
      );

      let diedAt = Infinity;
      const reads: { afterMs: number; tookMs: number }[] = [];
      await cluster.readsThrough(
        async (load) => {
          await sleep(2 * noticedWithinMs);
          diedAt = performance.now();
          await die(cluster);
          await sleep(3 * noticedWithinMs);
          await cluster.furtherReads(load, 100);
        },
        (askedAt, tookMs) => reads.push({ afterMs: askedAt - diedAt, tookMs }),
      );
      const requests = cluster.s3.traffic.count();
      await cluster.readsThrough((load) => cluster.furtherReads(load, 64));
      assert.equal(cluster.s3.traffic.count(), requests, 'the hot set is warm again');

      const slowest = (took: readonly number[]): number => Math.round(Math.max(0, ...took));
      const tookIn = (isIn: (afterMs: number) => boolean): number[] =>
        reads.filter(({ afterMs }) => isIn(afterMs)).map(({ tookMs }) => tookMs);
      const of = (isIn: (afterMs: number) => boolean): number => slowest(tookIn(isIn));
      const p999 = (isIn: (afterMs: number) => boolean): number => {
        const took = tookIn(isIn).sort((a, b) => a - b);
        return Math.round(took[Math.floor(took.length * 0.999)] ?? 0);
      };
      const later = of((afterMs) => afterMs >= noticedWithinMs);
      console.log(
        `ℹ ${what}: slowest read straight from S3 ${slowest(atS3)} ms; through the cluster ` +
          `${of((afterMs) => afterMs < 0)} ms before (p99.9 ${p999((afterMs) => afterMs < 0)}), ` +
          `${of((afterMs) => afterMs >= -1000 && afterMs < noticedWithinMs)} ms within 2 s, ` +
          `${later} ms later (p99.9 ${p999((afterMs) => afterMs >= noticedWithinMs)})`,
      );
      assert.ok(later <= slowest(atS3) + promisedMs + noiseMs, `${later} ms`);
    });
  }
});
