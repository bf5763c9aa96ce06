/**
 * `node packages/conformance/src/uploads.ts [--origin NAME] [--form FORM] [--rounds N] [--mebibytes N]`: how fast uploads are
 * through the accelerator, beside the same ones straight to the S3 behind it, what CPU time the accelerator spends on each MiB
 * of them, and how much memory. The target is 90% of direct throughput at constant memory.
 *
 * Rounds take turns, so that a machine that is busy with something else is so for both. Hashing, framing and signing are the
 * client's own work, done before the clock starts. The ratio depends on how many cores three programs share, and on how fast the
 * S3 is: the one in memory (`memory-s3`) takes bytes faster than any that keeps them, `radosgw` is a server that people run. The
 * CPU time a MiB depends on neither.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CpuMeter } from '@s3-accelerator/bench/machine/process-cpu.ts';
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';
import { startAccelerator } from './origins/accelerator.ts';
import { startableOrigins, startOrigin } from './origins/start-origin.ts';
import type { StartedOrigin, StartedProcess } from './origins/started-origin.ts';
import { sendAsSigned, signRequest } from './signed-request.ts';
import type { RawRequest } from './signed-request.ts';
import { patternBytes } from './target.ts';

const mebibyte = 1024 * 1024;
const target = 0.9;

/** How clients say what their body is: most over TLS leave it unsigned; current SDKs add a checksum as a trailer. */
export const uploadForms = ['unsigned', 'hash', 'signed-chunks', 'trailer'] as const;
export type UploadForm = (typeof uploadForms)[number];

export interface UploadFigures {
  /** Medians over all rounds, in bytes a second. */
  readonly direct: number;
  readonly through: number;
  readonly ratio: number;
  /** CPU microseconds of the accelerator's process a MiB of uploads through it. */
  readonly acceleratorCpu: number;
  /** The accelerator's resident memory before the first upload and at most after one. */
  readonly residentBefore: number;
  readonly residentMost: number;
}

/**
 * Uploads `size` bytes in each round, `rounds` times by each way.
 *
 * @throws when one is refused, or the origin doesn't start
 */
export async function measureUploads(
  rounds: number,
  size: number,
  form: UploadForm = 'unsigned',
  originName = 'memory-s3',
): Promise<UploadFigures> {
  const origin = await startOrigin(originName);
  try {
    const accelerator = await startAccelerator(origin);
    try {
      const body = patternBytes(size, 'upload');
      await upload(origin, { method: 'PUT', target: '/uploads' });
      const put = (site: StartedOrigin): Promise<number> =>
        upload(site, { method: 'PUT', target: '/uploads/key', ...inForm(form, body) });
      await put(origin);
      await put(accelerator);
      const residentBefore = residentBytes(accelerator);
      const direct: number[] = [];
      const through: number[] = [];
      let cpu = 0;
      let residentMost = 0;
      for (let round = 0; round < rounds; round += 1) {
        direct.push(await put(origin));
        const meter = new CpuMeter([accelerator.pid]);
        through.push(await put(accelerator));
        const [used = 0] = meter.used();
        cpu += used;
        residentMost = Math.max(residentMost, residentBytes(accelerator));
      }
      const rates = { direct: median(direct), through: median(through) };
      return {
        ...rates,
        ratio: rates.through / rates.direct,
        acceleratorCpu: (cpu * 1e6 * mebibyte) / (rounds * size),
        residentBefore,
        residentMost,
      };
    } finally {
      await accelerator.stop();
    }
  } finally {
    await origin.stop();
  }
}

function inForm(form: UploadForm, body: Buffer): Pick<RawRequest, 'body' | 'form' | 'trailer'> {
  switch (form) {
    case 'unsigned':
    case 'hash':
      return { body, form };
    case 'signed-chunks':
      return { body, form: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' };
    case 'trailer': {
      const checksum = createHash('sha256').update(body).digest('base64');
      const trailer = ['x-amz-checksum-sha256', checksum] as const;
      return { body, form: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', trailer };
    }
  }
}

/** Bytes a second. */
async function upload(site: StartedOrigin, request: RawRequest): Promise<number> {
  const signed = signRequest(site, request);
  const started = performance.now();
  const answer = await sendAsSigned(site, signed);
  if (answer.status !== 200) throw new Error(`an upload was answered ${answer.status}`);
  return (signed.body.length * 1000) / (performance.now() - started);
}

function residentBytes({ pid }: StartedProcess): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const usage = `Usage: node packages/conformance/src/uploads.ts [options]

  --origin NAME   the S3 behind the accelerator: ${startableOrigins.join(', ')} (memory-s3)
  --form FORM     how the body is sent: ${uploadForms.join(', ')} (unsigned)
  --rounds N      uploads by each way (15)
  --mebibytes N   size of each (64)
`;

interface WantedUploads {
  readonly form: UploadForm;
  readonly origin: string;
  readonly rounds: number;
  readonly size: number;
}

/** Ends the process when its arguments mean nothing. */
function wanted(): WantedUploads {
  try {
    const { values } = parseArgs({
      options: {
        origin: { type: 'string', default: 'memory-s3' },
        form: { type: 'string', default: 'unsigned' },
        rounds: { type: 'string', default: '15' },
        mebibytes: { type: 'string', default: '64' },
      },
    });
    const form = uploadForms.find((known) => known === values.form);
    if (form === undefined) throw new Error(`--form is one of ${uploadForms.join(', ')}`);
    if (!startableOrigins.includes(values.origin)) {
      throw new Error(`--origin is one of ${startableOrigins.join(', ')}`);
    }
    const rounds = Number(values.rounds);
    return { form, origin: values.origin, rounds, size: Number(values.mebibytes) * mebibyte };
  } catch (error) {
    return endWithUsage(error, usage);
  }
}

if (import.meta.main) {
  const { form, origin, rounds, size } = wanted();
  const figures = await measureUploads(rounds, size, form, origin);
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
  console.log(`direct   ${mb(figures.direct)} MB/s`);
  console.log(
    `through  ${mb(figures.through)} MB/s, ${(figures.ratio * 100).toFixed(0)}% (target ${target * 100}%)`,
  );
  console.log(`CPU      ${figures.acceleratorCpu.toFixed(0)} µs a MiB in the accelerator`);
  console.log(
    `memory   ${mb(figures.residentBefore)} MB before, ${mb(figures.residentMost)} MB at most`,
  );
}
