/**
 * Traces from S3's server access logs, one request a line.
 *
 * Reads are the lines REST.GET.OBJECT with status 200 or 206; writes and deletes make a new version of their object; all
 * else is passed over. The log doesn't say where a range began: ranged reads of an object are taken to follow each other
 * from its first byte on, and to begin again past its end. Lines may be a little out of order, as S3 delivers them.
 */
import { MAX_OBJECT_BYTES } from '@s3-accelerator/core/layout.ts';
import type { TraceRead } from '../trace.ts';
import { TraceError } from './trace-error.ts';
import type { Versions } from './versions.ts';

const FIELDS = /"((?:[^"\\]|\\.)*)"|\[([^\]]*)\]|(\S+)/g;
const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const BYTES = /^(?:-|\d{1,15})$/;
/** Owner, bucket, time, address, requester, request id, operation, key, request, status, error, bytes sent, object size. */
const LEAST_FIELDS = 13;
const WRITES =
  /^(?:REST|BATCH|S3)\.(?:PUT|POST|COPY|DELETE|EXPIRE)\.(?:OBJECT|UPLOAD|OBJECT_COPY)$/;

/** Whether a file that begins with this line is one of these. */
export function looksLikeAccessLog(line: string): boolean {
  return /^\S+ \S+ \[[^\]]+\] /.test(line);
}

export class AccessLogReader {
  readonly #path: string;
  readonly #versions: Versions;
  #startMs = -1;
  #lastMs = 0;

  constructor(path: string, versions: Versions) {
    this.#path = path;
    this.#versions = versions;
  }

  /** The read that a line tells of; null for everything else. */
  read(text: string, line: number): TraceRead | null {
    if (text === '') return null;
    const fields: string[] = [];
    for (const [, quoted, bracketed, plain] of text.matchAll(FIELDS)) {
      fields.push(quoted ?? bracketed ?? plain ?? '');
    }
    if (fields.length < LEAST_FIELDS) {
      throw this.#error(
        line,
        `expected the ${LEAST_FIELDS} fields of an S3 access log, found ${fields.length}`,
      );
    }
    const atMs = this.#time(line, fields[2]!);
    const operation = fields[6]!;
    const name = `${fields[1]!}/${fields[7]!}`;
    const status = fields[9]!;
    if (WRITES.test(operation) && /^2/.test(status)) this.#versions.changed(name);
    if (operation !== 'REST.GET.OBJECT' || (status !== '200' && status !== '206')) return null;
    const length = this.#bytes(line, 'bytes sent', fields[11]!);
    const size = this.#bytes(line, 'object size', fields[12]!);
    if (length === 0 || size === 0) return null;
    if (size > MAX_OBJECT_BYTES)
      throw this.#error(line, `size ${size} is more than an object can have`);
    if (length > size) throw this.#error(line, `${length} bytes sent of an object of ${size}`);
    const first = status === '206' ? this.#versions.place(name, size, length) : 0;
    return { atMs, version: this.#versions.of(name, size), size, first, length, isHot: false };
  }

  /** Milliseconds since the log's first line, never going back. */
  #time(line: number, text: string): number {
    const match = TIME.exec(text);
    const month = MONTHS.indexOf(match?.[2] ?? '');
    if (match === null || month === -1)
      throw this.#error(line, `time '${text}' is no time of a log`);
    const [, day, , year, hours, minutes, seconds, sign, offsetHours, offsetMinutes] = match;
    const east = (sign === '+' ? 1 : -1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
    const inDay = Number(hours) * 3600 + (Number(minutes) - east) * 60 + Number(seconds);
    const ms = (daysSince1970(Number(year), month, Number(day)) * 86_400 + inDay) * 1000;
    if (this.#startMs === -1) this.#startMs = ms;
    this.#lastMs = Math.max(this.#lastMs, ms - this.#startMs);
    return this.#lastMs;
  }

  #bytes(line: number, name: string, text: string): number {
    if (!BYTES.test(text)) throw this.#error(line, `${name} '${text}' is no number of bytes`);
    return text === '-' ? 0 : Number(text);
  }

  #error(line: number, what: string): TraceError {
    return new TraceError(this.#path, line, what);
  }
}

/** Days of the Gregorian calendar; `month` from 0. Years are counted from March, so a leap day is a year's last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = (month + 10) % 12;
  const years = month < 2 ? year - 1 : year;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return 365 * years + leapDays + Math.floor((153 * shifted + 2) / 5) + day - 719_469;
}
