// A raw S3 client for what the SDK cannot say: exact target bytes, exact headers and every form of
// streamed upload. It signs on its own and gives the answer back untouched.
import { createHash, createHmac } from 'node:crypto';
import { request } from 'node:http';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Site {
  /** http://host:port, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: Credentials;
}

export type PayloadForm =
  | 'hash'
  | 'unsigned'
  | 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
  | 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'
  | 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

export interface RawRequest {
  readonly method: string;
  /** Path and query exactly as they go onto the wire. */
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Buffer;
  readonly form?: PayloadForm;
  readonly trailer?: readonly [name: string, value: string];
  readonly chunkBytes?: number;
  /** Host header, if it isn't the endpoint's. */
  readonly host?: string;
  /** Host header in place of the one that is signed. */
  readonly presented?: string;
  /** Sends the target in absolute form, with this authority. */
  readonly authority?: string;
  /** Spoils something after signing. */
  readonly spoil?: 'last-chunk-signature' | 'trailer-signature' | 'body';
  readonly date?: Date;
  /** Names of headers to send unsigned. */
  readonly unsignedHeaders?: readonly string[];
}

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; repeated ones joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A connection that is silent for so long counts as broken. */
export const silenceMs = 30_000;

const emptyHash = sha256('');

/** A request as it goes onto the wire, signed and framed. */
export interface SignedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** Sends one signed request. @throws on a broken connection */
export async function sendSigned(site: Site, raw: RawRequest): Promise<RawAnswer> {
  return sendAsSigned(site, signRequest(site, raw));
}

/** @throws on a broken connection */
export function sendAsSigned(site: Site, signed: SignedRequest): Promise<RawAnswer> {
  return exchange(site.endpoint, signed.method, signed.target, signed.headers, signed.body);
}

/** Hashes, frames and signs it: all that is a client's own work. */
export function signRequest(site: Site, raw: RawRequest): SignedRequest {
  const form = raw.form ?? 'hash';
  const body = raw.body ?? Buffer.alloc(0);
  const payloadHash =
    form === 'hash' ? sha256(body) : form === 'unsigned' ? 'UNSIGNED-PAYLOAD' : form;
  const timestamp = `${(raw.date ?? new Date()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const headers: [string, string][] = [
    ['host', raw.host ?? new URL(site.endpoint).host],
    ['x-amz-date', timestamp],
    ['x-amz-content-sha256', payloadHash],
    ...(raw.headers ?? []).map(([name, value]): [string, string] => [name.toLowerCase(), value]),
  ];
  const streaming = form.startsWith('STREAMING-');
  if (streaming) {
    headers.push(['x-amz-decoded-content-length', String(body.length)]);
    if (!headers.some(([name]) => name === 'content-encoding')) {
      headers.push(['content-encoding', 'aws-chunked']);
    }
    if (raw.trailer !== undefined) headers.push(['x-amz-trailer', raw.trailer[0]]);
  }
  const signer = new Signer(site, timestamp);
  const signed = headers.filter(([name]) => !(raw.unsignedHeaders ?? []).includes(name));
  const { signature, signedNames } = signer.signHead(raw.method, raw.target, signed, payloadHash);
  headers.push(['authorization', signer.authorization(signedNames, signature)]);
  let sent = streaming ? frame(raw, body, signer, signature) : body;
  if (raw.spoil === 'body') {
    sent = Buffer.from(sent);
    sent[Math.floor(sent.length / 2)] = sent[Math.floor(sent.length / 2)]! ^ 1;
  }
  if (sent.length > 0 || raw.method === 'PUT' || raw.method === 'POST') {
    headers.push(['content-length', String(sent.length)]);
  }
  if (raw.presented !== undefined) headers[0] = ['host', raw.presented];
  const prefix = raw.authority === undefined ? '' : `http://${raw.authority}`;
  return { method: raw.method, target: `${prefix}${raw.target}`, headers, body: sent };
}

/** Sends a request as it stands: for presigned targets and for requests without a signature. */
export function exchange(
  endpoint: string,
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: Buffer,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path: target, headers: headers.flat(), agent: false },
      (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const names = new Map<string, string>();
          for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
            const name = incoming.rawHeaders[at]!.toLowerCase();
            const value = incoming.rawHeaders[at + 1]!;
            const before = names.get(name);
            names.set(name, before === undefined ? value : `${before},${value}`);
          }
          resolve({
            status: incoming.statusCode ?? 0,
            headers: names,
            body: Buffer.concat(pieces),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.setTimeout(silenceMs, () => {
      outgoing.destroy(new Error(`no answer to ${method} ${target} within ${silenceMs} ms`));
    });
    outgoing.end(body);
  });
}

class Signer {
  readonly #key: Buffer;
  readonly #scope: string;
  readonly #timestamp: string;
  readonly #accessKeyId: string;

