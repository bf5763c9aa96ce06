/**
 * Dates as HTTP and SigV4 write them, to and from seconds since 1970.
 *
 * Core has no clock and no `Date`, so the calendar is plain arithmetic here: days are counted from the civil date with
 * years that begin in March, which puts the leap day last.
 */

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longDayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
];
const monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const secondsPerDay = 86_400;

/** Days from 1970-01-01 to a date of the Gregorian calendar; `month` counts from 1. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

interface CivilTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

function civilFromSeconds(seconds: number): CivilTime {
  const days = Math.floor(seconds / secondsPerDay);
  const rest = seconds - days * secondsPerDay;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
    hour: Math.floor(rest / 3600),
    minute: Math.floor((rest % 3600) / 60),
    second: rest % 60,
    weekday: (((days + 4) % 7) + 7) % 7,
  };
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function fourDigits(value: number): string {
  return `${value}`.padStart(4, '0');
}

/** `Fri, 24 May 2013 00:00:00 GMT` for whole seconds since 1970. */
export function formatHttpDate(seconds: number): string {
  const at = civilFromSeconds(seconds);
  const date = `${twoDigits(at.day)} ${monthNames[at.month - 1]!} ${fourDigits(at.year)}`;
  const time = `${twoDigits(at.hour)}:${twoDigits(at.minute)}:${twoDigits(at.second)}`;
  return `${dayNames[at.weekday]!}, ${date} ${time} GMT`;
}

/** `20130524T000000Z` for whole seconds since 1970: the form of `x-amz-date`. */
export function formatAmzDate(seconds: number): string {
  const at = civilFromSeconds(seconds);
  const date = `${fourDigits(at.year)}${twoDigits(at.month)}${twoDigits(at.day)}`;
  return `${date}T${twoDigits(at.hour)}${twoDigits(at.minute)}${twoDigits(at.second)}Z`;
}

/** Seconds since 1970, or null when a field is outside of its range. */
function secondsOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | null {
  if (month < 1 || month > 12 || day < 1 || day > monthLengths[month - 1]!) return null;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2 && day === 29 && !leap) return null;
  // A leap second is a legal 60 and counts as the second after it.
  if (hour > 23 || minute > 59 || second > 60) return null;
  return daysFromCivil(year, month, day) * secondsPerDay + hour * 3600 + minute * 60 + second;
}

const fixdate = /^([A-Z][a-z]{2}), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const rfc850 = /^([A-Z][a-z]{5,8}), (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const asctime = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/**
 * Seconds since 1970 of a date in any of the three forms that HTTP allows, or null when it is none of them: a
 * condition with such a date is ignored. The weekday is checked to be one, not to be the right one.
 */
export function parseHttpDate(text: string): number | null {
  const first = fixdate.exec(text);
  if (first !== null) {
    const [, weekday, day, month, year, hour, minute, second] = first;
    if (!dayNames.includes(weekday!)) return null;
    return secondsOf(
      Number(year),
      monthNames.indexOf(month!) + 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    );
  }
  const second = rfc850.exec(text);
  if (second !== null) {
    const [, weekday, day, month, year, hour, minute, seconds] = second;
    if (!longDayNames.includes(weekday!)) return null;
    // Two digits of a year: no clock here, so the pivot is fixed where POSIX has it.
    const full = Number(year) + (Number(year) < 69 ? 2000 : 1900);
    return secondsOf(
      full,
      monthNames.indexOf(month!) + 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(seconds),
    );
  }
  const third = asctime.exec(text);
  if (third === null) return null;
  const [, weekday, month, day, hour, minute, seconds, year] = third;
  if (!dayNames.includes(weekday!)) return null;
  return secondsOf(
    Number(year),
    monthNames.indexOf(month!) + 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(seconds),
  );
}

/** The number that two ASCII digits write, or NaN. */
function pair(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - 48;
  const ones = bytes[at + 1]! - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/**
 * Seconds since 1970 of a `20130524T000000Z` in `bytes[start, end)`, or -1. Straight from bytes and without an
 * allocation, since each signature check needs it.
 */
export function parseAmzDate(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 16 || bytes[start + 8] !== 0x54 || bytes[start + 15] !== 0x5a) return -1;
  const year = pair(bytes, start) * 100 + pair(bytes, start + 2);
  const month = pair(bytes, start + 4);
  const day = pair(bytes, start + 6);
  const hour = pair(bytes, start + 9);
  const minute = pair(bytes, start + 11);
  const second = pair(bytes, start + 13);
  if (Number.isNaN(year + month + day + hour + minute + second)) return -1;
  return secondsOf(year, month, day, hour, minute, second) ?? -1;
}
