// GetObject and HeadObject: preconditions, then part numbers and ranges, then the bytes.
import { S3Error } from '../s3-error.ts';
import { resolveRange } from '../byte-range.ts';
import type { Answer } from '../http/answer.ts';
import { emptyAnswer } from '../http/answer.ts';
import type { S3Request } from '../http/request.ts';
import { parameter } from '../http/request.ts';
import { preconditionFailed, readPrecondition } from '../preconditions.ts';
import { checksumOf } from '../store/checksum.ts';
import type { Checksum } from '../store/checksum.ts';
import type { Content } from '../store/content.ts';
import type { Header, StoredObject } from '../store/store.ts';
import type { Context } from './context.ts';
import { checkCustomerKey, checksumHeaders, objectHeaders } from './object-headers.ts';

const overrides: readonly (readonly [parameter: string, header: string])[] = [
  ['response-cache-control', 'cache-control'],
  ['response-content-disposition', 'content-disposition'],
  ['response-content-encoding', 'content-encoding'],
  ['response-content-language', 'content-language'],
  ['response-content-type', 'content-type'],
  ['response-expires', 'expires'],
];
/** No control characters: a line end would begin another header. */
const headerCanHold = /^[\x20-\x7e\x80-\xff]*$/;
const notModifiedNames = new Set(['etag', 'last-modified', 'cache-control', 'expires']);

export function getObject(context: Context): Answer {
  const { request } = context;
  const object = existingObject(context);
  checkCustomerKey(request.headers, object);
  const precondition = readPrecondition(request.headers, object);
  if (precondition === 'not-modified') {
    return emptyAnswer(
      304,
      objectHeaders(object).filter(([name]) => notModifiedNames.has(name)),
    );
  }
  if (precondition !== 'pass') throw preconditionFailed(precondition.failed);
  const partNumber = parameter(request, 'partNumber');
  const headers = overridden(objectHeaders(object), request);
  if (partNumber !== null) return partAnswer(object, Number(partNumber), headers, request);
  return rangeAnswer(object, headers, request);
}

/** The object a request names. @throws S3Error NoSuchKey, or for a version, since there are none */
export function existingObject(context: Context): StoredObject {
  const versionId = parameter(context.request, 'versionId');
  if (versionId !== null && versionId !== 'null') {
    throw new S3Error('InvalidArgument', 'Invalid version id specified', {
      ArgumentName: 'versionId',
      ArgumentValue: versionId,
    });
  }
  const object = context.bucket().get(context.key);
  if (object === null) throw new S3Error('NoSuchKey');
  return object;
}

function overridden(headers: Header[], request: S3Request): Header[] {
  const replaced = new Map<string, string>();
  for (const [name, header] of overrides) {
    const value = parameter(request, name);
    if (value === null) continue;
    if (!headerCanHold.test(value)) {
      throw new S3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.', {
        ArgumentName: name,
      });
    }
    replaced.set(header, value);
  }
  return [...headers.filter(([name]) => !replaced.has(name)), ...replaced];
}

function rangeAnswer(object: StoredObject, headers: Header[], request: S3Request): Answer {
  const { size } = object.content;
  const rangeHeader = request.headers.get('range');
  const range = resolveRange(rangeHeader, size);
  if (range === 'unsatisfiable') {
    throw new S3Error(
      'InvalidRange',
      undefined,
      { RangeRequested: rangeHeader ?? '', ActualObjectSize: String(size) },
      [['content-range', `bytes */${size}`]],
    );
  }
  if (range === 'whole') {
    const sums = wantsChecksum(request) ? checksumHeaders(objectChecksum(object)) : [];
    return contentAnswer(200, object.content, 0, size, [...headers, ...sums], request);
  }
  const { start, end } = range;
  headers.push(['content-range', `bytes ${start}-${end - 1}/${size}`]);
  return contentAnswer(206, object.content, start, end, headers, request);
}

function partAnswer(
  object: StoredObject,
  number: number,
  headers: Header[],
  request: S3Request,
): Answer {
  if (request.headers.has('range')) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber.');
  }
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000.');
  }
  const { content, parts } = object;
  // Parts are renumbered from 1, whatever numbers the upload used.
  const part = parts?.[number - 1];
  if (part === undefined && !(parts === null && number === 1)) {
    throw new S3Error('InvalidPartNumber', undefined, {
      ActualPartCount: String(parts?.length ?? 1),
      PartNumberRequested: String(number),
    });
  }
  const start = (parts ?? []).slice(0, number - 1).reduce((sum, one) => sum + one.content.size, 0);
  const end = start + (part ?? object).content.size;
  if (parts !== null) headers.push(['x-amz-mp-parts-count', String(parts.length)]);
  if (wantsChecksum(request)) {
    const checksum = part === undefined ? objectChecksum(object) : part.checksum;
    headers.push(...checksumHeaders(checksum));
  }
  if (content.size === 0) return contentAnswer(200, content, 0, 0, headers, request);
  headers.push(['content-range', `bytes ${start}-${end - 1}/${content.size}`]);
  return contentAnswer(206, content, start, end, headers, request);
}

function contentAnswer(
  status: number,
  content: Content,
  start: number,
  end: number,
  headers: readonly Header[],
  request: S3Request,
): Answer {
  if (request.method === 'HEAD') {
    return emptyAnswer(status, [...headers, ['content-length', String(end - start)]]);
  }
  if (!content.readable) {
    throw new S3Error('NotImplemented', 'This bucket discards what is uploaded into it.');
  }
  return { status, headers, body: { content, start, end } };
}

function wantsChecksum(request: S3Request): boolean {
  return request.headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
}

const lateChecksums = new WeakMap<Content, Checksum>();
const maxLateChecksumBytes = 64 * 1024 * 1024;

// S3 keeps a CRC-64/NVME of every upload that brought no checksum. It is computed when first asked for,
// and not at all for content that is too long to hash in passing or that isn't there.
function objectChecksum(object: StoredObject): Checksum | null {
  const { content } = object;
  if (object.checksum !== null) return object.checksum;
  if (content.size > maxLateChecksumBytes || !content.readable) return null;
  const known = lateChecksums.get(content) ?? checksumOf(content, 'CRC64NVME');
  lateChecksums.set(content, known);
  return known;
}
