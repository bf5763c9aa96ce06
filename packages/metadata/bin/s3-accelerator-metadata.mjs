#!/usr/bin/env node
// The `s3-accelerator-metadata` program. Plain JavaScript, so that an old Node gets as far as saying what it lacks: the
// sources are TypeScript, which Node runs as it is from 22.18 on.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `s3-accelerator-metadata needs Node 22.18 or newer; this is ${process.versions.node}. Run it with the workspace's: node_modules/.bin/node.\n`,
  );
  process.exit(2);
}
await import('../src/main.ts');
