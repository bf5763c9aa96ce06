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
/** SDKs in C++, such as ClickHouse's, name S3's API in each request. There is one. */
const apiVersion = ascii('x-amz-api-version');
const onlyApiVersion = ascii('2006-03-01');

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

/** As `startsWith`, to the last byte. */
function equals(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  return end - start === text.length && startsWith(bytes, start, end, text);
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
    if (equals(bytes, start, end, userAgent)) continue;
    if (!equals(bytes, start, end, apiVersion)) return false;
    const value = headers[index * headerStride + 2]!;
    const valueEnd = headers[index * headerStride + 3]!;
    if (!equals(bytes, value, valueEnd, onlyApiVersion)) return false;
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
