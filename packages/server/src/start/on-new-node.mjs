/**
 * Starts a program on a Node that runs TypeScript as it is, 22.18 or newer: this one, or the workspace's. Plain JavaScript, so that
 * an old Node gets as far as saying what it lacks.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** `file` is the program's own, `main` runs it. */
export async function onNewNode(file, main) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) {
    keepWhatIsCompiled(file);
    await main();
    return;
  }
  const newer = workspaceNode(dirname(file));
  if (newer === undefined) {
    process.stderr.write(
      `${basename(file, '.mjs')} needs Node 22.18 or newer; this is ${process.versions.node}, and no newer one is installed beside it.\n`,
    );
    process.exit(2);
  }
  handOver(newer, file);
}

/**
 * Half of what a start costs is compiling some 400 files, which hardly ever change: what came of it is kept beside the program, where
 * whoever may write could change the program itself. Where nobody may, each start compiles anew. NODE_DISABLE_COMPILE_CACHE=1 does
 * without, NODE_COMPILE_CACHE names another place.
 */
function keepWhatIsCompiled(file) {
  module.enableCompileCache(join(dirname(file), '..', '.compile-cache'));
}

function workspaceNode(from) {
  const wanted = join('node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, wanted);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

function handOver(node, file) {
  const child = spawn(node, [file, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}
