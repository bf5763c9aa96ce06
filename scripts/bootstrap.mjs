// Prepares a fresh clone and then runs one TypeScript file on the project's own Node.
//
// Plain JavaScript for Node 20, because it runs before anything is installed: it installs the locked
// dependencies (one of them is Node itself), builds the native addon when its sources changed, and hands over.
// Usage: node scripts/bootstrap.mjs [SCRIPT.ts [ARGS…]]; without a script it only prepares.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
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

function installDependencies() {
  const workspaces = readdirSync(join(root, 'packages')).map(
    (name) => `packages/${name}/package.json`,
  );
  const manifests = ['package.json', 'package-lock.json', ...workspaces];
  const digest = digestOf(manifests.filter((file) => existsSync(join(root, file))));
  if (stamped('install', digest) && existsSync(projectNode())) return;
  process.stderr.write('Installing the locked dependencies…\n');
  // Node 20 only carries npm this far: the packages run on the Node that this very step installs.
  const run = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (run.status !== 0) {
    fail(
      'npm ci failed.',
      'Its own message is above. After an interrupted installation, or two at the same time, try again; ' +
        'the npm registry must be reachable.',
    );
  }
  stamp('install', digest);
}

function projectNode() {
  return join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
}

/** Two first starts at the same time take each other's packages away. */
function doesNotStart(error) {
  fail(
    `The project's own Node doesn't start: ${error.message}`,
    'Was it installed twice at the same time? Try again with one command at a time.',
  );
}

function buildAddon() {
  const sources = readdirSync(join(root, 'packages/native/src')).sort();
  const files = [
    'packages/native/binding.gyp',
    ...sources.map((name) => `packages/native/src/${name}`),
  ];
  const digest = digestOf(files);
  const built = join(root, 'packages/native/build/Release/native.node');
  if (stamped('addon', digest) && existsSync(built)) return;
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
  stamp('addon', digest);
}

checkMachine();
installDependencies();
buildAddon();

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
