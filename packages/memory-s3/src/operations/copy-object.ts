// CopyObject: a new object record over the same immutable content.
import { createHash } from 'node:crypto';
import { percentDecode } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import { xmlAnswer } from '../http/answer.ts';
import { checkCopySource, checkWrite } from '../preconditions.ts';
import { S3Error } from '../s3-error.ts';
import { checksumAlgorithm, checksumOf } from '../store/checksum.ts';
import type { Checksum } from '../store/checksum.ts';
import type { Content } from '../store/content.ts';
import type { StoredObject } from '../store/store.ts';
import { tag, xmlDocument } from '../xml.ts';
import type { Context } from './context.ts';
import {
  checkCustomerKey,
  customerKeyMd5,
  keptHeaders,
  taggingHeader,
  xmlTime,
} from './object-headers.ts';

const maxCopyBytes = 5 * 1024 ** 3;

export function copyObject(context: Context): Answer {
  const { request, key } = context;
  const bucket = context.bucket();
  const source = copySource(context);
  const replaceHeaders = directive(request.headers.get('x-amz-metadata-directive'));
  const replaceTags = directive(request.headers.get('x-amz-tagging-directive'));
  const keyMd5 = customerKeyMd5(request.headers);
  if (
    bucket.get(key) === source &&
    !replaceHeaders &&
    ![
      'x-amz-storage-class',
      'x-amz-website-redirect-location',
      'x-amz-server-side-encryption',
    ].some((name) => request.headers.has(name))
  ) {
    throw new S3Error(
      'InvalidRequest',
      'This copy request is illegal because it copies an object to itself without changing it.',
    );
  }
  if (source.content.size > maxCopyBytes) {
    throw new S3Error('InvalidRequest', 'The copy source is larger than the maximum of 5 GB.');
  }
  checkWrite(request.headers, bucket, key);
  const copy: StoredObject = {
    key,
    content: source.content,
    etag: source.parts === null ? source.etag : md5Of(source.content),
    lastModifiedMs: context.clock(),
    headers: replaceHeaders ? keptHeaders(request.headers) : source.headers,
    tags: replaceTags ? taggingHeader(request.headers) : source.tags,
    checksum: copiedChecksum(source, request.headers.get('x-amz-checksum-algorithm')),
    parts: null,
    customerKeyMd5: keyMd5,
  };
  bucket.put(copy);
  return xmlAnswer(
    xmlDocument(
      'CopyObjectResult',
      tag('LastModified', xmlTime(copy.lastModifiedMs)),
      tag('ETag', `"${copy.etag}"`),
      ...checksumElements(copy.checksum),
    ),
  );
}

/** The object a copy reads, its conditions met. @throws S3Error */
export function copySource(context: Context): StoredObject {
  const { bucket, key } = readCopySource(context.request.headers.get('x-amz-copy-source') ?? '');
  const object = context.store.bucket(bucket).get(key);
  if (object === null) throw new S3Error('NoSuchKey');
  checkCustomerKey(context.request.headers, object, 'x-amz-copy-source-');
  checkCopySource(context.request.headers, object);
  return object;
}

function readCopySource(header: string): { bucket: string; key: ByteString } {
  const version = header.lastIndexOf('?versionId=');
  const path = version < 0 ? header : header.slice(0, version);
  if (version >= 0 && header.slice(version) !== '?versionId=null') {
    throw new S3Error('InvalidArgument', 'Invalid version id specified');
  }
  const decoded = percentDecode(path.startsWith('/') ? path.slice(1) : path);
  const slash = decoded.indexOf('/');
  if (slash <= 0 || slash === decoded.length - 1) {
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key', {
      ArgumentName: 'x-amz-copy-source',
      ArgumentValue: header,
    });
  }
  return { bucket: decoded.slice(0, slash), key: decoded.slice(slash + 1) };
}

function directive(header: string | undefined): boolean {
  if (header === undefined || header === 'COPY') return false;
  if (header === 'REPLACE') return true;
  throw new S3Error('InvalidArgument', 'Unknown metadata directive.');
}

function copiedChecksum(source: StoredObject, asked: string | undefined): Checksum | null {
  if (asked !== undefined) {
    const algorithm = checksumAlgorithm(asked);
    if (algorithm === null) throw new S3Error('InvalidRequest', 'Unknown checksum algorithm.');
    return checksumOf(source.content, algorithm);
  }
  return source.checksum?.type === 'FULL_OBJECT' ? source.checksum : null;
}

/** A checksum as XML results show it. */
export function checksumElements(checksum: Checksum | null): string[] {
  if (checksum === null) return [];
  return [tag(`Checksum${checksum.algorithm}`, checksum.value), tag('ChecksumType', checksum.type)];
}

function md5Of(content: Content): string {
  const hash = createHash('md5');
  for (const slice of content.slices(0, content.size)) hash.update(slice);
  return hash.digest('hex');
}
