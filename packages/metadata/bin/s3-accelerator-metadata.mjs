#!/usr/bin/env node
// The `s3-accelerator-metadata` program. Plain JavaScript, so that an old Node gets as far as saying what it lacks: the
// sources are TypeScript, which Node runs as it is from 22.18 on.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `s3-accelerator-metadata needs Node 22.18 or newer; this is ${process.versions.node}. Start it as npx s3-accelerator-metadata, which takes the workspace's own Node.\n`,
  );
  process.exit(2);
}
await import('../src/main.ts');
