// Prepares a fresh clone and then runs one TypeScript file on the project's own Node.
//
// Plain JavaScript for Node 20, because it runs before anything is installed: it installs the locked
// dependencies (one of them is Node itself), builds the native addon when its sources changed, and hands over.
// Usage: node scripts/bootstrap.mjs [SCRIPT.ts [ARGS…]]; without a script it only prepares.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = realpathSync(join(dirname(fileURLToPath(import.meta.url)), '..'));
const stampDir = join(root, '.bootstrap');

function fail(what, doThis) {
  process.stderr.write(`${what}\n  ${doThis}\n`);
  process.exit(2);
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function stamped(name, digest) {
  const file = join(stampDir, name);
  return existsSync(file) && readFileSync(file, 'utf8') === digest;
}

function stamp(name, digest) {
  mkdirSync(stampDir, { recursive: true });
  writeFileSync(join(stampDir, name), digest);
}

function checkMachine() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) {
    fail(`Node ${process.versions.node} is too old to start from.`, 'Install Node 20 or newer.');
  }
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    fail(
      `s3-accelerator runs on Linux, x64 or arm64; this is ${process.platform} ${process.arch}.`,
      'Use a Linux machine or virtual machine.',
    );
  }
}

/**
 * Waits until no other command prepares this clone: two installations at a time take each other's packages away. Resolves with
 * what lets the next one go on.
 *
 * The lock is a socket without a file, so that the kernel lets go of it however its owner ends, and tells those who wait.
 */
async function alone() {
  const path = `\0s3-accelerator-bootstrap-${createHash('sha256').update(root).digest('hex')}`;
  for (let told = false; ; told = true) {
    const lock = createServer();
    const code = await new Promise((resolve) => {
      lock.once('error', (error) => resolve(error.code));
      lock.listen(path, () => resolve(null));
    });
    if (code === null) return () => lock.close();
    // Without such sockets there is no lock either.
    if (code !== 'EADDRINUSE') return () => {};
    if (!told) process.stderr.write('Another command prepares this clone: waiting for it…\n');
    await new Promise((resolve) => {
      connect(path)
        .on('error', () => {})
        .on('close', resolve)
        .resume();
    });
  }
}

/** What the dependencies are installed from, as one digest. */
function manifestDigest() {
  const workspaces = readdirSync(join(root, 'packages')).map(
    (name) => `packages/${name}/package.json`,
  );
  const manifests = ['package.json', 'package-lock.json', ...workspaces];
  return digestOf(manifests.filter((file) => existsSync(join(root, file))));
}

function isInstalled() {
  return stamped('install', manifestDigest()) && existsSync(projectNode());
}

function installDependencies() {
  if (isInstalled()) return;
  process.stderr.write('Installing the locked dependencies…\n');
  // Node 20 only carries npm this far: the packages run on the Node that this very step installs.
  const run = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (run.status !== 0) {
    fail(
      'npm ci failed.',
      'Its own message is above. After an interrupted installation, try again; the npm registry must be reachable.',
    );
  }
  stamp('install', manifestDigest());
}

function projectNode() {
  return join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
}

function doesNotStart(error) {
  fail(
    `The project's own Node doesn't start: ${error.message}`,
    'Was its installation interrupted? npm ci installs it anew.',
  );
}

const builtAddon = join(root, 'packages/native/build/Release/native.node');

function addonDigest() {
  const sources = readdirSync(join(root, 'packages/native/src')).sort();
  const files = [
    'packages/native/binding.gyp',
    ...sources.map((name) => `packages/native/src/${name}`),
  ];
  return digestOf(files);
}

function isBuilt() {
  return stamped('addon', addonDigest()) && existsSync(builtAddon);
}

function buildAddon() {
  if (isBuilt()) return;
  for (const [command, needed] of [
    ['g++', 'a C++ compiler (Debian: apt-get install g++)'],
    ['make', 'make (Debian: apt-get install make)'],
    ['python3', 'python3, which node-gyp runs on (Debian: apt-get install python3)'],
  ]) {
    const asked = command === 'g++' && process.env.CXX ? process.env.CXX : command;
    if (spawnSync(asked, ['--version'], { stdio: 'ignore' }).status !== 0) {
      fail(`Building the native addon needs ${needed}.`, `${asked} --version does not run here.`);
    }
  }
  process.stderr.write('Building the native addon…\n');
  const nodeGyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');
  const nodeDirectory = join(root, 'node_modules', `node-linux-${process.arch}`);
  const args = [nodeGyp, 'rebuild', '--directory', 'packages/native', '--nodedir', nodeDirectory];
  const run = spawnSync(projectNode(), [...args, '--loglevel=warn', '-j', 'max'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0) {
    if (run.error) doesNotStart(run.error);
    process.stderr.write(`${run.stdout}${run.stderr}`);
    fail('Building the native addon failed.', 'The compiler output is above.');
  }
  stamp('addon', addonDigest());
}

checkMachine();
if (!isInstalled() || !isBuilt()) {
  const release = await alone();
  installDependencies();
  buildAddon();
  release();
}

const [script, ...args] = process.argv.slice(2);
if (script !== undefined) {
  const child = spawn(projectNode(), [join(root, script), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(projectNode())}:${process.env.PATH}` },
  });
  child.on('error', doesNotStart);
  // A Ctrl-C and a closed terminal reach the whole process group: the child decides when it is done, we only wait for it.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}
