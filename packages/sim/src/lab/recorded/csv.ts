/**
 * Traces as comma-separated values: `time,key,size,offset,length`, one GET a line.
 *
 * Time in milliseconds from any start, never going back; size of the object, offset and length of the range in bytes.
 * Without offset and length the whole object is read. A first line that begins with `time` is a heading. A key with commas
 * or quotes stands in double quotes, quotes in it doubled. A key whose size changes is a new version.
 */
import { MAX_OBJECT_BYTES } from '@s3-accelerator/core/layout.ts';
import type { TraceRead } from '../trace.ts';
import { TraceError } from './trace-error.ts';
import type { Versions } from './versions.ts';

const FIELDS = /("(?:[^"]|"")*"|[^,"]*)(?:,|$)/gy;
const WHOLE_NUMBER = /^\d{1,15}$/;
const MILLISECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;

/** Whether a file that begins with this line is one of these. */
export function looksLikeCsv(line: string): boolean {
  return /^time\s*,/i.test(line) || /^\d+(?:\.\d+)?,/.test(line);
}

export class CsvReader {
  readonly #path: string;
  readonly #versions: Versions;
  #lastMs = 0;

  constructor(path: string, versions: Versions) {
    this.#path = path;
    this.#versions = versions;
  }

  /** The read that a line tells of; null for a heading or an empty line. */
  read(text: string, line: number): TraceRead | null {
    if (text === '' || (line === 1 && /^time\s*,/i.test(text))) return null;
    const fields = fieldsOf(text);
    if (fields === null) throw this.#error(line, 'a quote is open or out of place');
    if (fields.length !== 5 && fields.length !== 3) {
      throw this.#error(
        line,
        `expected time,key,size,offset,length, found ${fields.length} fields`,
      );
    }
    const [time = '', key = '', sizeText = '', offsetText = '', lengthText = ''] = fields;
    if (!MILLISECONDS.test(time))
      throw this.#error(line, `time '${time}' is no number of milliseconds`);
    const atMs = Number(time);
    if (atMs < this.#lastMs)
      throw this.#error(line, `time goes back from ${this.#lastMs} to ${atMs}`);
    if (key === '') throw this.#error(line, 'the key is empty');
    const size = this.#bytes(line, 'size', sizeText);
    if (size > MAX_OBJECT_BYTES)
      throw this.#error(line, `size ${size} is more than an object can have`);
    const first = offsetText === '' ? 0 : this.#bytes(line, 'offset', offsetText);
    const length = lengthText === '' ? size - first : this.#bytes(line, 'length', lengthText);
    this.#lastMs = atMs;
    if (size === 0) return null;
    if (length < 1 || first + length > size) {
      throw this.#error(line, `${length} bytes from ${first} on are not within ${size} bytes`);
    }
    return { atMs, version: this.#versions.of(key, size), size, first, length, isHot: false };
  }

  #bytes(line: number, name: string, text: string): number {
    if (!WHOLE_NUMBER.test(text))
      throw this.#error(line, `${name} '${text}' is no number of bytes`);
    return Number(text);
  }

  #error(line: number, what: string): TraceError {
    return new TraceError(this.#path, line, what);
  }
}

/** The fields of a line; null when its quotes don't add up. */
function fieldsOf(text: string): readonly string[] | null {
  const fields: string[] = [];
  FIELDS.lastIndex = 0;
  let end = 0;
  for (let match = FIELDS.exec(text); match !== null; match = FIELDS.exec(text)) {
    const field = match[1]!;
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    end = FIELDS.lastIndex;
    if (end === text.length && !match[0].endsWith(',')) return fields;
    if (end === text.length) return [...fields, ''];
  }
  return null;
}
