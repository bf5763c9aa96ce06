// Operations on buckets, and the answers about configuration that never changes here.
import type { Answer } from '../http/answer.ts';
import { emptyAnswer, xmlAnswer } from '../http/answer.ts';
import { S3Error } from '../s3-error.ts';
import type { S3ErrorCode } from '../s3-error.ts';
import { nest, tag, xmlDocument } from '../xml.ts';
import type { Context, Operation } from './context.ts';
import { existingObject } from './get-object.ts';
import { xmlTime } from './object-headers.ts';

const ownerId = '65a011a29cdf8ec533ec3d1ccaae921c65a011a29cdf8ec533ec3d1ccaae921c';

/** Everything belongs to one account. */
export const owner = tag('ID', ownerId) + tag('DisplayName', 'memory-s3');

const discardHeader = 'x-memory-s3-discard';

export function listBuckets(context: Context): Answer {
  return xmlAnswer(
    xmlDocument(
      'ListAllMyBucketsResult',
      nest('Owner', owner),
      nest(
        'Buckets',
        ...context.store
          .buckets()
          .map((bucket) =>
            nest(
              'Bucket',
              tag('Name', bucket.name),
              tag('CreationDate', xmlTime(bucket.createdMs)),
            ),
          ),
      ),
    ),
  );
}

export async function createBucket(context: Context): Promise<Answer> {
  const name = context.request.bucket ?? '';
  await context.document();
  checkBucketName(name);
  // us-east-1 answers a repeated creation by the owner with success.
  if (!context.store.has(name)) {
    const discards = context.request.headers.get(discardHeader) === 'true';
    context.store.create(name, context.nowMs, discards);
  }
  return emptyAnswer(200, [['location', `/${name}`]]);
}

/** @throws S3Error InvalidBucketName */
export function checkBucketName(name: string): void {
  const wellFormed = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name);
  if (!wellFormed || name.includes('..') || /^\d+\.\d+\.\d+\.\d+$/.test(name)) {
    throw new S3Error('InvalidBucketName', undefined, { BucketName: name });
  }
}

export function headBucket(context: Context): Answer {
  context.bucket();
  return emptyAnswer(200, [['x-amz-bucket-region', context.region]]);
}

export function deleteBucket(context: Context): Answer {
  context.store.delete(context.bucket().name);
  return emptyAnswer(204);
}

export function getBucketLocation(context: Context): Answer {
  context.bucket();
  const region = context.region === 'us-east-1' ? '' : context.region;
  return xmlAnswer(xmlDocument('LocationConstraint', region));
}

export function getBucketVersioning(context: Context): Answer {
  context.bucket();
  return xmlAnswer(xmlDocument('VersioningConfiguration'));
}

const aclDocument = xmlDocument(
  'AccessControlPolicy',
  nest('Owner', owner),
  nest(
    'AccessControlList',
    nest(
      'Grant',
      `<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">${owner}</Grantee>`,
      tag('Permission', 'FULL_CONTROL'),
    ),
  ),
);

export function getBucketAcl(context: Context): Answer {
  context.bucket();
  return xmlAnswer(aclDocument);
}

export function getObjectAcl(context: Context): Answer {
  existingObject(context);
  return xmlAnswer(aclDocument);
}

/** For configuration that no bucket here ever has. */
export function absentConfiguration(code: S3ErrorCode): Operation {
  return (context) => {
    throw new S3Error(code, undefined, { BucketName: context.bucket().name });
  };
}
