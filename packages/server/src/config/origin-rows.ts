/** Rows about origins, which two tables share, and about naming buckets. Part of the settings table. */
import { choice, endpoint, flag, integer, path, secret, text } from './row.ts';

const minute = 60_000;

/** Limits towards one server, in the words of the origin client. */
export const originLimitRows = {
  connections: integer({
    min: 1,
    max: 65_536,
    unit: 'connections',
    default: 128,
    doc: 'Connections to one origin at most; further requests wait for one.',
  }),
  requests: integer({
    min: 1,
    max: 1_000_000,
    unit: 'requests',
    default: 4096,
    doc: 'Requests to one origin at most, in flight and waiting; further ones are answered `SlowDown`.',
  }),
  tries: integer({
    min: 1,
    max: 20,
    default: 3,
    doc: 'How often a request is sent in all, where it may be sent again.',
  }),
  connect_timeout_ms: integer({
    min: 1,
    max: 10 * minute,
    unit: 'ms',
    default: 3000,
    doc: 'How long connecting may take, TLS included.',
  }),
  wait_timeout_ms: integer({
    min: 1,
    max: 60 * minute,
    unit: 'ms',
    default: 30_000,
    doc: 'How long a request waits for a connection to become free.',
  }),
  first_byte_timeout_ms: integer({
    min: 1,
    max: 60 * minute,
    unit: 'ms',
    default: 30_000,
    doc: 'How long a fetch waits for the first byte of its answer.',
  }),
  forward_first_byte_timeout_ms: integer({
    min: 1,
    max: 60 * minute,
    unit: 'ms',
    default: 5 * minute,
    doc: 'The same for requests passed through: completing a big multipart upload takes origins minutes.',
  }),
  idle_timeout_ms: integer({
    min: 1,
    max: 60 * minute,
    unit: 'ms',
    default: 30_000,
    doc: 'How long no byte may move within a body.',
  }),
  keep_alive_ms: integer({
    min: 0,
    max: 24 * 60 * minute,
    unit: 'ms',
    default: 10_000,
    doc: 'How long an unused connection is kept, unless the origin asks for less.',
  }),
} as const;

/** How tables are named that stand for buckets. */
export const bucketKeys = {
  keyName: '<bucket>',
  keyPattern: /^[A-Za-z0-9._-]{3,255}$/,
  keyAllowed: 'a bucket name: 3 to 255 letters, digits, dots, dashes or underscores',
};

export const originRows = {
  endpoint: endpoint({
    need: 'required',
    example: '"https://s3.us-east-1.amazonaws.com"',
    reloadable: true,
    doc: 'Where the S3 API of this origin answers; a path is kept.',
  }),
  region: text({
    pattern: /^[a-z0-9-]{1,64}$/,
    allowed: 'a region name in lower case',
    need: 'required',
    example: '"us-east-1"',
    reloadable: true,
    doc: 'The region that requests to the origin are signed for; `auto` for R2.',
  }),
  access_key_id: text({
    pattern: /^[\x21-\x7e]{1,128}$/,
    allowed: '1 to 128 printable characters without spaces',
    need: 'optional',
    fallbackText: "AWS's default chain",
    example: '"AKIA..."',
    reloadable: true,
    doc: "The id of the origin's credential. Without it, credentials come from AWS's default chain: environment, profile, web identity, container, instance.",
  }),
  secret_access_key: secret({
    need: 'optional',
    fallbackText: "AWS's default chain",
    example: '"..."',
    reloadable: true,
    doc: "The secret of the origin's credential. Goes with `access_key_id`.",
  }),
  session_token: secret({
    need: 'optional',
    fallbackText: 'none',
    example: '"..."',
    reloadable: true,
    doc: 'The session token that belongs to a temporary credential.',
  }),
  addressing: choice(['path', 'virtual'], {
    default: 'path',
    reloadable: true,
    doc: 'How requests name their bucket: in the path, or in front of the host, for origins that want it so. Connections go to the endpoint itself either way.',
  }),
  ca_file: path({
    need: 'optional',
    fallbackText: 'those that Node trusts',
    example: '"/etc/ssl/private-ca.pem"',
    reloadable: true,
    doc: 'Certificates of the authorities that may vouch for an `https://` endpoint, in PEM. Read at the start and on SIGHUP.',
  }),
  checksum_trailers: flag({
    default: true,
    reloadable: true,
    doc: 'Whether the origin takes checksums in trailers of uploads. Without, they are sent as headers.',
  }),
} as const;

export const bucketOriginRows = {
  ...originRows,
  bucket: text({
    pattern: bucketKeys.keyPattern,
    allowed: bucketKeys.keyAllowed,
    need: 'optional',
    fallbackText: 'the same name',
    example: '"assets-production"',
    reloadable: true,
    doc: "The bucket's name at the origin, where it differs.",
  }),
} as const;
