/** The accelerator in front of an origin, as one process, with the client that the suite uses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, Child } from './child.ts';
import { freePort } from './free-port.ts';
import type { StartedOrigin, StartedProcess } from './started-origin.ts';

const program = join(import.meta.dirname, '../../../server/bin/s3-accelerator.mjs');
const credentials = {
  accessKeyId: 'suite-identity',
  secretAccessKey: 'suite-credential-for-the-gateway',
} as const;

export interface Accelerator extends StartedProcess {
  /** How many reads of blocks its disk has answered. */
  blocksFromDisk(): Promise<number>;
}

/** Starts it with the given room for blocks. @throws with its last words when it isn't ready in time */
export async function startAccelerator(
  origin: StartedOrigin,
  capacity = '256MiB',
): Promise<Accelerator> {
  const folder = mkdtempSync(join(tmpdir(), 's3-accelerator-conformance-'));
  const [port, admin] = [await freePort(), await freePort()];
  const file = join(folder, 'config.toml');
  writeFileSync(file, configuration(origin, { folder, capacity, port, admin }));
  const child = new Child('s3-accelerator', [process.execPath, program, file]);
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await child.until(() => answers(`http://127.0.0.1:${admin}/readyz`, true));
  } catch (error) {
    await stop();
    throw error;
  }
  const blocksFromDisk = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
    const line = /^s3accel_node_block_reads_total\{source="disk"\} (\d+)$/m.exec(text);
    if (line === null) throw new Error('the metrics tell no reads from disk');
    return Number(line[1]);
  };
  const { pid } = child;
  const endpoint = `http://127.0.0.1:${port}`;
  return { ...origin, endpoint, credentials, pid, stop, blocksFromDisk };
}

interface Place {
  readonly folder: string;
  readonly capacity: string;
  readonly port: number;
  readonly admin: number;
}

function configuration(
  { checksumTrailers, credentials: keys, endpoint, region }: StartedOrigin,
  { admin, capacity, folder, port }: Place,
): string {
  return `[origin]
endpoint = "${endpoint}"
region = "${region}"
access_key_id = "${keys.accessKeyId}"
secret_access_key = "${keys.secretAccessKey}"
checksum_trailers = ${checksumTrailers}

[node]
id = 0
data_dir = "${folder}/data"

[cache]
capacity_bytes = "${capacity}"

[gateway]
listen = "127.0.0.1:${port}"
domains = ["localhost"]

[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]

[admin]
listen = "127.0.0.1:${admin}"
`;
}
