// The headers of objects: which of a write's headers are kept, and what a read answers with.
import { createHash } from 'node:crypto';
import { percentDecode, textFromBytes } from '../byte-string.ts';
import { S3Error } from '../s3-error.ts';
import { checksumHeader } from '../store/checksum.ts';
import type { Checksum } from '../store/checksum.ts';
import type { Header, StoredObject, Tag } from '../store/store.ts';

type Headers = ReadonlyMap<string, string>;

const keptNames = [
  'cache-control',
  'content-disposition',
  'content-language',
  'expires',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-website-redirect-location',
];
const metadataPrefix = 'x-amz-meta-';
const maxMetadataBytes = 2048;
const maxTags = 10;

/** What of a write's headers stays with the object, byte for byte. @throws S3Error MetadataTooLarge */
export function keptHeaders(headers: Headers): Header[] {
  const kept: Header[] = [['content-type', headers.get('content-type') ?? 'binary/octet-stream']];
  for (const name of keptNames) {
    const value = headers.get(name);
    if (value !== undefined) kept.push([name, value]);
  }
  const encoding = storedEncoding(headers.get('content-encoding'));
  if (encoding !== '') kept.push(['content-encoding', encoding]);
  const storageClass = headers.get('x-amz-storage-class') ?? 'STANDARD';
  if (storageClass !== 'STANDARD') kept.push(['x-amz-storage-class', storageClass]);
  let metadataBytes = 0;
  for (const [name, value] of headers) {
    if (!name.startsWith(metadataPrefix)) continue;
    metadataBytes += name.length - metadataPrefix.length + value.length;
    kept.push([name, value]);
  }
  if (metadataBytes > maxMetadataBytes) {
    throw new S3Error('MetadataTooLarge', undefined, {
      Size: String(metadataBytes),
      MaxSizeAllowed: String(maxMetadataBytes),
    });
  }
  return kept;
}

// `aws-chunked` describes the upload, not the object.
function storedEncoding(header: string | undefined): string {
  return (header ?? '')
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
    .join(',');
}

/** The tags of a write's `x-amz-tagging`. @throws S3Error InvalidTag */
export function taggingHeader(headers: Headers): Tag[] {
  const encoded = headers.get('x-amz-tagging') ?? '';
  return checkedTags(
    encoded
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        const decode = (piece: string): string => textFromBytes(percentDecode(piece, true));
        return equals < 0
          ? [decode(pair), '']
          : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      }),
  );
}

/** @throws S3Error InvalidTag for too many, too long or repeated tags */
export function checkedTags(tags: Tag[]): Tag[] {
  const keys = new Set(tags.map(([key]) => key));
  const wellFormed = tags.every(([key, value]) => {
    return key.length > 0 && key.length <= 128 && value.length <= 256;
  });
  if (tags.length > maxTags || keys.size !== tags.length || !wellFormed) {
    throw new S3Error('InvalidTag');
  }
  return tags;
}

const customerPrefix = 'server-side-encryption-customer-';

/** The MD5 of the customer's key (SSE-C); null without one. @throws S3Error if it doesn't fit the key */
export function customerKeyMd5(headers: Headers, prefix = 'x-amz-'): string | null {
  const key = headers.get(`${prefix}${customerPrefix}key`);
  const md5 = headers.get(`${prefix}${customerPrefix}key-md5`);
  const algorithm = headers.get(`${prefix}${customerPrefix}algorithm`);
  if (key === undefined && md5 === undefined && algorithm === undefined) return null;
  const bytes = Buffer.from(key ?? '', 'base64');
  const computed = createHash('md5').update(bytes).digest('base64');
  if (algorithm !== 'AES256' || bytes.length !== 32 || computed !== md5) {
    throw new S3Error('InvalidArgument', 'The customer encryption key or its MD5 is not valid.');
  }
  return computed;
}

/** Refuses a read of an SSE-C object without its key, and a key for an object without SSE-C. */
export function checkCustomerKey(headers: Headers, object: StoredObject, prefix = 'x-amz-'): void {
  const given = customerKeyMd5(headers, prefix);
  if (given === object.customerKeyMd5) return;
  if (given === null || object.customerKeyMd5 === null) {
    throw new S3Error(
      'InvalidRequest',
      'The encryption parameters do not fit the way the object was stored.',
    );
  }
  throw new S3Error('AccessDenied');
}

/** The echo of SSE-C that every answer about such an object carries. */
export function customerKeyHeaders(md5: string | null): Header[] {
  if (md5 === null) return [];
  return [
    [`x-amz-${customerPrefix}algorithm`, 'AES256'],
    [`x-amz-${customerPrefix}key-md5`, md5],
  ];
}

export function etagHeader(etag: string): Header {
  return ['etag', `"${etag}"`];
}

function lastModifiedHeader(ms: number): Header {
  return ['last-modified', new Date(ms).toUTCString()];
}

export function checksumHeaders(checksum: Checksum | null): Header[] {
  if (checksum === null) return [];
  return [
    [checksumHeader(checksum.algorithm), checksum.value],
    ['x-amz-checksum-type', checksum.type],
  ];
}

/** Everything a GET or HEAD says about the object, but its length and range. */
export function objectHeaders(object: StoredObject): Header[] {
  return [
    etagHeader(object.etag),
    lastModifiedHeader(object.lastModifiedMs),
    ['accept-ranges', 'bytes'],
    ...object.headers,
    ...customerKeyHeaders(object.customerKeyMd5),
    ...(object.tags.length > 0
      ? [['x-amz-tagging-count', String(object.tags.length)] as const]
      : []),
  ];
}

/** Moments in XML: whole seconds, written with S3's three zeros. */
export function xmlTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}.000Z`;
}
