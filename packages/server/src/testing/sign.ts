/**
 * Signatures as S3's clients make them, written for the tests alone: what judges the program shares no code with it.
 *
 * Everything can be said wrongly on purpose: another date, another region, headers that are sent but not signed.
 */
import { createHash, createHmac } from 'node:crypto';

export interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type HeaderLine = readonly [name: string, value: string];

export interface Signing {
  readonly method: string;
  /** Path and query exactly as they go onto the wire. */
  readonly target: string;
  readonly identity: Identity;
  readonly host: string;
  readonly region?: string;
  readonly date?: Date;
}

/** 20260102T030405Z */
function timestampOf(date: Date): string {
  return `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'latin1').digest();
}

/** Bytes, one a character, behind percent signs. */
function decode(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Everything but unreserved characters, and slashes in paths, behind percent signs. `bytes`: one a character. */
export function encode(bytes: string, isPath = false): string {
  return bytes.replace(/[^A-Za-z0-9\-._~/]|\//g, (character) => {
    if (character === '/' && isPath) return character;
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** A key as the path of a target. */
export function pathOf(bucket: string, key: string): string {
  return `/${bucket}/${encode(Buffer.from(key, 'utf8').toString('latin1'), true)}`;
}

function canonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const encoded = pairs.map((pair) => {
    const at = pair.indexOf('=');
    const name = at < 0 ? pair : pair.slice(0, at);
    const value = at < 0 ? '' : pair.slice(at + 1);
    return [name, value].map((text) => encode(decode(text.replaceAll('+', ' '))));
  });
  encoded.sort(([a = '', x = ''], [b = '', y = '']) =>
    a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1,
  );
  return encoded.map((pair) => pair.join('=')).join('&');
}

function signatureOf(
  { method, target, identity, region = 'us-east-1' }: Signing,
  headers: readonly HeaderLine[],
  payload: string,
  timestamp: string,
): { scope: string; names: string; signature: string } {
  const byName = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const values = byName.get(name.toLowerCase()) ?? [];
    values.push(value.trim().replace(/ +/g, ' '));
    byName.set(name.toLowerCase(), values);
  }
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  const names = sorted.map(([name]) => name).join(';');
  const at = target.indexOf('?');
  const canonical = [
    method,
    encode(decode(at < 0 ? target : target.slice(0, at)), true),
    canonicalQuery(at < 0 ? '' : target.slice(at + 1)),
    ...sorted.map(([name, values]) => `${name}:${values.join(',')}`),
    '',
    names,
    payload,
  ].join('\n');
  const day = timestamp.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const hashed = createHash('sha256').update(canonical, 'latin1').digest('hex');
  let key: Buffer = Buffer.from(`AWS4${identity.secretAccessKey}`);
  for (const step of [day, region, 's3', 'aws4_request']) key = hmac(key, step);
  const text = ['AWS4-HMAC-SHA256', timestamp, scope, hashed].join('\n');
  return { scope, names, signature: hmac(key, text).toString('hex') };
}

/** All headers of a request, signed. Of `headers`, those named in `unsigned` are left out of the signature. */
export function signHeaders(
  signing: Signing,
  payload: string,
  headers: readonly HeaderLine[],
  unsigned: readonly string[] = [],
): HeaderLine[] {
  const { identity, host, date = new Date() } = signing;
  const timestamp = timestampOf(date);
  const all: HeaderLine[] = [
    ['host', host],
    ['x-amz-date', timestamp],
    ['x-amz-content-sha256', payload],
    ...headers,
  ];
  if (identity.sessionToken !== undefined) {
    all.push(['x-amz-security-token', identity.sessionToken]);
  }
  const signed = all.filter(([name]) => !unsigned.includes(name.toLowerCase()));
  const { scope, names, signature } = signatureOf(signing, signed, payload, timestamp);
  const credential = `${identity.accessKeyId}/${scope}`;
  const value = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return [...all, ['authorization', value]];
}

/** A target that carries its own signature over `host` alone. */
export function presign(signing: Signing, expiresSeconds: number, extra = ''): string {
  const { target, identity, host, region = 'us-east-1', date = new Date() } = signing;
  const timestamp = timestampOf(date);
  const scope = `${timestamp.slice(0, 8)}/${region}/s3/aws4_request`;
  const parameters = [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256',
    `X-Amz-Credential=${encode(`${identity.accessKeyId}/${scope}`)}`,
    `X-Amz-Date=${timestamp}`,
    `X-Amz-Expires=${expiresSeconds}`,
    'X-Amz-SignedHeaders=host',
  ];
  if (identity.sessionToken !== undefined) {
    parameters.push(`X-Amz-Security-Token=${encode(identity.sessionToken)}`);
  }
  if (extra !== '') parameters.push(extra);
  const unsigned = `${target}${target.includes('?') ? '&' : '?'}${parameters.join('&')}`;
  const { signature } = signatureOf(
    { ...signing, target: unsigned },
    [['host', host]],
    'UNSIGNED-PAYLOAD',
    timestamp,
  );
  return `${unsigned}&X-Amz-Signature=${signature}`;
}
