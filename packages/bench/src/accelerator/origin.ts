/** The S3 behind the accelerator: memory-s3, as a process of its own. */
import { join } from 'node:path';
import { start, stop, type StartedChild } from '../machine/child.ts';
import { freePorts, untilAnswers } from '../machine/ports.ts';
import { writtenCharacters } from '../machine/process-io.ts';

const memoryS3 = join(import.meta.dirname, '../../../memory-s3/src/main.ts');

export interface Origin {
  readonly port: number;
  readonly child: StartedChild;
  /** Bytes that it has sent so far, heads and bodies, as the kernel counts them. */
  sentBytes(): number;
  stop(): Promise<void>;
}

/**
 * memory-s3 with an optional delay before the first byte of each answer, and with objects `BUCKET/PREFIX0`,
 * `BUCKET/PREFIX1`, … for each of `objects` ("BUCKET/PREFIX:COUNT:BYTES").
 */
export async function startOrigin(
  delayMs: number,
  objects: readonly string[],
  prefix: readonly string[] = [],
): Promise<Origin> {
  const [port = 0] = await freePorts(1);
  const command = [process.execPath, memoryS3, '--port', String(port), '--quiet'];
  if (delayMs > 0) command.push('--delay-ms', String(delayMs));
  for (const spec of objects) command.push('--synthetic', spec);
  const child = start(prefix, command);
  child.stdout?.resume();
  await untilAnswers(port, () => child.output());
  return {
    port,
    child,
    sentBytes: () => writtenCharacters(child.pid ?? 0),
    stop: () => stop(child),
  };
}
