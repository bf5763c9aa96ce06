/** Plays a trace to policies side by side, in one pass. */
import { Layout } from '@s3-accelerator/core/layout.ts';
import type { PolicyChoice } from './policies/all-policies.ts';
import { Replay, type ReplayCounts } from './replay.ts';
import type { Trace } from './trace.ts';

export interface PolicyResult {
  readonly policy: string;
  readonly counts: Readonly<ReplayCounts>;
}

export interface TraceResult {
  readonly trace: string;
  readonly about: string;
  readonly capacityBytes: number;
  readonly results: readonly PolicyResult[];
}

/** Each policy with a cache of `capacityBytes`, empty at first; nothing of the trace is left out as warm-up. */
export function measureTrace(
  trace: Trace,
  policies: readonly PolicyChoice[],
  capacityBytes: number,
): TraceResult {
  const layout = new Layout();
  const { blockBytes } = layout;
  const replays = policies.map(
    (policy) => new Replay(policy.make({ capacityBytes, blockBytes }), layout),
  );
  for (const read of trace.reads()) {
    for (const replay of replays) replay.read(read);
  }
  const results = policies.map(({ name }, i) => ({ policy: name, counts: replays[i]!.counts }));
  return { trace: trace.name, about: trace.about, capacityBytes, results };
}

/** Share of the served bytes that came from the cache. */
export function byteHitRatio(counts: Readonly<ReplayCounts>): number {
  return counts.hitBytes / counts.servedBytes;
}

/** Bytes written to disk for each byte served. */
export function writtenPerByte(counts: Readonly<ReplayCounts>): number {
  return counts.writtenBytes / counts.servedBytes;
}
