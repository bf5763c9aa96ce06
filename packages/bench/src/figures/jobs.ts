/** The requests that the figures are made of: which keys, how much of them, over how many connections. */
import { credentials } from '../accelerator/config.ts';
import type { LoadJob, Spread } from '../load/job.ts';
import { measure } from '../measure.ts';
import type { Scale } from '../scale.ts';

export const connections = 64;
export const rangeBytes = 4 << 10;

/** A kind of object by the prefix of its key: origins and peers give each its size. */
export const sizes = {
  tiny: { prefix: 'tiny-', bytes: 4 << 10 },
  small: { prefix: 'small-', bytes: 64 << 10 },
  block: { prefix: 'block-', bytes: 1 << 20 },
  medium: { prefix: 'medium-', bytes: 16 << 20 },
  large: { prefix: 'large-', bytes: 256 << 20 },
} as const;

export type Kind = keyof typeof sizes;

/** For memory-s3's --synthetic. */
export const synthetic = (kind: Kind, count: number): string =>
  `bench/${sizes[kind].prefix}:${count}:${sizes[kind].bytes}`;

/** What a job reads: `count` objects of a kind, whole or by 4 KiB ranges. */
export interface Reads {
  readonly kind: Kind;
  readonly count: number;
  readonly isRanged: boolean;
}

export const rangesOf = ({ ranged }: Scale): Reads => ({ ...ranged, isRanged: true });
export const wholes = (kind: Kind, count: number): Reads => ({ kind, count, isRanged: false });

function spreadOf({ kind, count, isRanged }: Reads): Spread {
  const { prefix, bytes } = sizes[kind];
  if (!isRanged) return { kind: 'objects', prefix, count };
  const keys = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return { kind: 'ranges', keys, objectBytes: bytes };
}

/** Signed GETs in a shuffled order. */
export function jobOf(
  port: number,
  reads: Reads,
  requests: number,
  over: number = connections,
): LoadJob {
  return {
    ...credentials,
    port,
    bucket: 'bench',
    seed: 1,
    spread: spreadOf(reads),
    bodyBytes: reads.isRanged ? rangeBytes : sizes[reads.kind].bytes,
    requests: Math.max(over, Math.round(requests)),
    connections: over,
    sequential: false,
  };
}

/** Reads everything once, whole and in order, so that what follows are hits. */
export async function prime(port: number, { kind, count }: Reads): Promise<void> {
  const over = Math.min(count, sizes[kind].bytes > 1 << 20 ? 1 : 32);
  await measure({ ...jobOf(port, wholes(kind, count), count, over), sequential: true }, []);
}
