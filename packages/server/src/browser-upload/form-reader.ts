/**
 * Reads a multipart/form-data body as it comes: its fields, then its one file.
 *
 *   fields ──file's head──▶ file ──delimiter──▶ closing ──▶ rest
 *
 * Strict, since what is read here decides what is written: no two fields of one name, no file but the last, a limit on all
 * before the file. What follows the file is ignored, as S3 does, but the body must be a closed form. The outcome depends only on
 * the bytes, never on how they were split. Strings are binary. Memory: `maxFormBytes`, and a delimiter's length while the file
 * streams.
 */

/** Bytes of all before the file at most. S3 takes 20,000 of fields; the rest is for what stands around them. */
export const maxFormBytes = 32_768;
const maxFields = 128;
const maxPartHeadBytes = 4096;

export interface FormEvents {
  /** `name` is in lower case. */
  onField(name: string, value: string): void;
  /** All fields have come, and the file follows. False: stop reading. `formBytes` have been read. */
  onFile(fileName: string, formBytes: number): boolean;
  /** Bytes of the file: a view, valid during the call. False: stop reading. */
  onFileBytes(bytes: Uint8Array): boolean;
  /** The file is complete. */
  onFileEnd(): void;
}

/** The boundary that a Content-Type names, or null when it is no form with a file. */
export function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) return null;
  const match = /;\s*boundary=(?:"([^"\\]{1,70})"|([^\s";,]{1,70}))\s*(?:;|$)/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  return boundary === '' || boundary.endsWith(' ') ? null : boundary;
}

type Step = 'fields' | 'file' | 'closing' | 'rest' | 'stopped';

const headEnd = Buffer.from('\r\n\r\n', 'latin1');

export class FormReader {
  readonly #events: FormEvents;
  readonly #delimiter: Buffer;
  readonly #names = new Set<string>();
  #step: Step = 'fields';
  /** Bytes that were received and not worked off. */
  #held: Buffer = Buffer.from('\r\n', 'latin1');
  /** In `#held`, what was searched in vain. */
  #searched = 0;
  /** Bytes of the form that were worked off before `#held`. The line end that `#held` begins with isn't one of them. */
  #before = -2;
  /** The head of the part whose value is looked for; null between parts. */
  #part: PartHead | null = null;

