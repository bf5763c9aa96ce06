/**
 * `node packages/conformance/src/uploads.ts`: how fast uploads are through the accelerator, beside the same ones straight to the
 * embedded S3, and how much memory the accelerator takes for them. The target is 90% of direct throughput at constant memory.
 *
 * Rounds take turns, so that a machine that is busy with something else is so for both. Each upload is signed with
 * UNSIGNED-PAYLOAD, as most clients do over TLS: hashing would be the client's own time.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startAccelerator } from './origins/accelerator.ts';
import { startMemoryS3 } from './origins/memory-s3.ts';
import type { StartedOrigin } from './origins/started-origin.ts';
import { sendSigned } from './signed-request.ts';
import { patternBytes } from './target.ts';

const bytesEach = 64 * 1024 * 1024;
const target = 0.9;

export interface UploadFigures {
  /** Medians over all rounds, in bytes a second. */
  readonly direct: number;
  readonly through: number;
  readonly ratio: number;
  /** The accelerator's resident memory before the first upload and at most after one. */
  readonly residentBefore: number;
  readonly residentMost: number;
}

/** Uploads `size` bytes in each round, `rounds` times by each way. @throws when one is refused */
export async function measureUploads(rounds: number, size = bytesEach): Promise<UploadFigures> {
  const origin = await startMemoryS3();
  try {
    const accelerator = await startAccelerator(origin);
    try {
      const body = patternBytes(size, 'upload');
      await upload(origin, { method: 'PUT', target: '/uploads', body: Buffer.alloc(0) });
      const put = (site: StartedOrigin): Promise<number> =>
        upload(site, { method: 'PUT', target: '/uploads/key', body });
      await put(origin);
      await put(accelerator);
      const residentBefore = residentBytes(accelerator.pid);
      const direct: number[] = [];
      const through: number[] = [];
      let residentMost = 0;
      for (let round = 0; round < rounds; round += 1) {
        direct.push(await put(origin));
        through.push(await put(accelerator));
        residentMost = Math.max(residentMost, residentBytes(accelerator.pid));
      }
      const rates = { direct: median(direct), through: median(through) };
      return { ...rates, ratio: rates.through / rates.direct, residentBefore, residentMost };
    } finally {
      await accelerator.stop();
    }
  } finally {
    await origin.stop();
  }
}

/** Bytes a second. */
async function upload(
  site: StartedOrigin,
  request: { method: string; target: string; body: Buffer },
): Promise<number> {
  const started = performance.now();
  const answer = await sendSigned(site, { ...request, form: 'unsigned' });
  if (answer.status !== 200) throw new Error(`an upload was answered ${answer.status}`);
  return (request.body.length * 1000) / (performance.now() - started);
}

function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });
  const figures = await measureUploads(Number(values.rounds));
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
  console.log(`direct   ${mb(figures.direct)} MB/s`);
  console.log(
    `through  ${mb(figures.through)} MB/s, ${(figures.ratio * 100).toFixed(0)}% (target ${target * 100}%)`,
  );
  console.log(
    `memory   ${mb(figures.residentBefore)} MB before, ${mb(figures.residentMost)} MB at most`,
  );
}
