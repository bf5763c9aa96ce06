/**
 * How far V8's heap may grow before all of it is collected.
 *
 * Bytes that come from S3 pass through short-lived buffers outside the heap, and V8 counts them against the room that the heap
 * has to grow: about 9 MiB, as small as our heap is. So a steady stream of fills has the whole heap marked two or three times
 * a second, by helper threads that take turns with the loop on its processor. With room for four times what is alive, young
 * collections free most of those buffers first (docs/performance.md, "What was tried").
 */
import { setFlagsFromString } from 'node:v8';

/** Percent of what is alive. Some 30 MiB are, so it costs at most about 120 MiB of memory. */
const growthPercent = 400;

export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
