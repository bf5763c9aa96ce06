// PutObject and DeleteObject, and the one place where a new object record is made.
import { createHash } from 'node:crypto';
import type { Answer } from '../http/answer.ts';
import { emptyAnswer } from '../http/answer.ts';
import { checkWrite } from '../preconditions.ts';
import { S3Error } from '../s3-error.ts';
import { SyntheticContent } from '../store/content.ts';
import type { Bucket, StoredObject } from '../store/store.ts';
import { textFromBytes } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import type { Context } from './context.ts';
import {
  checksumHeaders,
  customerKeyHeaders,
  customerKeyMd5,
  etagHeader,
  keptHeaders,
  taggingHeader,
} from './object-headers.ts';

const syntheticHeader = 'x-memory-s3-synthetic';

export async function putObject(context: Context): Promise<Answer> {
  const { request, key } = context;
  const bucket = context.bucket();
  const headers = keptHeaders(request.headers);
  const tags = taggingHeader(request.headers);
  const keyMd5 = customerKeyMd5(request.headers);
  const upload = await context.upload();
  const synthetic = request.headers.get(syntheticHeader);
  // Checked and stored without a pause in between: of two conditional writers one loses.
  checkWrite(request.headers, bucket, key);
  const object: StoredObject = {
    key,
    content: upload.content,
    etag: upload.md5,
    lastModifiedMs: context.clock(),
    headers,
    tags,
    checksum: upload.checksum,
    parts: null,
    customerKeyMd5: keyMd5,
  };
  const stored =
    synthetic === undefined
      ? object
      : { ...object, ...syntheticBytes(bucket, key, readSyntheticSize(synthetic), 0) };
  bucket.put(stored);
  return emptyAnswer(200, [
    etagHeader(stored.etag),
    ...checksumHeaders(stored.checksum),
    ...customerKeyHeaders(keyMd5),
    ...headers.filter(([name]) => name.startsWith('x-amz-server-side-encryption')),
  ]);
}

/** Content of a size that takes no memory, and an ETag that stands for it. */
export function syntheticBytes(
  bucket: Bucket,
  key: ByteString,
  size: number,
  seed: number,
): Pick<StoredObject, 'content' | 'etag' | 'checksum'> {
  const name = syntheticName(bucket.name, textFromBytes(key), seed);
  return {
    content: new SyntheticContent(name, size),
    etag: createHash('md5').update(`${name}\n${size}`).digest('hex'),
    checksum: null,
  };
}

/** What a synthetic object's bytes are derived from. */
function syntheticName(bucket: string, key: string, seed: number): string {
  return `${bucket}\n${key}\n${seed}`;
}

function readSyntheticSize(header: string): number {
  const size = Number(header);
  if (!/^\d{1,15}$/.test(header) || size > 5 * 1024 ** 4) {
    throw new S3Error('InvalidArgument', `${syntheticHeader} takes a size in bytes.`);
  }
  return size;
}

export function deleteObject(context: Context): Answer {
  const bucket = context.bucket();
  const { headers } = context.request;
  if (headers.has('if-match') && bucket.get(context.key) !== null) {
    checkWrite(headers, bucket, context.key);
  }
  bucket.delete(context.key);
  return emptyAnswer(204);
}
