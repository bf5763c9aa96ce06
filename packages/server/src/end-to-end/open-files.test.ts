// The limit of open files: raised at the start as far as that is allowed; told when that isn't enough; and survived.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { credentials, freePort, here, runProgram, type Running } from '../testing/programs.ts';
import type { RawConnection } from '../testing/raw-connection.ts';
import { until } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

interface Limited {
  readonly running: Running;
  readonly client: S3Client;
  readonly s3: MemoryS3;
}

/** A node and a gateway in one process that starts with a soft limit and may raise it to a hard one. */
async function startWith(context: TestContext, soft: number, hard: number): Promise<Limited> {
  const s3 = await startMemoryS3({ buckets: ['bucket'] });
  context.after(() => s3.close());
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-files-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const [port, adminPort] = await Promise.all([freePort(), freePort()]);
  const config = `
[origin]
endpoint = "http://127.0.0.1:${s3.port}"
region = "us-east-1"
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
[node]
id = 0
data_dir = "${join(directory, 'data')}"
max_links = 50
[cache]
capacity_bytes = "64MiB"
[gateway]
listen = "127.0.0.1:${port}"
max_connections = 1000
loops = 1
[[clients]]
access_key_id = "${credentials.accessKeyId}"
secret_access_key = "${credentials.secretAccessKey}"
grants = [{ bucket = "*", access = "write" }]
[admin]
listen = "127.0.0.1:${adminPort}"
`;
  const limits = `ulimit -Sn ${soft} && ulimit -Hn ${hard} && exec "$@"`;
  const place = { ...here, within: ['sh', '-c', limits, 'sh'] };
  const running = await runProgram(directory, 'limited', config, adminPort, true, place);
  context.after(() => running.stop());
  return { running, client: new S3Client(port, credentials), s3 };
}

test('the soft limit is raised to the hard one', async (context) => {
  const { running } = await startWith(context, 256, 3100);
  const limits = readFileSync(`/proc/${running.pid}/limits`, 'utf8');
  assert.match(limits, /^Max open files +3100 +3100 /m);
  assert.doesNotMatch(running.log(), /limit of open files/);
});

test('a hard limit that is too low is told with both figures, and past it connections wait while others are served', async (context) => {
  const { running, client, s3 } = await startWith(context, 200, 240);
  assert.match(
    running.log(),
    /the limit of open files is 240, below the 3098 that the configured connections may need: raise the hard limit \(LimitNOFILE=/,
  );
  const bytes = version('object', 100_000);
  s3.put('bucket', 'object', bytes);
  const first = await client.connect();
  const read = async (connection: RawConnection): Promise<void> => {
    connection.write(client.bytesOf({ method: 'GET', target: '/bucket/object' }));
    const { status, body } = await connection.answer();
    assert.equal(status, 200);
    assert.ok(body.equals(bytes));
  };
  for (let time = 0; time < 3; time++) await read(first);

  // The kernel completes them; whether they are accepted is the process's business.
  const crowd = await Promise.all(Array.from({ length: 300 }, () => client.connect()));
  await until('all its descriptors are in use', () => {
    return readdirSync(`/proc/${running.pid}/fd`).length >= 238;
  });
  await read(first);
  const waiting = crowd.pop()!;
  const answered = read(waiting);
  for (const connection of crowd) connection.close();
  await answered;
  waiting.close();
  first.close();
});
