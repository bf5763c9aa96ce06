#!/usr/bin/env node
// The `s3-accelerator` program, on whatever Node it was started.
import { fileURLToPath } from 'node:url';
import { onNewNode } from '../src/start/on-new-node.mjs';

await onNewNode(fileURLToPath(import.meta.url), () => import('../src/main.ts'));
