/**
 * The log: one JSON object a line on standard error, written by pino.
 *
 * Lines are written at once, so that the last words of a crash are there. That blocks, so nothing may log for each
 * request at the default level: faults that can come in floods go through a `FaultLog`. Configured secrets are `Secret`s,
 * which print as hidden; what arrives from clients under the names below is redacted too.
 */
import type { Logger } from 'pino';
import { destination, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config/config.ts';

export type Log = Logger;
export type LogLevel = Config['log']['level'] | 'silent';

const neverLogged = [
  'authorization',
  'x-amz-security-token',
  'X-Amz-Signature',
  'X-Amz-Security-Token',
  'secret',
  'secretAccessKey',
  'secret_access_key',
  'sessionToken',
  'session_token',
];

const redactPaths = neverLogged.flatMap((name) =>
  ['', '*', '*.*', '*.*.*'].map((parent) => `${parent}["${name}"]`),
);

/** A log at a level. Lines go to the descriptor, 2 (standard error) by default. */
export function createLog(level: LogLevel, descriptor = 2): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactPaths, censor: '(hidden)' },
    },
    destination({ fd: descriptor, sync: true }),
  );
}

interface Fault {
  /** When the next line may be written, in milliseconds of the clock. */
  nextAt: number;
  /** How often it came since the last line. */
  held: number;
}

export interface FaultLogOptions {
  /** Seconds between two lines about the same fault. */
  readonly everySeconds?: number;
  /** Faults remembered at most; the one that was logged longest ago is forgotten first. */
  readonly maxFaults?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/**
 * Logs each fault at most once per some seconds, however often it comes; the next line says how many were held back.
 */
export class FaultLog {
  readonly #log: Log;
  readonly #everyMs: number;
  readonly #maxFaults: number;
  readonly #now: () => number;
  readonly #faults = new Map<string, Fault>();

  constructor(log: Log, options: FaultLogOptions = {}) {
    this.#log = log;
    this.#everyMs = (options.everySeconds ?? 10) * 1000;
    this.#maxFaults = options.maxFaults ?? 1000;
    this.#now = options.now ?? ((): number => performance.now());
  }

  /** Something went wrong that the process gets over. `fault` names the kind: lines are held back by it. */
  warn(fault: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#write('warn', fault, message, fields);
  }

  /** Something went wrong that somebody should look at. */
  error(fault: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#write('error', fault, message, fields);
  }

  #write(
    level: 'warn' | 'error',
    fault: string,
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ): void {
    const now = this.#now();
    const known = this.#faults.get(fault);
    if (known !== undefined && now < known.nextAt) {
      known.held += 1;
      return;
    }
    this.#faults.delete(fault);
    this.#faults.set(fault, { nextAt: now + this.#everyMs, held: 0 });
    if (this.#faults.size > this.#maxFaults) {
      const [oldest] = this.#faults.keys();
      if (oldest !== undefined) this.#faults.delete(oldest);
    }
    const held = known === undefined || known.held === 0 ? {} : { held: known.held };
    this.#log[level]({ ...fields, fault, ...held }, message);
  }
}
