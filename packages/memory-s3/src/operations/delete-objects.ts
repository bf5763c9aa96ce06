// DeleteObjects: up to a thousand keys at once, each with its own outcome.
import { bytesFromText } from '../byte-string.ts';
import type { Answer } from '../http/answer.ts';
import { xmlAnswer } from '../http/answer.ts';
import { S3Error } from '../s3-error.ts';
import { checksumAlgorithms, checksumHeader } from '../store/checksum.ts';
import { childText, nest, parseXml, tag, xmlDocument } from '../xml.ts';
import type { Context } from './context.ts';

const maxKeys = 1000;

export async function deleteObjects(context: Context): Promise<Answer> {
  const { headers } = context.request;
  const bucket = context.bucket();
  const digests = ['content-md5', 'x-amz-trailer', ...checksumAlgorithms.map(checksumHeader)];
  if (!digests.some((name) => headers.has(name))) {
    throw new S3Error(
      'InvalidRequest',
      'Missing required header for this request: Content-MD5 OR x-amz-checksum-*',
    );
  }
  const root = parseXml(await context.document(), 'Delete');
  const objects = root.children.get('Object') ?? [];
  if (objects.length === 0 || objects.length > maxKeys) throw new S3Error('MalformedXML');
  const quiet = childText(root, 'Quiet')?.trim().toLowerCase() === 'true';
  const results = objects.map((object) => {
    const key = childText(object, 'Key');
    if (key === null || key === '') throw new S3Error('MalformedXML');
    const bytes = bytesFromText(key);
    const ifMatch = childText(object, 'ETag');
    const existing = bucket.get(bytes);
    if (ifMatch !== null && existing !== null && ifMatch.replaceAll('"', '') !== existing.etag) {
      const failure = new S3Error('PreconditionFailed');
      return nest(
        'Error',
        tag('Key', key),
        tag('Code', failure.code),
        tag('Message', failure.message),
      );
    }
    bucket.delete(bytes);
    return quiet ? '' : nest('Deleted', tag('Key', key));
  });
  return xmlAnswer(xmlDocument('DeleteResult', ...results));
}
