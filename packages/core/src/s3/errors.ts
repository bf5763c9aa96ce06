/**
 * The one table of S3 error codes: status and message, as clients know them from S3.
 *
 * Nothing else in the tree writes a status for a code. Messages carry nothing of the request, so no secret can get into
 * one; what a client needs besides (the region, the server's time) travels as further XML elements.
 */

export interface S3Error {
  readonly status: number;
  readonly message: string;
}

const error = (status: number, message: string): S3Error => ({ status, message });

export const s3Errors = {
  AccessDenied: error(403, 'Access Denied'),
  AuthorizationHeaderMalformed: error(
    400,
    'The authorization header that you provided is not valid.',
  ),
  AuthorizationQueryParametersError: error(
    400,
    'The authorization query parameters that you provided are not valid.',
  ),
  BadDigest: error(400, 'The checksum you specified did not match what we received.'),
  BadRequest: error(400, 'An error occurred when parsing the HTTP request.'),
  BucketAlreadyExists: error(409, 'The requested bucket name is not available.'),
  EntityTooLarge: error(400, 'Your proposed upload exceeds the maximum allowed object size.'),
  EntityTooSmall: error(400, 'Your proposed upload is smaller than the minimum allowed size.'),
  ExpectationFailed: error(417, 'The expectation given in the Expect header can not be met.'),
  ExpiredToken: error(400, 'The provided token has expired.'),
  IncompleteBody: error(
    400,
    'You did not provide the number of bytes specified by the Content-Length HTTP header.',
  ),
  InternalError: error(500, 'We encountered an internal error. Please try again.'),
  InvalidAccessKeyId: error(
    403,
    'The AWS access key ID that you provided does not exist in our records.',
  ),
  InvalidArgument: error(400, 'Invalid argument.'),
  InvalidBucketName: error(400, 'The specified bucket is not valid.'),
  InvalidChunkSizeError: error(400, 'A chunk of the body has a size that is not valid.'),
  InvalidDigest: error(400, 'The Content-MD5 or checksum value that you specified is not valid.'),
  InvalidPolicyDocument: error(
    400,
    'The content of the form does not meet the conditions specified in the policy document.',
  ),
  InvalidRange: error(416, 'The requested range is not satisfiable.'),
  InvalidRequest: error(400, 'Invalid request.'),
  InvalidToken: error(400, 'The provided token is malformed or otherwise not valid.'),
  InvalidURI: error(400, "Couldn't parse the specified URI."),
  KeyTooLongError: error(400, 'Your key is too long.'),
  MalformedPOSTRequest: error(400, 'The body of your POST request is not well-formed.'),
  MalformedTrailerError: error(
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ),
  MalformedXML: error(
    400,
    'The XML you provided was not well-formed or did not validate against our published schema.',
  ),
  MethodNotAllowed: error(405, 'The specified method is not allowed against this resource.'),
  MissingContentLength: error(411, 'You must provide the Content-Length HTTP header.'),
  MissingSecurityHeader: error(400, 'Your request is missing a required header.'),
  NoSuchBucket: error(404, 'The specified bucket does not exist.'),
  NoSuchKey: error(404, 'The specified key does not exist.'),
  NoSuchUpload: error(404, 'The specified multipart upload does not exist.'),
  NoSuchVersion: error(404, 'The specified version does not exist.'),
  NotImplemented: error(
    501,
    'A header or parameter you provided implies functionality that is not implemented.',
  ),
  PreconditionFailed: error(
    412,
    'At least one of the preconditions that you specified did not hold.',
  ),
  RequestHeaderSectionTooLarge: error(
    400,
    'Your request header section exceeds the maximum allowed size.',
  ),
  RequestTimeout: error(
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ),
  RequestTimeTooSkewed: error(
    403,
    "The difference between the request time and the server's time is too large.",
  ),
  ServiceUnavailable: error(503, 'Service is unable to handle the request.'),
  SignatureDoesNotMatch: error(
    403,
    'The request signature that the server calculated does not match the signature that you provided.',
  ),
  SlowDown: error(503, 'Please reduce your request rate.'),
  TooManyParts: error(400, 'You have attempted to upload more parts than are allowed.'),
  XAmzContentSHA256Mismatch: error(
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ),
} as const satisfies Record<string, S3Error>;

export type ErrorCode = keyof typeof s3Errors;
