/** The embedded S3, as a process of its own. */
import { join } from 'node:path';
import { answers, Child } from './child.ts';
import { freePort } from './free-port.ts';
import type { StartedProcess } from './started-origin.ts';

const script = join(import.meta.dirname, '../../../memory-s3/src/main.ts');

export async function startMemoryS3(): Promise<StartedProcess> {
  const port = await freePort();
  const child = new Child('memory-s3', [
    process.execPath,
    ...[script, '--port', String(port), '--quiet'],
  ]);
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await child.until(() => answers(endpoint));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    name: 'memory-s3',
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' },
    checksumTrailers: true,
    pid: child.pid,
    stop: () => child.stop(),
  };
}
