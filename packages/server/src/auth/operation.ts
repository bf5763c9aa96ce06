/**
 * Which S3 operation a request is: method, path and query in, a name out.
 *
 * Names are those of the S3 API. Whatever isn't recognised with certainty (an unknown subresource, two of them, a
 * parameter given twice) is `Unknown`, which needs the most rights there are: an origin might read such a request in
 * another way than we do.
 */
import type { Resource } from '@s3-accelerator/core/s3/object-key.ts';
import { isAuthenticationParameter, type QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import type { RequestMethod } from '../http/request-head.ts';

export type Operation =
  | 'ListBuckets'
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'ListObjectVersions'
  | 'ListMultipartUploads'
  | 'HeadBucket'
  | 'CreateBucket'
  | 'DeleteBucket'
  | 'GetBucketLocation'
  | 'ReadBucketSettings'
  | 'WriteBucketSettings'
  | 'DeleteObjects'
  | 'PostObject'
  | 'GetObject'
  | 'HeadObject'
  | 'GetObjectAcl'
  | 'GetObjectTagging'
  | 'GetObjectAttributes'
  | 'GetObjectLegalHold'
  | 'GetObjectRetention'
  | 'GetObjectTorrent'
  | 'ListParts'
  | 'SelectObjectContent'
  | 'PutObject'
  | 'CopyObject'
  | 'UploadPart'
  | 'UploadPartCopy'
  | 'CreateMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'DeleteObject'
  | 'PutObjectAcl'
  | 'PutObjectTagging'
  | 'DeleteObjectTagging'
  | 'PutObjectLegalHold'
  | 'PutObjectRetention'
  | 'RestoreObject'
  | 'UpdateObjectEncryption'
  | 'RenameObject'
  | 'CreateSession'
  | 'PurgeObject'
  | 'Unknown';

type ByMethod = Readonly<Partial<Record<RequestMethod, Operation>>>;

const settings: ByMethod = {
  GET: 'ReadBucketSettings',
  PUT: 'WriteBucketSettings',
  DELETE: 'WriteBucketSettings',
};

/** Settings that come into being by a POST. */
const createdSettings: ByMethod = { ...settings, POST: 'WriteBucketSettings' };

/** Parameters that make a request on a bucket another operation. */
const bucketSubresources: ReadonlyMap<string, ByMethod> = new Map<string, ByMethod>([
  ['list-type', { GET: 'ListObjectsV2' }],
  ['versions', { GET: 'ListObjectVersions' }],
  ['uploads', { GET: 'ListMultipartUploads' }],
  ['location', { GET: 'GetBucketLocation' }],
  ['delete', { POST: 'DeleteObjects' }],
  ['metadataConfiguration', createdSettings],
  ['metadataTable', createdSettings],
  ...[
    'abac',
    'accelerate',
    'acl',
    'analytics',
    'cors',
    'encryption',
    'intelligent-tiering',
    'inventory',
    'lifecycle',
    'logging',
    'metadataInventoryTable',
    'metadataJournalTable',
    'metrics',
    'notification',
    'object-lock',
    'ownershipControls',
    'policy',
    'policyStatus',
    'publicAccessBlock',
    'replication',
    'requestPayment',
    'tagging',
    'versioning',
    'website',
  ].map((name): [string, ByMethod] => [name, settings]),
]);

/** Parameters that make a request on an object another operation. */
const objectSubresources: ReadonlyMap<string, ByMethod> = new Map<string, ByMethod>([
  ['acl', { GET: 'GetObjectAcl', PUT: 'PutObjectAcl' }],
  ['tagging', { GET: 'GetObjectTagging', PUT: 'PutObjectTagging', DELETE: 'DeleteObjectTagging' }],
  ['attributes', { GET: 'GetObjectAttributes' }],
  ['legal-hold', { GET: 'GetObjectLegalHold', PUT: 'PutObjectLegalHold' }],
  ['retention', { GET: 'GetObjectRetention', PUT: 'PutObjectRetention' }],
  ['torrent', { GET: 'GetObjectTorrent' }],
  ['uploads', { POST: 'CreateMultipartUpload' }],
  [
    'uploadId',
    {
      GET: 'ListParts',
      PUT: 'UploadPart',
      POST: 'CompleteMultipartUpload',
      DELETE: 'AbortMultipartUpload',
    },
  ],
  ['select', { POST: 'SelectObjectContent' }],
  ['restore', { POST: 'RestoreObject' }],
  ['encryption', { PUT: 'UpdateObjectEncryption' }],
  ['x-accel-purge', { POST: 'PurgeObject' }],
]);

const plainService: ByMethod = { GET: 'ListBuckets' };
const plainBucket: ByMethod = {
  GET: 'ListObjects',
  HEAD: 'HeadBucket',
  PUT: 'CreateBucket',
  DELETE: 'DeleteBucket',
  POST: 'PostObject',
};
const plainObject: ByMethod = {
  GET: 'GetObject',
  HEAD: 'HeadObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
};

/** Parameters that refine an operation without changing which one it is. */
const serviceParameters: ReadonlySet<string> = new Set([
  'bucket-region',
  'continuation-token',
  'max-buckets',
  'prefix',
]);
const bucketParameters: ReadonlySet<string> = new Set([
  'continuation-token',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'id',
  'key-marker',
  'marker',
  'max-keys',
  'max-uploads',
  'prefix',
  'start-after',
  'upload-id-marker',
  'version-id-marker',
]);
const objectParameters: ReadonlySet<string> = new Set([
  'encoding-type',
  'max-parts',
  'part-number-marker',
  'partNumber',
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
  'select-type',
  'versionId',
]);

/** `x-id` names the operation for logs; presigned requests carry headers as `x-amz-` parameters. */
function isAnywhere(name: string): boolean {
  return (
    name === 'x-id' ||
    isAuthenticationParameter(name) ||
    name.slice(0, 6).toLowerCase() === 'x-amz-'
  );
}

/**
 * What this gateway never does, whatever the grants. A session's credentials are the origin's own, and work without the gateway;
 * a renaming takes an object away under a name that isn't the request's; a purge is for the cache itself and is yet to come.
 */
export const refusedOperations: ReadonlySet<Operation> = new Set<Operation>([
  'CreateSession',
  'RenameObject',
  'PurgeObject',
]);

/** Parameters that are refused beside whatever else stands in the query, in lower case. */
const neverPassed: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['session', 'CreateSession'],
  ['renameobject', 'RenameObject'],
]);

