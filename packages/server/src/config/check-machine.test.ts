import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkMachine } from './check-machine.ts';
import type { Config } from './config.ts';
import { readConfig } from './config.ts';

const directory = mkdtempSync(join(tmpdir(), 's3accel-machine-'));
after(() => rmSync(directory, { recursive: true }));

function configOf(listen: string, dataDir: string, capacity = '64MiB'): Config {
  return readConfig(
    `
[origin]
endpoint = "http://127.0.0.1:8080"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "..."
[node]
id = 0
data_dir = ${JSON.stringify(dataDir)}
[cache]
capacity_bytes = "${capacity}"
[gateway]
listen = "${listen}"
[[clients]]
access_key_id = "me"
secret_access_key = "..."
grants = [{ bucket = "*", access = "read" }]
`,
    'test.toml',
  ).config;
}

test('a free port and a directory still to be created are fine, and nothing is created', async () => {
  const dataDir = join(directory, 'a', 'b');
  assert.deepEqual(await checkMachine(configOf('127.0.0.1:0', dataDir)), []);
  assert.deepEqual(readdirSync(directory), []);
});

test('a port in use, a foreign address and a data_dir that is a file are told at once', async () => {
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  const { port } = busy.address() as AddressInfo;
  const file = join(directory, 'file');
  writeFileSync(file, '');
  assert.deepEqual(await checkMachine(configOf(`127.0.0.1:${port}`, file)), [
    `gateway.listen = "127.0.0.1:${port}": another process listens there; stop it or choose another port`,
    `node.data_dir = "${file}": is no directory`,
  ]);
  assert.deepEqual(await checkMachine(configOf('192.0.2.1:9000', join(file, 'below'))), [
    `gateway.listen = "192.0.2.1:9000": this machine doesn't have that address`,
    `node.data_dir = "${file}/below": can't be created, ${file} is no directory`,
  ]);
  busy.close();
  rmSync(file);
});

test('a directory that this user may not write is told', () => {
  chmodSync(directory, 0o755);
  const closed = join(directory, 'closed');
  mkdirSync(closed, { mode: 0o555 });
  // Root may write everywhere, so the check runs in a process that gives up being root.
  const program = `
    import { checkMachine } from ${JSON.stringify(import.meta.resolve('./check-machine.ts'))};
    if (process.getuid() === 0) process.setuid(65534);
    const problems = (dataDir) =>
      checkMachine({ node: { dataDir }, cache: { capacityBytes: 1 }, origins: new Map() }).then(console.log);
    await problems(${JSON.stringify(closed)});
    await problems(${JSON.stringify(join(closed, 'below'))});
  `;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(
    run.stdout.replace(/\s+/g, ' '),
    `[ \`node.data_dir = "${closed}": can't be written by this user\` ] ` +
      `[ \`node.data_dir = "${closed}/below": can't be created, ${closed} can't be written by this user\` ] `,
    run.stderr,
  );
});

test('a cache larger than the disk is told with the room there is', async () => {
  const problems = await checkMachine(configOf('127.0.0.1:0', directory, '1000TiB'));
  assert.equal(problems.length, 1);
  assert.match(
    problems[0]!,
    /^cache\.capacity_bytes = 1099511627776000: .* has room for [\d.]+ [KMGT]iB only$/,
  );
});
