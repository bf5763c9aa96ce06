// Where servers that are otherwise good origins differ from S3: the reason, and the cases that show it. The accelerator answers
// some of them as S3 does, out of what it knows; those show on the direct route only.

/** How a server is asked: by itself, or through the accelerator. */
export type Route = 'direct' | 'through';

interface Deviation {
  readonly reason: string;
  /** Where it shows; on both routes if absent. */
  readonly only?: Route;
  readonly cases: readonly string[];
}

const algorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
const streamedForms = [
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
] as const;

/** Ceph's RADOS Gateway, release 16, as Debian 12 packages it. */
const radosgw: readonly Deviation[] = [
  {
    reason: 'answers a key that is too long with its own code',
    only: 'direct',
    cases: ['a key of 1,025 bytes is refused as KeyTooLongError'],
  },
  {
    reason: 'refuses or half-obeys ranges that S3 ignores, and -0 reads everything',
    only: 'direct',
    cases: [
      ...['bytes=8-3', 'bytes=0-1,3-4', 'bytes=a-b', 'lines=0-3'].map((range) => {
        return `Range ${range} of ten bytes answers 200`;
      }),
      'Range bytes=-0 of ten bytes is an InvalidRange',
    ],
  },
  {
    reason: 'a 416 has no Content-Range',
    only: 'direct',
    cases: [
      'Range bytes=10- of ten bytes is an InvalidRange',
      'Range bytes=10-20 of ten bytes is an InvalidRange',
      'a range of an empty object is an InvalidRange',
    ],
  },
  {
    reason: 'compares conditions of reads as plain strings: no lists, stars or weak tags',
    only: 'direct',
    cases: [
      'If-Match in a list reads',
      'If-Match with a star reads',
      'If-None-Match with a weak tag is not modified',
      'If-None-Match in a list is not modified',
      'If-None-Match with a star is not modified',
    ],
  },
  {
    reason: 'a 304 has no ETag',
    only: 'direct',
    cases: ['a 304 carries the tag, the date and Cache-Control, and no body'],
  },
  {
    reason: 'conditional writes compare the quotes too, and know no NoSuchKey',
    cases: [
      'a write with If-Match replaces only the version it names',
      'a write with If-Match to a key that is missing is a NoSuchKey',
    ],
  },
  {
    reason: 'ignores conditions here',
    cases: [
      'a delete with a stale If-Match leaves the object',
      'a copy with a condition on its source that fails changes nothing',
      'a completion under If-None-Match: * yields to an object that is there',
    ],
  },
  {
    reason: 'turns underscores in metadata names into hyphens',
    cases: ['content headers and user metadata come back as they were sent'],
  },
  {
    reason: 'has larger limits for metadata',
    cases: ['two kilobytes of user metadata are kept and more are refused'],
  },
  {
    reason: 'has larger limits for headers',
    only: 'direct',
    cases: ['headers above 8 KB are refused with an XML error'],
  },
  {
    reason: 'knows host names in lower case, and absolute targets, only in part',
    only: 'direct',
    cases: [
      'host names take capitals, and any port or none',
      'an absolute target names the same object by host and by path, if it agrees with Host',
    ],
  },
  {
    reason: 'the ETag in a copy result has no quotes',
    cases: ['a copy over a cached key is read at once, with its metadata'],
  },
  {
    reason: 'a first completion may answer an empty ETag',
    cases: ['a multipart upload over a cached key is read at once, with its tag and metadata'],
  },
  {
    reason: 'does not know partNumber',
    cases: ['a part number reads that part and tells how many there are'],
  },
  {
    reason: 'checks uploads in another order and with other codes',
    cases: [
      'parts and uploads in progress are listed, and an aborted upload is gone',
      'a completion that is wrong is refused and leaves the old object',
    ],
  },
  {
    reason: 'does not read trailing checksums: the accelerator checks them in its place',
    only: 'direct',
    cases: [
      ...streamedForms.flatMap((form) => [
        `an upload by ${form} with a trailing CRC32 is stored`,
        `an upload by ${form} with a wrong trailer is a BadDigest and stores nothing`,
      ]),
      ...algorithms.map((algorithm) => {
        return `the SDK stores and verifies a streamed body with ${algorithm}`;
      }),
      'aws-chunked is not stored as an encoding, and others beside it are',
      'a wrong signature on the trailer stores nothing',
    ],
  },
  {
    reason: 'neither checks nor keeps additional checksums',
    cases: algorithms.flatMap((algorithm) => [
      `a ${algorithm} trailer is checked and kept`,
      `a ${algorithm} header is checked and kept`,
      `a wrong ${algorithm} header is a BadDigest and stores nothing`,
    ]),
  },
  {
    reason: 'does not check the signature of the chunk of size 0, and refuses a body of that alone',
    only: 'direct',
    cases: [
      'a wrong signature on the last chunk stores nothing',
      'a streamed upload of no bytes is stored',
    ],
  },
  {
    reason: 'obeys x-amz headers that the signature does not cover',
    only: 'direct',
    cases: [
      'an unsigned x-amz-copy-source on a presigned PUT is refused',
      'an unsigned x-amz header beside a signature is refused',
    ],
  },
  {
    reason: 'takes a negative count for zero',
    cases: ['zero keys can be asked for, and a negative number is an InvalidArgument'],
  },
  {
    reason: 'error documents name no key',
    cases: ['a missing key is a NoSuchKey that names it'],
  },
  {
    reason: 'accepts any region in the scope',
    only: 'direct',
    cases: [
      'a scope of another region is an AuthorizationHeaderMalformed that names the right one',
    ],
  },
  {
    reason: 'tells broken XML with another code',
    only: 'direct',
    cases: ['XML that is not well-formed is a MalformedXML'],
  },
];

const byOrigin: Readonly<Record<string, readonly Deviation[]>> = { radosgw };

/** Reasons by case; empty for S3 itself and for origins that aren't listed. */
export function knownDeviations(origin: string, route: Route): ReadonlyMap<string, string> {
  const shown = (byOrigin[origin] ?? []).filter(({ only = route }) => only === route);
  const reasons = shown.flatMap(({ reason, cases }) => {
    return cases.map((name) => [name, reason] as const);
  });
  return new Map(reasons);
}