  constructor(site: Site, timestamp: string) {
    const date = timestamp.slice(0, 8);
    let key = hmac(`AWS4${site.credentials.secretAccessKey}`, date);
    for (const step of [site.region, 's3', 'aws4_request']) key = hmac(key, step);
    this.#key = key;
    this.#scope = `${date}/${site.region}/s3/aws4_request`;
    this.#timestamp = timestamp;
    this.#accessKeyId = site.credentials.accessKeyId;
  }

  signHead(
    method: string,
    target: string,
    headers: readonly (readonly [string, string])[],
    payloadHash: string,
  ): { signature: string; signedNames: string } {
    const byName = new Map<string, string>();
    for (const [name, value] of headers) {
      const folded = value.trim().replace(/ +/g, ' ');
      const before = byName.get(name);
      byName.set(name, before === undefined ? folded : `${before},${folded}`);
    }
    const names = [...byName.keys()].sort();
    const [path = '', query = ''] = splitOnce(target, '?');
    const canonical = [
      method,
      encodeBytes(decodeBytes(path), true),
      canonicalQuery(query),
      names.map((name) => `${name}:${byName.get(name) ?? ''}\n`).join(''),
      names.join(';'),
      payloadHash,
    ].join('\n');
    const text = ['AWS4-HMAC-SHA256', this.#timestamp, this.#scope, sha256(canonical)].join('\n');
    return { signature: hmac(this.#key, text).toString('hex'), signedNames: names.join(';') };
  }

  authorization(signedNames: string, signature: string): string {
    const credential = `${this.#accessKeyId}/${this.#scope}`;
    return `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${signedNames},Signature=${signature}`;
  }

  signNext(kind: 'PAYLOAD' | 'TRAILER', previous: string, hashes: string): string {
    const lines = [`AWS4-HMAC-SHA256-${kind}`, this.#timestamp, this.#scope, previous, hashes];
    return hmac(this.#key, lines.join('\n')).toString('hex');
  }
}

function frame(raw: RawRequest, body: Buffer, signer: Signer, seed: string): Buffer {
  const signed = raw.form?.startsWith('STREAMING-AWS4') ?? false;
  const chunkBytes = raw.chunkBytes ?? 65536;
  const pieces: Buffer[] = [];
  let previous = seed;
  for (let at = 0; at <= body.length; at += chunkBytes) {
    // The chunk of size 0 ends the body, whether or not the last one was full.
    const ends = at + chunkBytes >= body.length;
    const chunks =
      ends && at < body.length
        ? [body.subarray(at), Buffer.alloc(0)]
        : [body.subarray(at, at + chunkBytes)];
    for (const chunk of chunks) {
      let head = chunk.length.toString(16);
      if (signed) {
        previous = signer.signNext('PAYLOAD', previous, `${emptyHash}\n${sha256(chunk)}`);
        const spoilt = raw.spoil === 'last-chunk-signature' && chunk.length === 0;
        head += `;chunk-signature=${spoilt ? spoilHex(previous) : previous}`;
      }
      pieces.push(Buffer.from(`${head}\r\n`), chunk);
      if (chunk.length > 0) pieces.push(Buffer.from('\r\n'));
    }
    if (ends) break;
  }
  if (raw.trailer !== undefined) {
    const [name, value] = raw.trailer;
    pieces.push(Buffer.from(`${name}:${value}\r\n`));
    if (signed) {
      const signature = signer.signNext('TRAILER', previous, sha256(`${name}:${value}\n`));
      const shown = raw.spoil === 'trailer-signature' ? spoilHex(signature) : signature;
      pieces.push(Buffer.from(`x-amz-trailer-signature:${shown}\r\n`));
    }
  }
  pieces.push(Buffer.from('\r\n'));
  return Buffer.concat(pieces);
}

function spoilHex(signature: string): string {
  return (signature.startsWith('0') ? '1' : '0') + signature.slice(1);
}

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', value = ''] = splitOnce(pair, '=');
      const decode = (text: string): string => decodeBytes(text.replaceAll('+', ' '));
      return [encodeBytes(decode(name), false), encodeBytes(decode(value), false)] as const;
    })
    .sort(([a, x], [b, y]) => (a === b ? Number(x > y) - Number(x < y) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decodeBytes(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_all, digits: string) => {
    return String.fromCharCode(Number.parseInt(digits, 16));
  });
}

function encodeBytes(bytes: string, keepSlash: boolean): string {
  return bytes.replace(/[^A-Za-z0-9\-._~/]|\//g, (character) => {
    if (character === '/' && keepSlash) return character;
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** A key as the path of a target, every byte but unreserved ones and slashes escaped. */
export function encodeKey(key: string): string {
  return encodeBytes(Buffer.from(key, 'utf8').toString('latin1'), true);
}

function sha256(bytes: Buffer | string): string {
  const hash = createHash('sha256');
  return (typeof bytes === 'string' ? hash.update(bytes, 'latin1') : hash.update(bytes)).digest(
    'hex',
  );
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'latin1').digest();
}
