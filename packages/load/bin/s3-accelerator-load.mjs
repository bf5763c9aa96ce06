#!/usr/bin/env node
// The `s3-accelerator-load` program. Plain JavaScript, so that an old Node gets as far as saying what it lacks: the sources
// are TypeScript, which Node runs as it is from 22.18 on. An older one hands over to the Node of this workspace.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  await import('../src/main.ts');
} else {
  const newer = workspaceNode();
  if (newer === undefined) {
    process.stderr.write(
      `s3-accelerator-load needs Node 22.18 or newer; this is ${process.versions.node}, and no newer one is installed beside it.\n`,
    );
    process.exit(2);
  }
  handOver(newer);
}

function workspaceNode() {
  const wanted = join('node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const found = join(folder, wanted);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
    folder = dirname(folder);
  }
}

function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}
