/**
 * Which requests the cache may answer: plain reads of an object's current version. Everything else goes to S3 as it is.
 *
 * The rule is a list of what is understood, not of what isn't: a header or parameter that nobody here knows could change the
 * answer, so its request passes through.
 */
import { isAuthenticationParameter, type QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import type { Operation } from '../auth/operation.ts';
import { HeaderSlot } from '../http/header-slots.ts';
import { headerStride, type RequestHead } from '../http/request-head.ts';
import { isOverride } from './response-overrides.ts';

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const amzPrefix = ascii('x-amz-');
const userAgent = ascii('x-amz-user-agent');

/** x-amz-… headers that SDKs send with plain reads, and the one value of each that doesn't change what they answer. */
const harmlessPairs: readonly (readonly [Uint8Array, Uint8Array])[] = (
  [
    // SDKs in C++, such as ClickHouse's, name S3's API. There is one.
    ['x-amz-api-version', '2006-03-01'],
    // The SDK for Java would take an MD5 behind the body. An answer that doesn't say that it has one is one without.
    ['x-amz-te', 'append-md5'],
    // Of the body that the request doesn't have.
    ['x-amz-checksum-crc32', 'AAAAAA=='],
    ['x-amz-checksum-crc32c', 'AAAAAA=='],
    ['x-amz-checksum-crc64nvme', 'AAAAAAAAAAA='],
    ['x-amz-checksum-sha1', '2jmj7l5rSw0yVb/vlWAYkK/YBwk='],
    ['x-amz-checksum-sha256', '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
  ] as const
).map(([name, value]) => [ascii(name), ascii(value)]);

/** x-amz-… headers with a slot that don't change what a read answers. */
const harmlessSlots = new Set<number>([
  HeaderSlot['x-amz-date'],
  HeaderSlot['x-amz-content-sha256'],
  HeaderSlot['x-amz-security-token'],
  HeaderSlot['x-amz-checksum-mode'],
]);

function startsWith(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start < name.length) return false;
  for (let at = 0; at < name.length; at += 1) {
    const byte = bytes[start + at]!;
    const folded = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (folded !== name[at]) return false;
  }
  return true;
}

function isNamed(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  return end - start === name.length && startsWith(bytes, start, end, name);
}

function isValue(bytes: Uint8Array, start: number, end: number, value: Uint8Array): boolean {
  if (end - start !== value.length) return false;
  for (let at = 0; at < value.length; at += 1) if (bytes[start + at] !== value[at]) return false;
  return true;
}

function isHarmlessPair({ bytes, headers }: RequestHead, index: number): boolean {
  const at = index * headerStride;
  for (const [name, value] of harmlessPairs) {
    if (!isNamed(bytes, headers[at]!, headers[at + 1]!, name)) continue;
    return isValue(bytes, headers[at + 2]!, headers[at + 3]!, value);
  }
  return false;
}

/** Whether every header named x-amz-… is one that doesn't change the answer. */
function hasPlainHeaders(head: RequestHead): boolean {
  const { bytes, headers } = head;
  for (let index = 0; index < head.headerCount; index += 1) {
    const start = headers[index * headerStride]!;
    const end = headers[index * headerStride + 1]!;
    if (!startsWith(bytes, start, end, amzPrefix)) continue;
    const slot = head.headerSlots[index]! - 1;
    if (slot >= 0 && harmlessSlots.has(slot)) continue;
    if (!isNamed(bytes, start, end, userAgent) && !isHarmlessPair(head, index)) return false;
  }
  return true;
}

function hasPlainQuery(parameters: readonly QueryParameter[]): boolean {
  return parameters.every((parameter) => {
    const folded = parameter.name.toLowerCase();
    return (
      folded === 'x-id' ||
      folded === 'x-amz-checksum-mode' ||
      isAuthenticationParameter(folded) ||
      isOverride(parameter)
    );
  });
}

export function isCacheable(
  operation: Operation,
  head: RequestHead,
  parameters: readonly QueryParameter[],
): boolean {
  return (
    (operation === 'GetObject' || operation === 'HeadObject') &&
    head.framing === 'none' &&
    !head.has(HeaderSlot['if-range']) &&
    (parameters.length === 0 || hasPlainQuery(parameters)) &&
    hasPlainHeaders(head)
  );
}
