// Every error code that the embedded S3 answers with, its status and its text, in one table.
//
// Operations throw S3Error; the listener alone turns one into XML. Anything else that is thrown is a
// bug and answers InternalError.

const table = {
  AccessDenied: [403, 'Access Denied'],
  AuthorizationHeaderMalformed: [400, 'The authorization header that you provided is not valid.'],
  AuthorizationQueryParametersError: [400, 'The presigned query parameters are not valid.'],
  BadDigest: [400, 'The digest or checksum you specified did not match what was received.'],
  BadRequest: [400, 'The request could not be understood.'],
  BucketNotEmpty: [409, 'The bucket you tried to delete is not empty.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size.'],
  IncompleteBody: [400, 'You did not provide the number of bytes your headers announced.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The access key ID you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid argument.'],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidChunkSizeError: [
    403,
    'Only the last chunk is allowed to have a size less than 8192 bytes.',
  ],
  InvalidDigest: [400, 'The Content-MD5 you specified is not valid.'],
  InvalidPart: [400, 'One or more of the specified parts could not be found or had another ETag.'],
  InvalidPartNumber: [416, 'The requested part number is not satisfiable.'],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order.'],
  InvalidRange: [416, 'The requested range is not satisfiable.'],
  InvalidRequest: [400, 'Invalid request.'],
  InvalidTag: [400, 'The tag provided was not a valid tag.'],
  InvalidToken: [400, 'The provided token is malformed or otherwise not valid.'],
  InvalidURI: [400, 'The specified URI could not be parsed.'],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not match our schema.'],
  MalformedTrailerError: [400, 'The request contained trailing data that was not well-formed.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size.'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchBucket: [404, 'The specified bucket does not exist.'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist.'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist.'],
  NoSuchTagSet: [404, 'The TagSet does not exist.'],
  NoSuchUpload: [404, 'The specified multipart upload does not exist.'],
  NotImplemented: [
    501,
    'A header or query you provided implies functionality that is not implemented.',
  ],
  PreconditionFailed: [412, 'At least one of the preconditions you specified did not hold.'],
  RequestHeaderSectionTooLarge: [
    400,
    'Your request header section exceeds the maximum allowed size.',
  ],
  RequestTimeTooSkewed: [
    403,
    'The difference between the request time and the current time is too large.',
  ],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided.',
  ],
  SlowDown: [503, 'Please reduce your request rate.'],
  XAmzContentSHA256Mismatch: [
    400,
    'The provided x-amz-content-sha256 header does not match what was computed.',
  ],
} as const satisfies Record<string, readonly [number, string]>;

export type S3ErrorCode = keyof typeof table;

/** An S3 error answer: a code of the table, extra XML elements and extra headers. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly elements: Readonly<Record<string, string>>;
  readonly headers: readonly (readonly [string, string])[];

  constructor(
    code: S3ErrorCode,
    message?: string,
    elements: Readonly<Record<string, string>> = {},
    headers: readonly (readonly [string, string])[] = [],
  ) {
    super(message ?? table[code][1]);
    this.code = code;
    this.status = table[code][0];
    this.elements = elements;
    this.headers = headers;
  }
}