function neverPassedIn(parameters: readonly QueryParameter[]): Operation | null {
  for (const { name } of parameters) {
    const operation = neverPassed.get(name.toLowerCase());
    if (operation !== undefined) return operation;
  }
  return null;
}

const noSubresource = Symbol('no subresource');

/** The one subresource that a query names; null when it names two, repeats a parameter, or holds an unknown one. */
function subresourceOf(
  parameters: readonly QueryParameter[],
  subresources: ReadonlyMap<string, ByMethod>,
  refining: ReadonlySet<string>,
): ByMethod | typeof noSubresource | null {
  let found: ByMethod | typeof noSubresource = noSubresource;
  for (const [index, { name }] of parameters.entries()) {
    for (let before = 0; before < index; before += 1) {
      if (parameters[before]!.name === name) return null;
    }
    const subresource = subresources.get(name);
    if (subresource !== undefined) {
      if (found !== noSubresource) return null;
      found = subresource;
    } else if (!refining.has(name) && !isAnywhere(name)) {
      return null;
    }
  }
  return found;
}

const noSubresources: ReadonlyMap<string, ByMethod> = new Map();

/**
 * The operation of a request, or null where there is none for it (`MethodNotAllowed`). `copies` says that it names a copy
 * source.
 *
 * A source counts in the header alone, and only where S3 knows a copy. In the query, as some signers put it, and beside
 * other operations it is refused whatever the grants: an origin that honours it there would read an object that nobody
 * was asked about.
 */
export function operationOf(
  method: RequestMethod,
  resource: Resource,
  parameters: readonly QueryParameter[],
  copies: boolean,
): Operation | null {
  if (method === 'other' || method === 'OPTIONS') return null;
  if (parameters.some(isCopySource)) return null;
  const [plain, subresources, refining] =
    resource.bucket === ''
      ? ([plainService, noSubresources, serviceParameters] as const)
      : resource.key === ''
        ? ([plainBucket, bucketSubresources, bucketParameters] as const)
        : ([plainObject, objectSubresources, objectParameters] as const);
  if (parameters.length === 0 && !copies) return plain[method] ?? null;
  const never = neverPassedIn(parameters);
  if (never !== null) return never;
  const subresource = subresourceOf(parameters, subresources, refining);
  const operation =
    subresource === null
      ? 'Unknown'
      : subresource === noSubresource
        ? (plain[method] ?? null)
        : (subresource[method] ?? 'Unknown');
  if (!copies) return operation;
  if (operation === 'PutObject') return 'CopyObject';
  return operation === 'UploadPart' ? 'UploadPartCopy' : null;
}

function isCopySource({ name }: QueryParameter): boolean {
  return name.toLowerCase() === 'x-amz-copy-source';
}
