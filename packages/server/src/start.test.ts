// The two ways in: `npm start` (scripts/start.ts) and the program's own file (bin/s3-accelerator.mjs).
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const directory = mkdtempSync(join(tmpdir(), 's3accel-start-'));
after(() => rmSync(directory, { recursive: true }));

const server = join(import.meta.dirname, '..');
const startScript = join(server, '..', '..', 'scripts', 'start.ts');

function start(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const environment = { ...process.env, INIT_CWD: directory };
  const node = [startScript, ...args];
  return spawnSync(process.execPath, node, { encoding: 'utf8', env: environment });
}

test('npm start takes one configuration at most', () => {
  for (const args of [['a.toml', 'b.toml'], ['--port']]) {
    const { status, stderr } = start(...args);
    assert.equal(status, 2);
    assert.match(stderr, /^npm start takes one file and no options\.\n\nUsage: npm start /);
  }
});

test('npm start --help says what it starts', () => {
  const { status, stdout } = start('--help');
  assert.equal(status, 0);
  assert.match(stdout, /^Usage: npm start /);
});

test('npm start says which file is missing or bad, and starts nothing', () => {
  const missing = start('nope.toml');
  assert.deepEqual([missing.status, missing.stderr], [2, 'nope.toml: there is no such file\n']);
  writeFileSync(join(directory, 'bad.toml'), '[gateway]\nlisten = 5\n');
  const bad = start('bad.toml');
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /^bad\.toml: \d problems\n {2}gateway\.listen = 5: must be /);
});

test('npm start says which ports are taken and which setting changes them', async () => {
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  const { port } = busy.address() as AddressInfo;
  writeFileSync(
    join(directory, 'taken.toml'),
    `
[[clients]]
access_key_id = "me"
secret_access_key = "a-client-secret!"
grants = [{ bucket = "*", access = "write" }]
[cluster]
secret = "a-cluster-secret"
nodes = [{ id = 0, address = "127.0.0.1:1" }]
[gateway]
listen = "127.0.0.1:${port}"
[admin]
listen = "192.0.2.1:9090"
`,
  );
  const { status, stderr } = start('taken.toml');
  busy.close();
  assert.equal(status, 2);
  assert.equal(
    stderr,
    `127.0.0.1:${port} is taken. It is for S3 clients; change [gateway] listen in taken.toml.
192.0.2.1:9090 can't be listened on (EADDRNOTAVAIL). It is for metrics and health checks; change [admin] listen in taken.toml.
`,
  );
});

/** A copy of the program's file whose main prints its arguments, and then waits for a signal. */
function programCopy(name: string, withNewerNode: boolean): string {
  const root = join(directory, name);
  for (const folder of ['bin', 'src/start']) mkdirSync(join(root, folder), { recursive: true });
  const copy = join(root, 'bin', 's3-accelerator.mjs');
  for (const file of ['bin/s3-accelerator.mjs', 'src/start/on-new-node.mjs']) {
    cpSync(join(server, file), join(root, file));
  }
  writeFileSync(
    join(root, 'src', 'main.ts'),
    `const args: string[] = process.argv.slice(2);
const alive = setInterval(() => undefined, 1000);
process.on('SIGHUP', () => process.stdout.write('hung up\\n'));
process.on('SIGTERM', () => { clearInterval(alive); process.exitCode = 3; });
process.stdout.write(\`\${process.versions.node} \${args.join(' ')}\\n\`);
`,
  );
  if (withNewerNode) {
    const bin = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, 'node'));
  }
  return copy;
}

/** Makes a Node pass for version 20, as far as the program's file can tell. */
const asNode20 = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;

test('an old Node hands over to the newer one beside the program, with signals and exit code', async () => {
  const copy = programCopy('handover', true);
  const child = spawn(process.execPath, ['--import', asNode20, copy, 'a.toml', '--x'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (text.includes('a.toml')) child.kill('SIGHUP');
    if (text.includes('hung up')) child.kill('SIGTERM');
  });
  assert.equal(await ended, 3);
  assert.equal(said, `${process.versions.node} a.toml --x\nhung up\n`);
});

test('an old Node without a newer one says so and exits with 2', () => {
  const copy = programCopy('alone', false);
  const run = spawnSync(process.execPath, ['--import', asNode20, copy], { encoding: 'utf8' });
  assert.equal(run.status, 2);
  assert.equal(
    run.stderr,
    's3-accelerator needs Node 22.18 or newer; this is 20.19.0, and no newer one is installed beside it.\n',
  );
});
