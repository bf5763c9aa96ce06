/** Clients that leave at every moment of a request, for tests that count what they leave behind. */
import { RawConnection } from './raw-connection.ts';
import type { Rig } from './rig.ts';
import { getOf } from './s3-client.ts';
import { pathOf } from './sign.ts';
import { version, warm } from './versions.ts';

const mib = 1 << 20;
const atATime = 32;

let keys = 0;
/** A key that nothing has read yet, however often these run. */
const coldKey = (): string => `cold-${++keys}`;

/** Runs `one` so many times, some at a time. */
async function many(count: number, one: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

/** Some close as they should, some reset the connection. */
function leave(connection: RawConnection, index: number): void {
  if (index % 2 === 0) connection.close();
  else connection.reset();
}

async function beforeFirstByte(rig: Rig, count: number): Promise<void> {
  rig.s3.put('bucket', 'warm', version('warm', mib));
  await warm(rig.client, 'bucket', 'warm');
  await many(count, async (index) => {
    // Every third asks for a key of its own that nobody has read: its fetch has just begun.
    const key = index % 3 === 0 ? coldKey() : 'warm';
    if (key !== 'warm') rig.s3.putSynthetic('bucket', key, 200_000);
    const connection = await rig.client.begin(getOf('bucket', key));
    if (index % 4 === 0) await new Promise(setImmediate);
    leave(connection, index);
  });
}

async function whileOthersWait(rig: Rig, count: number): Promise<void> {
  for (let round = 0; round < count / 50; round++) {
    const key = coldKey();
    const bytes = version(key, mib);
    rig.s3.put('bucket', key, bytes);
    const hold = rig.s3.faults.hold({ key });
    const stays = rig.client.get('bucket', key);
    await hold.arrived;
    await many(50, async (index) => leave(await rig.client.begin(getOf('bucket', key)), index));
    hold.release();
    const { body } = await stays;
    if (!body.equals(bytes)) throw new Error('the one that stayed got something else');
  }
}

async function inTheBody(rig: Rig, count: number): Promise<void> {
  rig.s3.put('bucket', 'long', version('long', 5 * mib));
  await warm(rig.client, 'bucket', 'long');
  await many(count, async (index) => {
    const key = index % 20 === 0 ? coldKey() : 'long';
    if (key !== 'long') rig.s3.putSynthetic('bucket', key, 5 * mib);
    const connection = await rig.client.begin(getOf('bucket', key));
    await connection.answer({ stopAfter: 1 + ((index * 9973) % (4 * mib)) });
    leave(connection, index);
  });
}

async function inTheHead(rig: Rig, count: number): Promise<void> {
  const request = rig.client.bytesOf(getOf('bucket', 'any'));
  await many(count, async (index) => {
    const connection = await RawConnection.open(rig.client.port);
    connection.write(request.subarray(0, index % request.length));
    if (index % 4 === 0) await new Promise(setImmediate);
    leave(connection, index);
  });
}

async function inAnUpload(rig: Rig, count: number): Promise<void> {
  const body = version('upload', 300_000);
  await many(count, async (index) => {
    const target = pathOf('bucket', `upload-${index % 20}`);
    const request = rig.client.bytesOf({ method: 'PUT', target, body });
    const connection = await RawConnection.open(rig.client.port);
    connection.write(request.subarray(0, request.length - 1 - ((index * 7919) % body.length)));
    await new Promise(setImmediate);
    leave(connection, index);
  });
  for (let index = 0; index < 20; index++) {
    if (rig.s3.get('bucket', `upload-${index}`) !== null) {
      throw new Error('an upload that was broken off became an object');
    }
  }
}

async function inAPassedAnswer(rig: Rig, count: number): Promise<void> {
  rig.s3.put('bucket', 'passed', version('passed', 4 * mib));
  await many(count, async (index) => {
    const target = `${pathOf('bucket', 'passed')}?versionId=null`;
    const connection = await rig.client.begin({ method: 'GET', target });
    await connection.answer({ stopAfter: 1 + ((index * 9973) % (3 * mib)) });
    leave(connection, index);
  });
}

export const abandonments: readonly {
  readonly what: string;
  /** How many of them a quick test can afford. */
  readonly quickly: number;
  readonly run: (rig: Rig, count: number) => Promise<void>;
}[] = [
  { what: 'before the first byte', quickly: 1000, run: beforeFirstByte },
  { what: 'while others wait for the same fetch', quickly: 1000, run: whileOthersWait },
  { what: 'in the middle of an answer', quickly: 100, run: inTheBody },
  { what: 'in the middle of their head', quickly: 1000, run: inTheHead },
  { what: 'in the middle of an upload', quickly: 1000, run: inAnUpload },
  { what: 'in the middle of an answer that passes through', quickly: 150, run: inAPassedAnswer },
];
