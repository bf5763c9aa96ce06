// Multipart uploads: created → parts, in any order and again → completed or aborted.
import { createHash } from 'node:crypto';
import { resolveRange } from '../byte-range.ts';
import { percentEncode, textFromBytes } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import { emptyAnswer, xmlAnswer } from '../http/answer.ts';
import { parameter } from '../http/request.ts';
import { checkWrite } from '../preconditions.ts';
import { S3Error } from '../s3-error.ts';
import {
  checksumAlgorithm,
  checksumHeader,
  checksumOf,
  checksumOfParts,
} from '../store/checksum.ts';
import type { Checksum } from '../store/checksum.ts';
import { ContentRange, JoinedContent } from '../store/content.ts';
import type { Header, Part, StoredObject, Upload } from '../store/store.ts';
import { childText, parseXml, tag, xmlDocument } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import type { Context } from './context.ts';
import { checksumElements, copySource } from './copy-object.ts';
import {
  checksumHeaders,
  customerKeyHeaders,
  customerKeyMd5,
  etagHeader,
  keptHeaders,
  taggingHeader,
  xmlTime,
} from './object-headers.ts';

const maxParts = 10_000;
const minPartBytes = 5 * 1024 * 1024;

export function createMultipartUpload(context: Context): Answer {
  const { request, key } = context;
  const bucket = context.bucket();
  const asked = request.headers.get('x-amz-checksum-algorithm');
  const algorithm = asked === undefined ? null : checksumAlgorithm(asked);
  if (asked !== undefined && algorithm === null) {
    throw new S3Error('InvalidRequest', 'Unknown checksum algorithm.');
  }
  const usualType = algorithm === null || algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE';
  const type = request.headers.get('x-amz-checksum-type') ?? usualType;
  const possible =
    type === 'FULL_OBJECT'
      ? algorithm !== 'SHA1' && algorithm !== 'SHA256'
      : type === 'COMPOSITE' && algorithm !== null && algorithm !== 'CRC64NVME';
  if (!possible) {
    throw new S3Error('InvalidRequest', `The ${type} checksum type cannot be used here.`);
  }
  const upload = bucket.startUpload({
    key,
    initiatedMs: context.nowMs,
    headers: keptHeaders(request.headers),
    tags: taggingHeader(request.headers),
    customerKeyMd5: customerKeyMd5(request.headers),
    checksumAlgorithm: algorithm,
    checksumType: type === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT',
  });
  const headers: Header[] = customerKeyHeaders(upload.customerKeyMd5);
  if (algorithm !== null) {
    headers.push(['x-amz-checksum-algorithm', algorithm], ['x-amz-checksum-type', type]);
  }
  return xmlAnswer(
    xmlDocument(
      'InitiateMultipartUploadResult',
      tag('Bucket', bucket.name),
      tag('Key', textFromBytes(key)),
      tag('UploadId', upload.id),
    ),
    headers,
  );
}

/** The upload a request names. @throws S3Error NoSuchUpload */
export function namedUpload(context: Context): Upload {
  return context.bucket().upload(parameter(context.request, 'uploadId') ?? '', context.key);
}

function partNumber(context: Context): number {
  const number = Number(parameter(context.request, 'partNumber') ?? 'none');
  if (!Number.isInteger(number) || number < 1 || number > maxParts) {
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000.');
  }
  return number;
}

export async function uploadPart(context: Context): Promise<Answer> {
  const number = partNumber(context);
  const upload = namedUpload(context);
  checkSameCustomerKey(context, upload);
  const received = await context.upload(upload.checksumAlgorithm);
  const { checksum } = received;
  if (upload.checksumAlgorithm !== null && checksum?.algorithm !== upload.checksumAlgorithm) {
    throw new S3Error(
      'InvalidRequest',
      `Checksum type mismatch: expected ${upload.checksumAlgorithm}.`,
    );
  }
  // The upload may have ended while the part was on its way.
  namedUpload(context);
  upload.parts.set(number, {
    number,
    content: received.content,
    etag: received.md5,
    checksum,
    lastModifiedMs: context.clock(),
  });
  return emptyAnswer(200, [
    etagHeader(received.md5),
    ...(received.checksumSent ? checksumHeaders(checksum).slice(0, 1) : []),
    ...customerKeyHeaders(upload.customerKeyMd5),
  ]);
}

function checkSameCustomerKey(context: Context, upload: Upload): void {
  if (customerKeyMd5(context.request.headers) !== upload.customerKeyMd5) {
    throw new S3Error(
      'InvalidRequest',
      'The multipart upload initiate requested encryption: parts need the same parameters.',
    );
  }
}

