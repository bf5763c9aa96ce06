/**
 * Conditional reads: tags win over dates, a failed demand (412) over an answer that the client has already (304).
 */
import type { ReadConditions } from './request.ts';

export type ConditionsAnswer = 'serve' | 'not modified' | 'failed';

/** What S3 makes of the conditions of a read, for an object with this ETag and modification time in seconds. */
export function conditionsAnswer(
  conditions: ReadConditions,
  etag: string,
  lastModified: number,
): ConditionsAnswer {
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== null) {
    if (!listed(ifMatch, etag, 'strongly')) return 'failed';
  } else {
    const limit = secondsOf(conditions.ifUnmodifiedSince);
    if (limit !== null && limit < lastModified) return 'failed';
  }
  if (ifNoneMatch !== null) return listed(ifNoneMatch, etag, 'weakly') ? 'not modified' : 'serve';
  const limit = secondsOf(conditions.ifModifiedSince);
  return limit !== null && limit >= lastModified ? 'not modified' : 'serve';
}

/** `W/` before a tag counts in If-Match only, where a weak tag fits nothing. Tags may lack their quotes. */
function listed(list: string, etag: string, how: 'strongly' | 'weakly'): boolean {
  if (list.trim() === '*') return true;
  const own = etag.replace(/^W\//, '');
  if (how === 'strongly' && own !== etag) return false;
  // No tag of ours holds a comma, so a list may be taken apart at each.
  return list.split(',').some((item) => {
    const tag = item.trim();
    const bare = tag.replace(/^W\//, '');
    if (how === 'strongly' && bare !== tag) return false;
    return bare === own || (bare !== '' && `"${bare}"` === own);
  });
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const monthStarts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const datePattern = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;

/** Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that the simulated clients send; else null. */
function secondsOf(date: string | null): number | null {
  const match = date === null ? null : datePattern.exec(date);
  if (match === null) return null;
  const [, day, name, year, hours, minutes, seconds] = match;
  const month = months.indexOf(name!);
  if (month < 0) return null;
  const days = daysBefore(Number(year)) + dayOfYear(Number(day), month, Number(year));
  return ((days * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}

function daysBefore(year: number): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  return year * 365 + leapDays - (1970 * 365 + 477);
}

function dayOfYear(day: number, month: number, year: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return monthStarts[month]! + day - 1 + (isLeap && month > 1 ? 1 : 0);
}
