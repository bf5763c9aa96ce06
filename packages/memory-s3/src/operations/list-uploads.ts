// ListParts and ListMultipartUploads.
import { listingEncode, textFromBytes } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import { xmlAnswer } from '../http/answer.ts';
import { parameter } from '../http/request.ts';
import { compareBytes } from '../store/store.ts';
import type { Upload } from '../store/store.ts';
import { nest, tag, xmlDocument } from '../xml.ts';
import type { Context } from './context.ts';
import { checksumElements } from './copy-object.ts';
import { boundedCount } from './list-objects.ts';
import { namedUpload } from './multipart.ts';
import { xmlTime } from './object-headers.ts';
import { owner } from './bucket.ts';

export function listParts(context: Context): Answer {
  const { request, key } = context;
  const upload = namedUpload(context);
  const marker = boundedCount(parameter(request, 'part-number-marker'), 10_000, 0);
  const maxParts = boundedCount(parameter(request, 'max-parts'), 1000, 1000);
  const all = [...upload.parts.values()]
    .sort((a, b) => a.number - b.number)
    .filter((part) => part.number > marker);
  const shown = all.slice(0, maxParts);
  const identity = [
    nest('Initiator', owner),
    nest('Owner', owner),
    tag('StorageClass', 'STANDARD'),
  ];
  return xmlAnswer(
    xmlDocument(
      'ListPartsResult',
      tag('Bucket', context.bucket().name),
      tag('Key', textFromBytes(key)),
      tag('UploadId', upload.id),
      ...identity,
      ...(upload.checksumAlgorithm === null
        ? []
        : [
            tag('ChecksumAlgorithm', upload.checksumAlgorithm),
            tag('ChecksumType', upload.checksumType),
          ]),
      tag('PartNumberMarker', marker),
      tag('NextPartNumberMarker', shown.at(-1)?.number ?? 0),
      tag('MaxParts', maxParts),
      tag('IsTruncated', shown.length < all.length),
      ...shown.map((part) =>
        nest(
          'Part',
          tag('PartNumber', part.number),
          tag('LastModified', xmlTime(part.lastModifiedMs)),
          tag('ETag', `"${part.etag}"`),
          tag('Size', part.content.size),
          ...checksumElements(part.checksum).slice(0, 1),
        ),
      ),
    ),
  );
}

export function listMultipartUploads(context: Context): Answer {
  const { request } = context;
  const bucket = context.bucket();
  const prefix = parameter(request, 'prefix') ?? '';
  const delimiter = parameter(request, 'delimiter') ?? '';
  const keyMarker = parameter(request, 'key-marker') ?? '';
  const idMarker = parameter(request, 'upload-id-marker') ?? '';
  const maxUploads = boundedCount(parameter(request, 'max-uploads'), 1000, 1000);
  const urlEncoded = parameter(request, 'encoding-type') === 'url';
  const show = (key: ByteString): string => (urlEncoded ? listingEncode(key) : textFromBytes(key));
  const matching = bucket.uploads().filter((upload) => upload.key.startsWith(prefix));
  const prefixes = new Set<ByteString>();
  const entries: Upload[] = [];
  for (const upload of afterMarker(matching, keyMarker, idMarker)) {
    const cut = delimiter === '' ? -1 : upload.key.indexOf(delimiter, prefix.length);
    if (cut < 0) entries.push(upload);
    else prefixes.add(upload.key.slice(0, cut + delimiter.length));
  }
  const shown = entries.slice(0, maxUploads);
  const last = shown.at(-1);
  return xmlAnswer(
    xmlDocument(
      'ListMultipartUploadsResult',
      tag('Bucket', bucket.name),
      tag('KeyMarker', show(keyMarker)),
      tag('UploadIdMarker', idMarker),
      tag('NextKeyMarker', last === undefined ? '' : show(last.key)),
      tag('NextUploadIdMarker', last?.id ?? ''),
      tag('Prefix', show(prefix)),
      ...(delimiter === '' ? [] : [tag('Delimiter', show(delimiter))]),
      ...(urlEncoded ? [tag('EncodingType', 'url')] : []),
      tag('MaxUploads', maxUploads),
      tag('IsTruncated', shown.length < entries.length),
      ...shown.map((upload) =>
        nest(
          'Upload',
          tag('Key', show(upload.key)),
          tag('UploadId', upload.id),
          nest('Initiator', owner),
          nest('Owner', owner),
          tag('StorageClass', 'STANDARD'),
          tag('Initiated', xmlTime(upload.initiatedMs)),
        ),
      ),
      ...[...prefixes]
        .sort(compareBytes)
        .map((one) => nest('CommonPrefixes', tag('Prefix', show(one)))),
    ),
  );
}

// An upload id only counts together with its key: it continues among uploads of that key.
function afterMarker(uploads: readonly Upload[], key: ByteString, id: string): readonly Upload[] {
  if (key === '') return uploads;
  const seen = uploads.findIndex((upload) => upload.key === key && upload.id === id);
  if (seen >= 0) return uploads.slice(seen + 1);
  return uploads.filter((upload) => compareBytes(upload.key, key) > 0);
}