  constructor(boundary: string, events: FormEvents) {
    this.#events = events;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** Bytes that stand behind the file in a form that ends right there. */
  get closingBytes(): number {
    return this.#delimiter.length + 4;
  }

  /** Takes the next bytes; false when they aren't a form's. After an event said stop, it does nothing. */
  push(bytes: Uint8Array): boolean {
    if (this.#step === 'stopped' || this.#step === 'rest') return true;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const isForm = this.#work();
    // What is left is a view into the caller's memory.
    if (this.#held.buffer === chunk.buffer) this.#held = Buffer.from(this.#held);
    return isForm;
  }

  /** Whether the body was a whole form. */
  end(): boolean {
    return this.#step === 'rest' || this.#step === 'stopped';
  }

  #work(): boolean {
    if (this.#step === 'fields' && !this.#fields()) return false;
    if (this.#step === 'file') this.#file();
    return this.#step !== 'closing' || this.#closing();
  }

  #fields(): boolean {
    while (this.#step === 'fields') {
      const before = this.#held.length;
      const goes = this.#part === null ? this.#partHead() : this.#value(this.#part);
      if (goes === 'broken') return false;
      if (goes === 'waits') return this.#before + before <= maxFormBytes;
    }
    return true;
  }

  /** `#held` begins with a delimiter: takes it and the head behind it. */
  #partHead(): 'goes' | 'waits' | 'broken' {
    const delimiter = this.#delimiter;
    const seen = Math.min(this.#held.length, delimiter.length);
    if (!this.#held.subarray(0, seen).equals(delimiter.subarray(0, seen))) return 'broken';
    if (this.#held.length < delimiter.length + 2) return 'waits';
    // The closing delimiter too: a form without a file is none for us.
    if (this.#held.toString('latin1', delimiter.length, delimiter.length + 2) !== '\r\n') {
      return 'broken';
    }
    const end = this.#held.indexOf(headEnd, Math.max(delimiter.length, this.#searched));
    if (end < 0) {
      this.#searched = Math.max(0, this.#held.length - headEnd.length + 1);
      return this.#held.length > delimiter.length + maxPartHeadBytes ? 'broken' : 'waits';
    }
    if (end - delimiter.length > maxPartHeadBytes) return 'broken';
    const part = readPartHead(this.#held.toString('latin1', delimiter.length + 2, end));
    if (part === null || this.#names.has(part.name) || this.#names.size === maxFields) {
      return 'broken';
    }
    this.#names.add(part.name);
    this.#drop(end + headEnd.length);
    if (this.#before > maxFormBytes) return 'broken';
    if (part.name !== 'file') this.#part = part;
    else if (this.#events.onFile(part.fileName, this.#before)) this.#step = 'file';
    else this.#stop();
    return 'goes';
  }

  #value({ name }: PartHead): 'goes' | 'waits' | 'broken' {
    const end = this.#held.indexOf(this.#delimiter, this.#searched);
    if (end < 0) {
      this.#searched = Math.max(0, this.#held.length - this.#delimiter.length + 1);
      return 'waits';
    }
    if (this.#before + end > maxFormBytes) return 'broken';
    const value = this.#held.toString('latin1', 0, end);
    this.#drop(end);
    this.#part = null;
    this.#events.onField(name, value);
    return 'goes';
  }

  #file(): void {
    const held = this.#held;
    const found = held.indexOf(this.#delimiter);
    const end = found < 0 ? held.length - partAtEnd(held, this.#delimiter) : found;
    this.#drop(end);
    if (end > 0 && !this.#events.onFileBytes(held.subarray(0, end))) this.#stop();
    else if (found >= 0) this.#step = 'closing';
  }

  /** `#held` begins with the delimiter behind the file. */
  #closing(): boolean {
    const at = this.#delimiter.length;
    if (this.#held.length < at + 2) return true;
    const next = this.#held.toString('latin1', at, at + 2);
    if (next !== '--' && next !== '\r\n') return false;
    this.#held = Buffer.alloc(0);
    this.#step = 'rest';
    this.#events.onFileEnd();
    return true;
  }

  #drop(length: number): void {
    this.#held = this.#held.subarray(length);
    this.#before += length;
    this.#searched = 0;
  }

  #stop(): void {
    this.#step = 'stopped';
    this.#held = Buffer.alloc(0);
  }
}

/** How many bytes at the end of `bytes` could be the beginning of the delimiter. */
function partAtEnd(bytes: Buffer, delimiter: Buffer): number {
  let at = bytes.indexOf(delimiter[0]!, Math.max(0, bytes.length - delimiter.length + 1));
  while (at >= 0) {
    if (bytes.subarray(at).equals(delimiter.subarray(0, bytes.length - at))) {
      return bytes.length - at;
    }
    at = bytes.indexOf(delimiter[0]!, at + 1);
  }
  return 0;
}

interface PartHead {
  readonly name: string;
  readonly fileName: string;
}

const parameterPattern = /^;\s*([a-z*]+)=(?:"((?:[^"\\\r\n]|\\[^\r\n])*)"|([^\s";]+))\s*/i;

/** Reads a part's headers; null when they don't name a field. */
function readPartHead(text: string): PartHead | null {
  const dispositions = text
    .split('\r\n')
    .filter((line) => /^content-disposition\s*:/i.test(line))
    .map((line) => line.slice(line.indexOf(':') + 1).trim());
  const [disposition] = dispositions;
  if (dispositions.length !== 1 || disposition === undefined) return null;
  let rest = disposition.replace(/^form-data\s*/i, '');
  if (rest === disposition) return null;
  const values = new Map<string, string>();
  while (rest !== '') {
    const match = parameterPattern.exec(rest);
    if (match === null) return null;
    const name = match[1]!.toLowerCase();
    if (values.has(name)) return null;
    values.set(name, match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3]!);
    rest = rest.slice(match[0].length);
  }
  const name = values.get('name')?.toLowerCase() ?? '';
  return name === '' ? null : { name, fileName: values.get('filename') ?? '' };
}
