// The command line in processes of its own, around a process that does nothing but say what is asked of it.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { text as textOf } from 'node:stream/consumers';

const directory = mkdtempSync(join(tmpdir(), 's3accel-command-'));
after(() => rmSync(directory, { recursive: true }));

/** Runs the command line with `start` as its process; standard output is what that process says. */
function program(start: string): string {
  return `
    import { runCommandLine } from ${JSON.stringify(import.meta.resolve('./command-line.ts'))};
    const say = (...words) => process.stdout.write(words.join(' ') + '\\n');
    await runCommandLine(process.argv.slice(1), ${start});
  `;
}

const obedient = `async (config) => {
  const alive = setInterval(() => undefined, 1000);
  say('started', config.clients[0].accessKeyId);
  return {
    reload: (wanted) => say('reload', wanted.clients[0].accessKeyId),
    stop: async () => { say('stop'); clearInterval(alive); },
    failed: new Promise(() => undefined),
  };
}`;

function run(args: readonly string[], start = obedient): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', program(start), '--', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function outcome(
  child: ChildProcess,
): Promise<{ code: number | null; said: string; complained: string }> {
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [said, complained] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!)]);
  return { code: await code, said, complained };
}

function configFile(name: string, edit = (text: string): string => text): string {
  const file = join(directory, name);
  writeFileSync(
    file,
    edit(`
[origin]
endpoint = "http://127.0.0.1:8080"
region = "us-east-1"
access_key_id = "id"
secret_access_key = "an-origin-secret"
[node]
id = 0
data_dir = "${join(directory, 'cache')}"
[cache]
capacity_bytes = "64MiB"
[gateway]
listen = "127.0.0.1:0"
loops = 2
[[clients]]
access_key_id = "me"
secret_access_key = "a-client-secret!"
grants = [{ bucket = "*", access = "write" }]
`),
  );
  return file;
}

test('--help and --version print and exit', async () => {
  const [help, version] = await Promise.all([
    outcome(run(['--help'])),
    outcome(run(['--version'])),
  ]);
  assert.equal(help.code, 0);
  assert.match(help.said, /^Usage: s3-accelerator CONFIG\.toml\n/);
  assert.match(help.said, /--check-config/);
  assert.equal(version.code, 0);
  assert.match(version.said, /^s3-accelerator \d+\.\d+\.\d+\n$/);
});

test('a wrong command is told with the usage, and exits with 2', async () => {
  const wrong: readonly (readonly [args: readonly string[], why: RegExp])[] = [
    [[], /^s3-accelerator: which CONFIG\.toml\?\n/],
    [['a.toml', 'b.toml'], /^s3-accelerator: one CONFIG\.toml, not several\n/],
    [['--chek-config', 'a.toml'], /^s3-accelerator: There is no option --chek-config\.\n\nUsage/],
  ];
  const outcomes = await Promise.all(wrong.map(([args]) => outcome(run(args))));
  for (const [at, { code, said, complained }] of outcomes.entries()) {
    assert.equal(code, 2);
    assert.equal(said, '');
    assert.match(complained, wrong[at]![1]);
    assert.match(complained, /\nUsage: s3-accelerator CONFIG\.toml\n/);
  }
});

test('--check-config says what the process would be, and starts nothing', async () => {
  const file = configFile('check.toml');
  const { code, said, complained } = await outcome(run(['--check-config', file]));
  assert.equal(complained, '');
  assert.equal(code, 0);
  assert.equal(
    said,
    `${file}: ok
  gateway on 127.0.0.1:0 for 1 client, 2 loops
  node 0, 64 MiB in ${join(directory, 'cache')}
  hot past 1000 reads a second: lent to 2 other nodes for 10000 ms
  no cluster
`,
  );
});

test('--check-config of a bad file lists all problems and exits with 2', async () => {
  const file = configFile('bad.toml', (text) =>
    text.replace('grants', 'grant').replace('id = 0', 'id = "0"'),
  );
  const { code, said, complained } = await outcome(run(['--check-config', file]));
  assert.equal(code, 2);
  assert.equal(said, '');
  assert.equal(
    complained,
    `${file}: 3 problems
  node.id = "0": must be a whole number from 0 to 65535
  clients[0].grant: unknown key; did you mean clients[0].grants?
  clients[0].grants: missing; a client without any may do nothing
Every setting: docs/configuration.md
`,
  );
});

