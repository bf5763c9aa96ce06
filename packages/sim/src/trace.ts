/**
 * What a run did, as a hash and, when somebody wants to read along, as lines.
 *
 * Every effect of every machine goes in with the true time and the name of its process. Which effects there are, and what
 * their arguments are called, is a table over the core's own interfaces: the compiler refuses it when they change, so the
 * recorded form can't drift from what happens. Two runs with the same hash did the same.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { mix32 } from '@s3-accelerator/core/base/hash.ts';

/** The names of the arguments of each method of a port, exactly as many as it takes. */
export type ArgumentNames<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...values: infer Values) => void
    ? { readonly [Index in keyof Values]: string }
    : never;
};

export class Trace {
  readonly #print: ((line: string) => void) | null;
  #hash = 0x5eed;

  /** Hands a line for each effect to `print`; without one no lines are made, since building them is what costs. */
  constructor(print: ((line: string) => void) | null = null) {
    this.#print = print;
  }

  /** Eight hexadecimal digits. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** Something happened at `time` (true, in milliseconds) to `who`; `names` are those of `values`. */
  note(
    time: number,
    who: string,
    what: string,
    names: readonly string[],
    values: readonly unknown[],
  ): void {
    this.#foldNumber(time);
    this.#foldText(who);
    this.#foldText(what);
    for (const value of values) this.#fold(value);
    if (this.#print === null) return;
    let line = `${time.toFixed(3).padStart(12)} ${who.padEnd(10)} ${what}`;
    for (const [index, value] of values.entries()) line += ` ${names[index]!}=${readable(value)}`;
    this.#print(line);
  }

  #fold(value: unknown): void {
    if (typeof value === 'number') this.#foldNumber(value);
    else if (typeof value === 'string') this.#foldText(value);
    else if (typeof value === 'boolean') this.#foldWord(value ? 3 : 2);
    else if (typeof value === 'object') this.#foldRecord(value);
    else throw new Error('effects take numbers, texts, truths and records');
  }

  #foldRecord(value: object | null): void {
    if (value === null) {
      this.#foldWord(0);
    } else if (value instanceof Uint8Array) {
      this.#foldWord(value.length);
    } else {
      for (const name of Object.keys(value)) this.#fold((value as Record<string, unknown>)[name]);
    }
  }

  #foldText(text: string): void {
    let hash = this.#hash ^ text.length;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    this.#hash = mix32(hash);
  }

  /** Exact for whole numbers below 2^53, and for times to a 65,536th of a millisecond. */
  #foldNumber(value: number): void {
    this.#foldWord(Math.floor(value));
    this.#foldWord(Math.floor(value / 0x1_0000_0000) ^ Math.round((value % 1) * 0x1_0000));
  }

  #foldWord(word: number): void {
    this.#hash = mix32(Math.imul(this.#hash, 31) ^ word);
  }
}

/**
 * A port whose every call is noted first and then carried out by the driver among `drivers` that has such a method. `clock` gives
 * the true time.
 */
export function traced<Port extends object>(
  drivers: readonly Partial<Port>[],
  names: ArgumentNames<Port>,
  trace: Trace,
  who: string,
  clock: { readonly now: number },
): Port {
  const calls: Record<string, unknown> = {};
  for (const [what, labels] of Object.entries<readonly string[]>(names)) {
    const driver = drivers.find((candidate) => what in candidate);
    assert(driver !== undefined, 'every effect has a driver');
    const act = (driver as Record<string, (...values: unknown[]) => void>)[what]!.bind(driver);
    calls[what] = (...values: unknown[]): void => {
      trace.note(clock.now, who, what, labels, values);
      act(...values);
    };
  }
  return calls as Port;
}

function readable(value: unknown): string {
  if (typeof value === 'string') return value === '' ? "''" : value;
  if (typeof value === 'number') return Number.isInteger(value) ? `${value}` : value.toFixed(3);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' && value !== null ? readableRecord(value) : 'none';
}

function readableRecord(value: object): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if ('h0' in value) return (value.h0 as number).toString(16);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${readable(field)}`);
  return `{${fields.join(', ')}}`;
}