export function uploadPartCopy(context: Context): Answer {
  const number = partNumber(context);
  const upload = namedUpload(context);
  const source = copySource(context);
  const rangeHeader = context.request.headers.get('x-amz-copy-source-range');
  const range = resolveRange(rangeHeader, source.content.size);
  const exact = /^bytes=\d+-(\d+)$/.exec(rangeHeader ?? '');
  const withinSource = exact !== null && Number(exact[1]) < source.content.size;
  if (rangeHeader !== undefined && (typeof range === 'string' || !withinSource)) {
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be within the source.',
    );
  }
  const { start, end } = typeof range === 'string' ? { start: 0, end: source.content.size } : range;
  const content = new ContentRange(source.content, start, end);
  const hash = createHash('md5');
  for (const slice of content.slices(0, content.size)) hash.update(slice);
  const part: Part = {
    number,
    content,
    etag: hash.digest('hex'),
    checksum:
      upload.checksumAlgorithm === null ? null : checksumOf(content, upload.checksumAlgorithm),
    lastModifiedMs: context.clock(),
  };
  upload.parts.set(number, part);
  return xmlAnswer(
    xmlDocument(
      'CopyPartResult',
      tag('LastModified', xmlTime(part.lastModifiedMs)),
      tag('ETag', `"${part.etag}"`),
      ...checksumElements(part.checksum).slice(0, 1),
    ),
  );
}

export async function completeMultipartUpload(context: Context): Promise<Answer> {
  const bucket = context.bucket();
  const upload = namedUpload(context);
  const root = parseXml(await context.document(), 'CompleteMultipartUpload');
  const parts = chosenParts(upload, root.children.get('Part') ?? []);
  namedUpload(context);
  const object = assemble(context, upload, parts);
  const { headers } = context.request;
  const announced = headers.get('x-amz-mp-object-size');
  if (announced !== undefined && Number(announced) !== object.content.size) {
    throw new S3Error('InvalidRequest', 'The object size does not match x-amz-mp-object-size.');
  }
  checkObjectChecksum(headers, object);
  checkWrite(headers, bucket, context.key);
  bucket.put(object);
  bucket.endUpload(upload.id);
  const host = headers.get('host') ?? '';
  const location = `http://${host}/${bucket.name}/${percentEncode(context.key, true)}`;
  return xmlAnswer(
    xmlDocument(
      'CompleteMultipartUploadResult',
      tag('Location', location),
      tag('Bucket', bucket.name),
      tag('Key', textFromBytes(context.key)),
      tag('ETag', `"${object.etag}"`),
      ...checksumElements(object.checksum),
    ),
    customerKeyHeaders(upload.customerKeyMd5),
  );
}

function chosenParts(upload: Upload, elements: readonly XmlElement[]): Part[] {
  if (elements.length === 0 || elements.length > maxParts) throw new S3Error('MalformedXML');
  const parts: Part[] = [];
  for (const element of elements) {
    const number = Number(childText(element, 'PartNumber') ?? 'none');
    const etag = childText(element, 'ETag')?.trim().replaceAll('"', '');
    if (!Number.isInteger(number) || etag === undefined) throw new S3Error('MalformedXML');
    const previous = parts.at(-1);
    if (previous !== undefined && previous.number >= number) throw new S3Error('InvalidPartOrder');
    const part = upload.parts.get(number);
    if (part?.etag !== etag) {
      throw new S3Error('InvalidPart', undefined, {
        UploadId: upload.id,
        PartNumber: String(number),
        ETag: etag,
      });
    }
    checkPartChecksum(upload, part, element);
    parts.push(part);
  }
  for (const part of parts.slice(0, -1)) {
    if (part.content.size < minPartBytes) {
      throw new S3Error('EntityTooSmall', undefined, {
        ProposedSize: String(part.content.size),
        MinSizeAllowed: String(minPartBytes),
        PartNumber: String(part.number),
        ETag: part.etag,
      });
    }
  }
  return parts;
}

function checkPartChecksum(upload: Upload, part: Part, element: XmlElement): void {
  const { checksum } = part;
  const given = checksum === null ? null : childText(element, `Checksum${checksum.algorithm}`);
  if (given !== null && given !== checksum?.value) {
    throw new S3Error('InvalidPart', undefined, { PartNumber: String(part.number) });
  }
  if (given === null && upload.checksumType === 'COMPOSITE') {
    const name = upload.checksumAlgorithm?.toLowerCase() ?? '';
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using a ${name} checksum. The complete request must include the ` +
        `checksum for each part. It was missing for part ${part.number} in the request.`,
    );
  }
}

function assemble(context: Context, upload: Upload, parts: readonly Part[]): StoredObject {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part.etag, 'hex');
  return {
    key: upload.key,
    content: new JoinedContent(parts.map((part) => part.content)),
    etag: `${hash.digest('hex')}-${parts.length}`,
    lastModifiedMs: context.clock(),
    headers: upload.headers,
    tags: upload.tags,
    checksum: assembledChecksum(upload, parts),
    parts,
    customerKeyMd5: upload.customerKeyMd5,
  };
}

function assembledChecksum(upload: Upload, parts: readonly Part[]): Checksum | null {
  if (upload.checksumAlgorithm === null) return null;
  const sums = parts.flatMap(({ content, checksum }) => {
    return checksum === null ? [] : [{ size: content.size, checksum }];
  });
  return checksumOfParts(upload.checksumAlgorithm, upload.checksumType, sums);
}

function checkObjectChecksum(headers: ReadonlyMap<string, string>, object: StoredObject): void {
  const { checksum } = object;
  if (checksum === null) return;
  const given = headers.get(checksumHeader(checksum.algorithm));
  if (given !== undefined && given !== checksum.value) throw new S3Error('BadDigest');
}

export function abortMultipartUpload(context: Context): Answer {
  context.bucket().endUpload(namedUpload(context).id);
  return emptyAnswer(204);
}