test('what the machine lacks is told before anything is created', async () => {
  const file = configFile('machine.toml', (text) =>
    text.replace('127.0.0.1:0', '192.0.2.1:9000').replace('64MiB', '1000TiB'),
  );
  const { code, said, complained } = await outcome(run([file]));
  assert.equal(code, 2);
  assert.equal(said, '');
  assert.match(complained, /: 2 problems\n {2}gateway\.listen = .*\n {2}cache\.capacity_bytes = /);
  assert.ok(!existsSync(join(directory, 'cache')));
});

test('signals reload, keep the last good configuration, and stop', async () => {
  const file = configFile('signals.toml');
  const child = run([file]);
  const ended = outcome(child);
  const heard = (stream: 'stdout' | 'stderr', word: string): Promise<void> =>
    new Promise((resolve) => {
      child[stream]!.on('data', (bytes: Buffer) => {
        if (bytes.toString().includes(word)) resolve();
      });
    });
  await heard('stderr', '"msg":"started"');

  configFile('signals.toml', (text) => text.replace('"me"', '"you"').replace('64MiB', '65MiB'));
  const reloaded = heard('stderr', '"msg":"reloaded"');
  child.kill('SIGHUP');
  await reloaded;

  configFile('signals.toml', (text) => text.replace('"me"', '""'));
  const refused = heard('stderr', 'nothing changed');
  child.kill('SIGHUP');
  await refused;

  child.kill('SIGTERM');
  const { code, said, complained } = await ended;
  assert.equal(code, 0, complained);
  assert.equal(said, 'started me\nreload you\nstop\n');
  assert.match(complained, /"settings":\["cache\.capacity_bytes"\].*wait for a restart/);
  assert.match(complained, /clients\[0\]\.access_key_id/);
  assert.doesNotMatch(complained, /a-client-secret!|an-origin-secret/);
});

test('a SIGHUP that comes while the process starts is obeyed once it runs', async () => {
  const file = configFile('early.toml');
  const slow = `async (config) => {
    say('starting');
    await new Promise((resolve) => setTimeout(resolve, 500));
    return (${obedient})(config);
  }`;
  const child = run([file], slow);
  const ended = outcome(child);
  child.stdout!.on('data', (bytes: Buffer) => {
    if (!bytes.toString().includes('starting')) return;
    configFile('early.toml', (text) => text.replace('"me"', '"you"'));
    child.kill('SIGHUP');
  });
  child.stderr!.on('data', (bytes: Buffer) => {
    if (bytes.toString().includes('"msg":"reloaded"')) child.kill('SIGTERM');
  });
  const { code, said, complained } = await ended;
  assert.equal(code, 0, complained);
  assert.equal(said, 'starting\nstarted me\nreload you\nstop\n');
});

test('a process that can not start says why and exits with 1', async () => {
  const file = configFile('failing.toml');
  const { code, complained } = await outcome(
    run([file], `async () => { throw new Error('the slab is locked'); }`),
  );
  assert.equal(code, 1);
  assert.match(complained, /"level":"fatal".*"error":"the slab is locked".*"could not start"/);
});

test('a SIGTERM that comes while the process starts ends the start, and counts as stopped as asked', async () => {
  const file = configFile('stopped-early.toml');
  const waiting = `async (config, log, { signal }) => {
    const alive = setInterval(() => undefined, 1000);
    say('starting');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    say('released');
    clearInterval(alive);
    throw signal.reason;
  }`;
  const child = run([file], waiting);
  const ended = outcome(child);
  child.stdout!.on('data', (bytes: Buffer) => {
    if (bytes.toString().includes('starting')) child.kill('SIGTERM');
  });
  const { code, said, complained } = await ended;
  assert.equal(code, 0, complained);
  assert.equal(said, 'starting\nreleased\n');
  assert.match(complained, /stopped before it had started/);
  assert.doesNotMatch(complained, /"msg":"started"|could not start/);
});
