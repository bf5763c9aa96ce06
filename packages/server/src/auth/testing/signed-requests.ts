/** Requests that are signed by hand, for tests of signatures: by a third reading of SigV4, and held against one verifier of known clients. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { formatAmzDate } from '@s3-accelerator/core/s3/http-date.ts';
import { RequestHead } from '../../http/request-head.ts';
import { RequestParser, newHeadProgress } from '../../http/request-parser.ts';
import { ClientTable, type ClientSettings } from '../clients.ts';
import { SigV4, requiredScratchBytes } from '../sigv4.ts';

export const accessKeyId = 'AKIAIOSFODNN7EXAMPLE';
export const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
export const temporary = {
  accessKeyId: 'ASIATEMPORARY',
  secretAccessKey: 'temporary',
  sessionToken: 'to/ken+==',
};
export const clients: readonly ClientSettings[] = [
  { accessKeyId, secretAccessKey, grants: [] },
  { ...temporary, expiresAtMs: Date.UTC(2030, 0), grants: [] },
  { accessKeyId: 'with/slash', secretAccessKey: 's', grants: [] },
];
export const exampleTime = Date.UTC(2013, 4, 24);
export const now = Date.UTC(2026, 10, 29, 12);
export const emptyHash = createHash('sha256').digest('hex');

export const head = new RequestHead();
export const parser = new RequestParser(head);
export const sigv4 = new SigV4(new Digester(requiredScratchBytes), new ClientTable(clients), {
  region: 'us-east-1',
  maxScopes: 16,
});

export type Headers = Readonly<Record<string, string>>;

export function check(method: string, target: string, headers: Headers, atMs = now): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  const bytes = new Uint8Array(text.buffer, text.byteOffset, text.length);
  assert.equal(parser.parse(bytes, text, 0, text.length, newHeadProgress()), 'complete');
  const error = sigv4.check(head, atMs);
  assert.equal(error === null, sigv4.client !== null);
  return error ?? sigv4.client!.accessKeyId;
}

/** A third reading of SigV4, for requests that no library would make: the canonical request is given as lines. */
export function sign(
  canonical: readonly string[],
  options: { secret?: string; region?: string; amzDate?: string; scopeDay?: string } = {},
): string {
  const { secret = secretAccessKey, region = 'us-east-1' } = options;
  const { amzDate = formatAmzDate(now / 1000) } = options;
  const day = options.scopeDay ?? amzDate.slice(0, 8);
  const hmac = (key: Buffer | string, text: string): Buffer =>
    createHmac('sha256', key).update(text, 'latin1').digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request');
  const hash = createHash('sha256').update(canonical.join('\n'), 'latin1').digest('hex');
  return hmac(
    key,
    `AWS4-HMAC-SHA256\n${amzDate}\n${day}/${region}/s3/aws4_request\n${hash}`,
  ).toString('hex');
}

export const amzDate = formatAmzDate(now / 1000);

interface Signed {
  readonly method?: string;
  readonly target?: string;
  /** As the client writes it into its canonical request, when that isn't the target's path as sent. */
  readonly canonicalPath?: string;
  readonly canonicalQuery?: string;
  readonly signed?: Headers;
  readonly unsigned?: Headers;
  readonly region?: string;
  readonly accessKey?: string;
  readonly secret?: string;
  readonly date?: string;
  readonly scopeDay?: string;
  readonly hash?: string;
}

/** Signs by hand and checks. */
export function checkSigned(options: Signed, atMs = now): string {
  const { method = 'GET', target = '/bucket/key', region = 'us-east-1' } = options;
  const { accessKey = accessKeyId, secret = secretAccessKey, date = amzDate } = options;
  const { hash = emptyHash } = options;
  const day = options.scopeDay ?? date.slice(0, 8);
  const signed: Record<string, string> = {
    host: 's3.test',
    'x-amz-content-sha256': hash,
    'x-amz-date': date,
    ...options.signed,
  };
  const names = Object.keys(signed).sort();
  const [path = '', query = ''] = target.split('?');
  const signature = sign(
    [
      method,
      options.canonicalPath ?? path,
      options.canonicalQuery ?? query,
      ...names.map((name) => `${name}:${signed[name]!.replace(/[ \t]+/g, ' ')}`),
      '',
      names.join(';'),
      hash,
    ],
    { secret, region, amzDate: date, scopeDay: day },
  );
  return check(
    method,
    target,
    {
      ...signed,
      ...options.unsigned,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${day}/${region}/s3/aws4_request, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    },
    atMs,
  );
}
