/**
 * Measures the core's store on the memory that a node gives it, in huge pages, and prints its figures as JSON. `node store.bench.ts
 * [BLOCKS]`; the core's own store.bench.ts has usual memory.
 */
import { measureStore } from '@s3-accelerator/core/store/store.bench.ts';
import { tableMemory } from '@s3-accelerator/native/files.ts';

console.log(JSON.stringify(measureStore(Number(process.argv[2] ?? 1_000_000), tableMemory)));
