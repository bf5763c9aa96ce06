/**
 * Whether the machine was quiet enough to believe what was measured. Measured over a whole run, from /proc: processor time that
 * somebody else used meanwhile, and time that the host of a virtual machine took away. CPU time a request hardly depends on
 * what else runs, but caches and clocks are shared, and latencies suffer at once.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { ticksPerSecond } from './process-cpu.ts';

export interface Noise {
  /** Processors' worth of work that wasn't ours. */
  readonly othersBusy: number;
  /** Share of all processors' time that the host took away, 0 to 1. */
  readonly stolen: number;
  /** Of one minute, when the run began. */
  readonly loadBefore: number;
}

const maxOthersBusy = 0.15;
const maxStolen = 0.02;
/** Largest less smallest round, as a share of their median. */
const maxSpread = 0.25;

export class NoiseMeter {
  readonly #before = machineTicks();
  readonly #oursBefore = ownSeconds();
  readonly #started = performance.now();
  readonly #load = loadavg()[0] ?? 0;

  /** Call once all children have ended: only then their time counts as ours. */
  read(): Noise {
    const after = machineTicks();
    const seconds = (performance.now() - this.#started) / 1000;
    const busy = (after.busy - this.#before.busy) / ticksPerSecond;
    const ours = ownSeconds() - this.#oursBefore;
    return {
      othersBusy: Math.max(0, busy - ours) / seconds,
      stolen:
        (after.stolen - this.#before.stolen) / ticksPerSecond / seconds / availableParallelism(),
      loadBefore: this.#load,
    };
  }
}

/** What speaks against the figures, a sentence each; none when they can be believed. */
export function noiseWarnings(
  noise: Noise,
  figures: readonly {
    readonly id: string;
    readonly value: number;
    readonly spread: readonly [number, number];
  }[],
): string[] {
  const warnings: string[] = [];
  if (noise.othersBusy > maxOthersBusy) {
    warnings.push(`other processes used ${noise.othersBusy.toFixed(2)} of a processor meanwhile`);
  }
  if (noise.stolen > maxStolen) {
    warnings.push(`the host took away ${(100 * noise.stolen).toFixed(1)}% of the processors' time`);
  }
  const wide = figures.filter(
    ({ value, spread: [least, most] }) =>
      value !== 0 && (most - least) / Math.abs(value) > maxSpread,
  );
  if (wide.length > 0) {
    const ids = wide.map(({ id }) => id).join(', ');
    warnings.push(`rounds lie more than ${100 * maxSpread}% apart: ${ids}`);
  }
  return warnings;
}

function machineTicks(): { readonly busy: number; readonly stolen: number } {
  const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { busy: user + nice + system + irq + softirq, stolen };
}

/** CPU seconds of this process and of all its children that have ended. */
function ownSeconds(): number {
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}
