/**
 * What a metadata service answers, and what is made of it. docs/metadata-service.md describes it for those who write one.
 *
 * Answers are read by the same rows as configuration files. A field that isn't known here is refused: it could be a restriction
 * that this version wouldn't keep.
 */
import type { Grant } from '../auth/grants.ts';
import type { ClaimedScope } from '../auth/signing-keys.ts';
import { clientRows } from '../config/client-rows.ts';
import { bucketKeys, bucketOriginRows, originRows } from '../config/origin-rows.ts';
import { Problems } from '../config/problems.ts';
import { readDocument, type TomlTable } from '../config/read-rows.ts';
import { named, optionalTable, text, type ReadRows, type Rows } from '../config/row.ts';

const hexDigest = { pattern: /^[0-9a-f]{64}$/, allowed: '64 hexadecimal digits' };

const clientAnswerRows = {
  access_key_id: clientRows.access_key_id,
  signing_key: text({ ...hexDigest, need: 'required', doc: 'The key for the day and region.' }),
  session_token_sha256: text({ ...hexDigest, need: 'optional', doc: "The token's digest." }),
  expires_at: text({
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
    allowed: 'a date and time with its offset from UTC',
    need: 'optional',
    doc: 'When the key ends.',
  }),
  grants: clientRows.grants,
} as const;

export const servedOriginRows = {
  origin: optionalTable('The default origin.', originRows),
  origins: named('Origins by bucket.', { ...bucketKeys, exampleKey: 'assets' }, bucketOriginRows),
} as const;

/** What a gateway needs to know of a client. There is no secret in it, only a key for one day and region. */
export interface ClientFacts {
  readonly signingKey: Uint8Array;
  /** SHA-256 of the session token that requests must carry; null for none. */
  readonly tokenDigest: Uint8Array | null;
  /** Milliseconds since 1970; Infinity for no end. */
  readonly expiresAtMs: number;
  readonly grants: readonly Grant[];
}

export type ServedOrigins = ReadRows<typeof servedOriginRows>;

/** The service answered with something that it may not. The message says what, without values that may be secret. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

export function readClient(body: string, { accessKeyId }: ClaimedScope): ClientFacts {
  const read = readAnswer(clientAnswerRows, body);
  if (read.accessKeyId !== accessKeyId) throw new BadAnswer('the answer is about another client');
  const { expiresAt, sessionTokenSha256, signingKey } = read;
  const expiresAtMs = expiresAt === undefined ? Infinity : Date.parse(expiresAt);
  if (Number.isNaN(expiresAtMs)) throw new BadAnswer('expires_at is no date');
  return {
    signingKey: Buffer.from(signingKey, 'hex'),
    tokenDigest: sessionTokenSha256 === undefined ? null : Buffer.from(sessionTokenSha256, 'hex'),
    expiresAtMs,
    grants: read.grants.map(({ bucket, prefix, access }) => ({
      bucket,
      // Text is UTF-8, object keys are bytes.
      prefix: Buffer.from(prefix, 'utf8').toString('latin1'),
      access,
    })),
  };
}

export function readOrigins(body: string): ServedOrigins {
  return readAnswer(servedOriginRows, body);
}

function readAnswer<R extends Rows>(rows: R, body: string): ReadRows<R> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new BadAnswer('the answer is no JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new BadAnswer('the answer is no JSON object');
  }
  const problems = new Problems();
  const read = readDocument(rows, parsed as TomlTable, problems);
  if (problems.problems.length > 0) throw new BadAnswer(problems.problems.join('; '));
  return read as ReadRows<R>;
}
