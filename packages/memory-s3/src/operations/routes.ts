// Which operation a request is: one table, read from the top. The first row that fits wins, so rows with
// a subresource stand before the plain ones.
import { parameter } from '../http/request.ts';
import type { S3Request } from '../http/request.ts';
import { S3Error } from '../s3-error.ts';
import {
  absentConfiguration,
  createBucket,
  deleteBucket,
  getBucketAcl,
  getBucketLocation,
  getBucketVersioning,
  getObjectAcl,
  headBucket,
  listBuckets,
} from './bucket.ts';
import type { Operation } from './context.ts';
import { copyObject } from './copy-object.ts';
import { deleteObjects } from './delete-objects.ts';
import { getObject } from './get-object.ts';
import { listObjectsV1, listObjectsV2 } from './list-objects.ts';
import { listMultipartUploads, listParts } from './list-uploads.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
} from './multipart.ts';
import { deleteObject, putObject } from './put-object.ts';
import {
  deleteBucketTagging,
  deleteObjectTagging,
  getBucketTagging,
  getObjectTagging,
  putBucketTagging,
  putObjectTagging,
} from './tagging.ts';

type Level = 'service' | 'bucket' | 'object';

interface Row {
  readonly level: Level;
  readonly method: string;
  /** A parameter that has to be there, or a header written `header:name`. */
  readonly needs: string | null;
  readonly name: string;
  readonly operation: Operation;
}

const row = (
  level: Level,
  method: string,
  needs: string | null,
  name: string,
  operation: Operation,
): Row => ({ level, method, needs, name, operation });

const copyHeader = 'header:x-amz-copy-source';

const rows: readonly Row[] = [
  row('service', 'GET', null, 'ListBuckets', listBuckets),

  row('bucket', 'GET', 'location', 'GetBucketLocation', getBucketLocation),
  row('bucket', 'GET', 'versioning', 'GetBucketVersioning', getBucketVersioning),
  row('bucket', 'GET', 'acl', 'GetBucketAcl', getBucketAcl),
  row('bucket', 'GET', 'tagging', 'GetBucketTagging', getBucketTagging),
  row('bucket', 'PUT', 'tagging', 'PutBucketTagging', putBucketTagging),
  row('bucket', 'DELETE', 'tagging', 'DeleteBucketTagging', deleteBucketTagging),
  row('bucket', 'GET', 'policy', 'GetBucketPolicy', absentConfiguration('NoSuchBucketPolicy')),
  row('bucket', 'GET', 'cors', 'GetBucketCors', absentConfiguration('NoSuchCORSConfiguration')),
  row(
    'bucket',
    'GET',
    'lifecycle',
    'GetBucketLifecycleConfiguration',
    absentConfiguration('NoSuchLifecycleConfiguration'),
  ),
  row('bucket', 'GET', 'uploads', 'ListMultipartUploads', listMultipartUploads),
  row('bucket', 'GET', 'list-type', 'ListObjectsV2', listObjectsV2),
  row('bucket', 'POST', 'delete', 'DeleteObjects', deleteObjects),
  row('bucket', 'GET', null, 'ListObjects', listObjectsV1),
  row('bucket', 'PUT', null, 'CreateBucket', createBucket),
  row('bucket', 'HEAD', null, 'HeadBucket', headBucket),
  row('bucket', 'DELETE', null, 'DeleteBucket', deleteBucket),

  row('object', 'GET', 'tagging', 'GetObjectTagging', getObjectTagging),
  row('object', 'PUT', 'tagging', 'PutObjectTagging', putObjectTagging),
  row('object', 'DELETE', 'tagging', 'DeleteObjectTagging', deleteObjectTagging),
  row('object', 'GET', 'acl', 'GetObjectAcl', getObjectAcl),
  row('object', 'POST', 'uploads', 'CreateMultipartUpload', createMultipartUpload),
  row('object', 'POST', 'uploadId', 'CompleteMultipartUpload', completeMultipartUpload),
  row('object', 'GET', 'uploadId', 'ListParts', listParts),
  row('object', 'DELETE', 'uploadId', 'AbortMultipartUpload', abortMultipartUpload),
  row('object', 'GET', null, 'GetObject', getObject),
  row('object', 'HEAD', null, 'HeadObject', getObject),
  row('object', 'PUT', 'uploadId', 'UploadPart', uploadPart),
  row('object', 'PUT', copyHeader, 'CopyObject', copyObject),
  row('object', 'PUT', null, 'PutObject', putObject),
  row('object', 'DELETE', null, 'DeleteObject', deleteObject),
];

// Subresources that S3 knows and this server doesn't: a plain operation must not answer in their place.
const unknownSubresources = [
  'accelerate',
  'acl',
  'analytics',
  'attributes',
  'cors',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'lifecycle',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'tagging',
  'torrent',
  'uploads',
  'versioning',
  'versions',
  'website',
];

/** The operation and its name in S3's own words. @throws S3Error NotImplemented, MethodNotAllowed */
export function route(request: S3Request): { name: string; operation: Operation } {
  const level = request.bucket === null ? 'service' : request.key === null ? 'bucket' : 'object';
  const found = rows.find((candidate) => {
    return (
      candidate.level === level &&
      candidate.method === request.method &&
      (candidate.needs === null || isThere(request, candidate.needs))
    );
  });
  if (found === undefined) throw new S3Error('MethodNotAllowed');
  const strange = unknownSubresources.find((name) => parameter(request, name) !== null);
  if (strange !== undefined && found.needs !== strange) {
    throw new S3Error('NotImplemented', `The subresource ${strange} is not implemented here.`);
  }
  if (found.name === 'UploadPart' && isThere(request, copyHeader)) {
    return { name: 'UploadPartCopy', operation: uploadPartCopy };
  }
  return { name: found.name, operation: found.operation };
}

function isThere(request: S3Request, needed: string): boolean {
  if (needed.startsWith('header:')) return request.headers.has(needed.slice('header:'.length));
  return parameter(request, needed) !== null;
}
