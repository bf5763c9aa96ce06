/** The round trip of clients that move files: odd names, a small file, one in many parts; written, listed, read, replaced, removed. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeKey, sendSigned } from '../signed-request.ts';
import type { Site } from '../signed-request.ts';
import { assertSameBytes, patternBytes } from '../target.ts';
import type { FileClient, Workplace } from './real-client.ts';

const largeBytes = 200 * 1024 * 1024;
/** Below one client's prefix. */
const oddNames: readonly string[] = [
  'plain.txt',
  'deep/er/and/deeper.txt',
  'with space/and+plus.txt',
  'ümlaut/漢字 😀.bin',
  "quote's & (parens)!.txt",
  'percent%2Fand%20more',
  'hash#and=equals;semicolon,comma',
  'at@dollar$colon:.txt',
  'tilde~star*.txt',
  `long-${'x'.repeat(200)}`,
];

export interface RoundTrip {
  readonly client: FileClient;
  readonly workplace: Workplace;
  /** Where what was written is looked at without the cache. */
  readonly origin: Site;
  readonly prefix: string;
  readonly unnameable: ReadonlyMap<string, string>;
}

/** @throws AssertionError for the first difference */
export async function fileRoundTrip(trip: RoundTrip): Promise<void> {
  const { prefix, unnameable } = trip;
  const keys: string[] = [];
  for (const name of oddNames.filter((one) => !unnameable.has(one))) {
    const key = prefix + name;
    keys.push(key);
    await writeAndRead(trip, key, Buffer.from(`the bytes of ${name}`), 2);
  }
  const large = `${prefix}large file.bin`;
  await writeAndRead(trip, large, patternBytes(largeBytes, prefix), 3);
  await assertListed(trip, [...keys, large]);
  const [first = ''] = keys;
  await writeAndRead(trip, first, Buffer.from('replaced'), 1);
  for (const key of [...keys, large]) await trip.client.remove(key);
  await assertListed(trip, []);
}

async function writeAndRead(
  { client, origin, workplace: { bucket, folder } }: RoundTrip,
  key: string,
  bytes: Buffer,
  reads: number,
): Promise<void> {
  const from = join(folder, 'from');
  writeFileSync(from, bytes);
  await client.put(from, key);
  const target = `/${bucket}/${encodeKey(key)}`;
  const stored = await sendSigned(origin, { method: 'GET', target });
  assert.equal(stored.status, 200, `${key} at the origin`);
  assertSameBytes(stored.body, bytes, `${key} at the origin`);
  for (let read = 1; read <= reads; read += 1) {
    const to = join(folder, `to-${read}`);
    await client.get(key, to);
    assertSameBytes(readFileSync(to), bytes, `${key}, read ${read}`);
  }
}

async function assertListed({ client, prefix }: RoundTrip, keys: readonly string[]): Promise<void> {
  assert.deepEqual([...(await client.keys(prefix))].sort(), [...keys].sort());
}
