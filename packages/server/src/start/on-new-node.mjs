/**
 * Starts a program on a Node that runs TypeScript as it is, 22.18 or newer: this one, or the workspace's. Plain JavaScript, so that
 * an old Node gets as far as saying what it lacks.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** `file` is the program's own, `main` runs it. */
export async function onNewNode(file, main) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) {
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
