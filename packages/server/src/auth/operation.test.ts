import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '@s3-accelerator/core/s3/object-key.ts';
import { parseQuery } from '@s3-accelerator/core/s3/query.ts';
import type { RequestMethod } from '../http/request-head.ts';
import { operationOf, refusedOperations } from './operation.ts';

const service: Resource = { bucket: '', key: '' };
const bucket: Resource = { bucket: 'b', key: '' };
const object: Resource = { bucket: 'b', key: 'k' };

function operation(
  method: RequestMethod,
  resource: Resource,
  query: string | null = null,
  copies = false,
): string | null {
  return operationOf(method, resource, parseQuery(query) ?? [], copies);
}

test('each documented form of a request is its operation', () => {
  const forms: readonly (readonly [RequestMethod, Resource, string | null, string])[] = [
    ['GET', service, null, 'ListBuckets'],
    ['GET', service, 'max-buckets=3&x-id=ListBuckets', 'ListBuckets'],
    ['GET', bucket, null, 'ListObjects'],
    ['GET', bucket, 'prefix=a&delimiter=/&marker=b&encoding-type=url&max-keys=2', 'ListObjects'],
    ['GET', bucket, 'list-type=2&start-after=a&continuation-token=t', 'ListObjectsV2'],
    ['GET', bucket, 'versions&key-marker=a&version-id-marker=b', 'ListObjectVersions'],
    ['GET', bucket, 'uploads&upload-id-marker=a', 'ListMultipartUploads'],
    ['GET', bucket, 'location', 'GetBucketLocation'],
    ['GET', bucket, 'policy', 'ReadBucketSettings'],
    ['GET', bucket, 'inventory&id=1', 'ReadBucketSettings'],
    ['PUT', bucket, 'policy', 'WriteBucketSettings'],
    ['DELETE', bucket, 'policy', 'WriteBucketSettings'],
    ['HEAD', bucket, null, 'HeadBucket'],
    ['PUT', bucket, null, 'CreateBucket'],
    ['DELETE', bucket, null, 'DeleteBucket'],
    ['POST', bucket, 'delete', 'DeleteObjects'],
    ['POST', bucket, null, 'PostObject'],
    ['GET', object, null, 'GetObject'],
    ['GET', object, 'x-id=GetObject&versionId=1&partNumber=2', 'GetObject'],
    ['GET', object, 'response-content-type=a&X-Amz-Signature=s', 'GetObject'],
    ['HEAD', object, null, 'HeadObject'],
    ['GET', object, 'acl', 'GetObjectAcl'],
    ['PUT', object, 'acl', 'PutObjectAcl'],
    ['GET', object, 'tagging', 'GetObjectTagging'],
    ['PUT', object, 'tagging', 'PutObjectTagging'],
    ['DELETE', object, 'tagging&versionId=1', 'DeleteObjectTagging'],
    ['GET', object, 'attributes', 'GetObjectAttributes'],
    ['GET', object, 'legal-hold', 'GetObjectLegalHold'],
    ['PUT', object, 'retention', 'PutObjectRetention'],
    ['GET', object, 'torrent', 'GetObjectTorrent'],
    ['GET', object, 'uploadId=u&max-parts=2&part-number-marker=1', 'ListParts'],
    ['PUT', object, null, 'PutObject'],
    ['PUT', object, 'x-id=PutObject&x-amz-acl=private', 'PutObject'],
    ['PUT', object, 'partNumber=1&uploadId=u', 'UploadPart'],
    ['POST', object, 'uploads', 'CreateMultipartUpload'],
    ['POST', object, 'uploadId=u', 'CompleteMultipartUpload'],
    ['DELETE', object, 'uploadId=u', 'AbortMultipartUpload'],
    ['DELETE', object, null, 'DeleteObject'],
    ['POST', object, 'restore', 'RestoreObject'],
    ['POST', object, 'select&select-type=2', 'SelectObjectContent'],
    ['POST', object, 'x-accel-purge', 'PurgeObject'],
  ];
  for (const [method, resource, query, expected] of forms) {
    assert.equal(operation(method, resource, query), expected, `${method} ${query ?? ''}`);
  }
});

test('a copy source makes a copy of a PUT, and is refused beside everything else', () => {
  assert.equal(operation('PUT', object, null, true), 'CopyObject');
  assert.equal(operation('PUT', object, 'x-id=CopyObject', true), 'CopyObject');
  assert.equal(operation('PUT', object, 'partNumber=1&uploadId=u', true), 'UploadPartCopy');
  assert.equal(operation('PUT', object, 'acl', true), null);
  assert.equal(operation('PUT', object, 'unknown', true), null);
  assert.equal(operation('GET', object, null, true), null);
  assert.equal(operation('PUT', bucket, null, true), null);
});

test('a copy source in the query is refused, whether there is one in the header or not', () => {
  const query = 'X-Amz-Copy-Source=%2Fb%2Fsecret';
  assert.equal(operation('PUT', object, query), null);
  assert.equal(operation('PUT', object, query, true), null);
  assert.equal(operation('PUT', object, `acl&${query}`), null);
});

test('what is never passed on is known beside whatever else', () => {
  for (const query of ['session', 'acl&session', 'Session=1&session', 'unknown&session']) {
    assert.equal(operation('GET', bucket, query), 'CreateSession', query);
    assert.equal(operation('GET', object, query), 'CreateSession', query);
  }
  assert.equal(operation('PUT', object, 'renameObject&acl'), 'RenameObject');
  assert.equal(operation('PUT', object, 'renameObject', true), 'RenameObject');
  for (const refused of ['CreateSession', 'RenameObject', 'PurgeObject'] as const) {
    assert.ok(refusedOperations.has(refused));
  }
});

test('what could be read in two ways is unknown', () => {
  for (const query of [
    'acl&policy',
    'tagging&acl',
    'prefix=a&prefix=b',
    'unknown',
    'Prefix=a',
    'ACL',
    'list-type=2&uploads',
    'acl&acl',
  ]) {
    assert.equal(operation('GET', bucket, query), 'Unknown', query);
    assert.equal(operation('GET', object, query), 'Unknown', query);
  }
  assert.equal(operation('GET', object, 'policy'), 'Unknown');
  assert.equal(operation('GET', bucket, 'versionId=1'), 'Unknown');
  assert.equal(operation('POST', bucket, 'acl'), 'Unknown');
  assert.equal(operation('GET', service, 'acl'), 'Unknown');
  assert.equal(operation('DELETE', object, 'x-accel-purge'), 'Unknown');
});

test('methods that S3 has no use for have no operation', () => {
  assert.equal(operation('other', object), null);
  assert.equal(operation('OPTIONS', object), null);
  assert.equal(operation('POST', object), null);
  assert.equal(operation('PUT', service), null);
});
