// ListObjects V1 and V2: keys in byte order after a marker, rolled up at a delimiter.
import { bytesFromText, listingEncode, textFromBytes } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import { xmlAnswer } from '../http/answer.ts';
import { parameter } from '../http/request.ts';
import { S3Error } from '../s3-error.ts';
import type { Bucket, StoredObject } from '../store/store.ts';
import { nest, tag, xmlDocument } from '../xml.ts';
import { owner } from './bucket.ts';
import type { Context } from './context.ts';
import { xmlTime } from './object-headers.ts';

const pageKeys = 1000;

interface Query {
  readonly prefix: ByteString;
  readonly delimiter: ByteString;
  readonly after: ByteString;
  readonly maxKeys: number;
}

interface Page {
  readonly objects: readonly StoredObject[];
  readonly prefixes: readonly ByteString[];
  /** The last key or common prefix on the page, if more follow. */
  readonly next: ByteString | null;
}

export function listObjectsV1(context: Context): Answer {
  const { request } = context;
  const marker = parameter(request, 'marker') ?? '';
  const query = readQuery(context, marker);
  const bucket = context.bucket();
  const page = listPage(bucket, query);
  const show = shower(context);
  return xmlAnswer(
    xmlDocument(
      'ListBucketResult',
      tag('Name', bucket.name),
      tag('Prefix', show(query.prefix)),
      tag('Marker', show(marker)),
      ...(page.next !== null && query.delimiter !== '' ? [tag('NextMarker', show(page.next))] : []),
      ...commonElements(context, query, page, true),
    ),
  );
}

export function listObjectsV2(context: Context): Answer {
  const { request } = context;
  const token = parameter(request, 'continuation-token');
  const startAfter = parameter(request, 'start-after') ?? '';
  const query = readQuery(context, token === null ? startAfter : readToken(token));
  const bucket = context.bucket();
  const page = listPage(bucket, query);
  const show = shower(context);
  const withOwner = parameter(request, 'fetch-owner') === 'true';
  return xmlAnswer(
    xmlDocument(
      'ListBucketResult',
      tag('Name', bucket.name),
      tag('Prefix', show(query.prefix)),
      ...(startAfter === '' ? [] : [tag('StartAfter', show(startAfter))]),
      ...(token === null ? [] : [tag('ContinuationToken', token)]),
      ...(page.next === null ? [] : [tag('NextContinuationToken', writeToken(page.next))]),
      tag('KeyCount', page.objects.length + page.prefixes.length),
      ...commonElements(context, query, page, withOwner),
    ),
  );
}

function readQuery(context: Context, after: ByteString): Query {
  const { request } = context;
  const encoding = parameter(request, 'encoding-type');
  if (encoding !== null && encoding !== 'url') {
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  }
  return {
    prefix: parameter(request, 'prefix') ?? '',
    delimiter: parameter(request, 'delimiter') ?? '',
    after,
    maxKeys: boundedCount(parameter(request, 'max-keys'), pageKeys, pageKeys),
  };
}

/** A count parameter: absent means `usual`, more than `most` means `most`. @throws S3Error */
export function boundedCount(text: string | null, most: number, usual: number): number {
  if (text === null || text === '') return usual;
  if (!/^\d{1,10}$/.test(text)) {
    throw new S3Error('InvalidArgument', 'Provided count not an integer or within integer range');
  }
  return Math.min(Number(text), most);
}

function listPage(bucket: Bucket, query: Query): Page {
  const { prefix, delimiter, after, maxKeys } = query;
  const keys = bucket.keys();
  const objects: StoredObject[] = [];
  const prefixes: ByteString[] = [];
  let last: ByteString | null = null;
  let at = after < prefix ? firstAtOrAfter(keys, prefix) : firstAtOrAfter(keys, `${after}\u0000`);
  while (at < keys.length && maxKeys > 0) {
    const key = keys[at]!;
    if (!key.startsWith(prefix)) break;
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const rolledUp = cut < 0 ? null : key.slice(0, cut + delimiter.length);
    // A page may end with a common prefix: the next one starts behind all of its keys.
    if (rolledUp !== null && rolledUp === after) {
      at = firstAtOrAfter(keys, successor(rolledUp));
      continue;
    }
    if (objects.length + prefixes.length === maxKeys) return { objects, prefixes, next: last };
    if (rolledUp === null) {
      objects.push(bucket.get(key)!);
      last = key;
      at++;
    } else {
      prefixes.push(rolledUp);
      last = rolledUp;
      at = firstAtOrAfter(keys, successor(rolledUp));
    }
  }
  return { objects, prefixes, next: null };
}

// The smallest byte string after everything that starts with `prefix`.
function successor(prefix: ByteString): ByteString {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}

function firstAtOrAfter(keys: readonly ByteString[], wanted: ByteString): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonElements(context: Context, query: Query, page: Page, withOwner: boolean): string[] {
  const show = shower(context);
  return [
    tag('MaxKeys', query.maxKeys),
    ...(query.delimiter === '' ? [] : [tag('Delimiter', show(query.delimiter))]),
    ...(isUrlEncoded(context) ? [tag('EncodingType', 'url')] : []),
    tag('IsTruncated', page.next !== null),
    ...page.objects.map((object) =>
      nest(
        'Contents',
        tag('Key', show(object.key)),
        tag('LastModified', xmlTime(object.lastModifiedMs)),
        tag('ETag', `"${object.etag}"`),
        ...(object.checksum === null ? [] : [tag('ChecksumAlgorithm', object.checksum.algorithm)]),
        tag('Size', object.content.size),
        ...(withOwner ? [nest('Owner', owner)] : []),
        tag('StorageClass', 'STANDARD'),
      ),
    ),
    ...page.prefixes.map((one) => nest('CommonPrefixes', tag('Prefix', show(one)))),
  ];
}

function isUrlEncoded(context: Context): boolean {
  return parameter(context.request, 'encoding-type') === 'url';
}

function shower(context: Context): (bytes: ByteString) => string {
  return isUrlEncoded(context) ? listingEncode : textFromBytes;
}

function writeToken(last: ByteString): string {
  return Buffer.from(last, 'latin1').toString('base64url');
}

function readToken(token: string): ByteString {
  const last = Buffer.from(token, 'base64url').toString('latin1');
  if (token === '' || writeToken(last) !== bytesFromText(token)) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  }
  return last;
}
