#!/usr/bin/env node
// The `s3-accelerator-load` program, on whatever Node it was started.
import { fileURLToPath } from 'node:url';
import { onNewNode } from 's3-accelerator/start/on-new-node.mjs';

await onNewNode(fileURLToPath(import.meta.url), () => import('../src/main.ts'));
