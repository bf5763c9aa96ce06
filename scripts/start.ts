// `npm start`: the embedded S3 and one accelerator in front of it, ready to try. `npm start -- CONFIG.toml` runs an
// accelerator with that configuration alone.
//
// Both run as children in process groups of their own, so that a Ctrl-C reaches only this script, which ends them in
// order: first the accelerator, which finishes its answers, then the S3 that it reads from.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 's3-accelerator/config/address.ts';
import { formatAddress } from 's3-accelerator/config/address.ts';
import { listenFor } from 's3-accelerator/config/check-machine.ts';
import type { Config } from 's3-accelerator/config/config.ts';
import { loadConfig } from 's3-accelerator/config/config.ts';
import { ConfigError } from 's3-accelerator/config/problems.ts';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 60_000;
const stopWithinMs = 30_000;

interface Part {
  readonly child: ChildProcess;
  /** Settles when the process has ended, with how. */
  readonly ended: Promise<string>;
}

const parts: Part[] = [];

const [given, ...more] = process.argv.slice(2);
const usage = `Usage: npm start [-- CONFIG.toml]

  CONFIG.toml   runs an accelerator as this file says. Without a file, what config/local.toml says,
                in front of an S3 in memory.

npx s3-accelerator --help tells what else the program itself takes, such as --check-config.`;
if (given === '--help' || given === '-h') {
  console.log(usage);
  process.exit(0);
}
if (more.length > 0 || given?.startsWith('-') === true) {
  console.error(`npm start takes one file and no options.\n\n${usage}`);
  process.exit(2);
}
// npm runs scripts in the project's folder: a path of the caller's is meant from where npm was called.
process.chdir(given === undefined ? root : (process.env['INIT_CWD'] ?? '.'));
const file = given ?? join('config', 'local.toml');

const asked = new Promise<'asked'>((settle) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => settle('asked'));
});

const config = read(file);
const s3 = given === undefined ? originAddress(config) : undefined;
await refuseTakenPorts(config, s3);
if (s3 !== undefined) {
  const flags = ['--host', s3.host, '--port', String(s3.port), '--quiet'];
  run('embedded S3', [join(root, 'packages', 'memory-s3', 'src', 'main.ts'), ...flags]);
  const url = `http://${formatAddress(s3)}/`;
  await until('the embedded S3 to answer', async () => (await statusOf(url)) !== undefined);
}
run('accelerator', [join(root, 'packages', 'server', 'bin', 's3-accelerator.mjs'), file]);
if (config.admin !== undefined) {
  const ready = `http://${formatAddress(config.admin.listen)}/readyz`;
  await until('the accelerator to be ready', async () => (await statusOf(ready)) === 200);
}
tell(config, s3);
const why = await Promise.race([asked, ...parts.map(({ ended }) => ended)]);
if (why !== 'asked') console.error(why);
await stop(why === 'asked' ? 0 : 1);

function read(path: string): Config {
  if (!existsSync(path)) fail(`${path}: there is no such file`);
  try {
    return loadConfig(path).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fail(error.message);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

/** The embedded S3 runs where the configuration expects its origin. */
function originAddress({ origin }: Config): Address {
  const url = new URL(origin?.endpoint ?? fail(`${file}: [origin] is missing`));
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || '80') };
}

async function refuseTakenPorts(
  { gateway, node, admin }: Config,
  s3At: Address | undefined,
): Promise<void> {
  const wanted: readonly (readonly [string, Address | undefined])[] = [
    ['the embedded S3; change [origin] endpoint', s3At],
    ['S3 clients; change [gateway] listen', gateway?.listen],
    ['the storage node; change its address in [cluster] nodes', node?.listen],
    ['metrics and health checks; change [admin] listen', admin?.listen],
  ];
  const taken: string[] = [];
  for (const [purpose, address] of wanted) {
    if (address === undefined) continue;
    const code = await listenFor(address);
    if (code === undefined) continue;
    const state = code === 'EADDRINUSE' ? 'is taken' : `can't be listened on (${code})`;
    taken.push(`${formatAddress(address)} ${state}. It is for ${purpose} in ${file}.`);
  }
  if (taken.length > 0) fail(taken.join('\n'));
}

function run(name: string, args: readonly string[]): void {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(`The ${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      settle(`The ${name} ended by itself (${signal ?? `exit code ${String(code)}`}).`),
    );
  });
  parts.push({ child, ended });
}

/** Asks again and again until the answer is yes; gives up when a child ends, somebody stops us, or time runs out. */
async function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  const interrupted = Promise.race([asked, ...parts.map(({ ended }) => ended)]);
  for (;;) {
    if (await ask()) return;
    const outcome = await Promise.race([interrupted, sleep(100, 'again' as const)]);
    if (outcome === 'asked') await stop(0);
    if (outcome !== 'again') {
      console.error(outcome);
      await stop(1);
    }
    if (performance.now() > deadline) {
      console.error(`Waited ${readyWithinMs / 1000} s for ${what}.`);
      await stop(1);
    }
  }
}

/** The status that a URL answers with; undefined when nothing answers. */
async function statusOf(url: string): Promise<number | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

function tell({ gateway, admin, clients }: Config, s3At: Address | undefined): void {
  const lines = ['', 'Ready. Ctrl-C stops it.', ''];
  if (s3At !== undefined) lines.push(`  embedded S3   http://${formatAddress(s3At)}`);
  if (gateway !== undefined)
    lines.push(`  accelerator   http://${formatAddress(gateway.listen)}   (point S3 clients here)`);
  if (admin !== undefined)
    lines.push(`  metrics       http://${formatAddress(admin.listen)}/metrics`);
  const client = clients[0];
  // Only the demonstration's credentials are shown: those of a real configuration stay where they are.
  if (s3At !== undefined && gateway !== undefined && client !== undefined) {
    const url = `http://${formatAddress(gateway.listen)}`;
    const { accessKeyId, secretAccessKey } = client;
    const secret = secretAccessKey.reveal();
    lines.push(
      '',
      'With the AWS CLI:',
      '',
      `  export AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secret} AWS_REGION=${gateway.region}`,
      `  aws --endpoint-url ${url} s3 mb s3://demo`,
      `  aws --endpoint-url ${url} s3 cp README.md s3://demo/README.md`,
      `  aws --endpoint-url ${url} s3 cp s3://demo/README.md -   # three times: from S3, stored, a hit`,
      '',
      'With curl:',
      '',
      // Older versions of curl sign no hash of the body unless they are told to.
      `  s3() { curl --user ${accessKeyId}:${secret} --aws-sigv4 aws:amz:${gateway.region}:s3 -H x-amz-content-sha256:UNSIGNED-PAYLOAD "$@"; }`,
      `  s3 -X PUT ${url}/demo`,
      `  s3 -T README.md ${url}/demo/README.md`,
      `  s3 ${url}/demo/README.md   # three times: from S3, stored, a hit`,
    );
    if (admin !== undefined) {
      const metrics = `http://${formatAddress(admin.listen)}/metrics`;
      lines.push(
        '',
        'Hits and misses:',
        '',
        `  curl -s ${metrics} | grep s3accel_node_block_reads_total`,
      );
    }
  }
  console.log(`${lines.join('\n')}\n`);
}

/** Ends what was started, last first, and this script with it. */
async function stop(code: number): Promise<never> {
  for (const { child, ended } of parts.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended;
    clearTimeout(killer);
  }
  process.exit(code);
}
