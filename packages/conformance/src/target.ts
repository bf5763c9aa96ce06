// What the cases run against: the SDK's client, the raw client, and reads that are repeated.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type {
  GetObjectCommandInput,
  GetObjectCommandOutput,
  PutObjectCommandInput,
  S3ClientConfig,
} from '@aws-sdk/client-s3';
import { encodeKey, sendSigned, silenceMs } from './signed-request.ts';
import type { RawAnswer, RawRequest, Site } from './signed-request.ts';

/** Reads per case: one that misses, one that is admitted, one that hits. */
const readsPerCase = 3;

export interface ReadResult {
  readonly output: GetObjectCommandOutput;
  readonly bytes: Buffer;
}

export class Target {
  readonly site: Site;
  readonly client: S3Client;
  readonly bucket: string;
  /** Host names below it name buckets; null where the target has none. */
  readonly domain: string | null;
  #keys = 0;

  constructor(site: Site, bucket: string, domain: string | null) {
    this.site = site;
    this.bucket = bucket;
    this.domain = domain;
    this.client = makeClient(site);
  }

  /** A key that no other case uses. */
  freshKey(suffix = 'object'): string {
    return `case-${++this.#keys}/${suffix}`;
  }

  /** Writes through the SDK, as an application would. */
  put(
    key: string,
    body: Buffer | string,
    input: Partial<PutObjectCommandInput> = {},
  ): Promise<{ ETag?: string | undefined }> {
    return this.client.send(
      new PutObjectCommand({ Bucket: this.bucket, Key: key, Body: body, ...input }),
    );
  }

  async get(key: string, input: Partial<GetObjectCommandInput> = {}): Promise<ReadResult> {
    const output = await this.client.send(
      new GetObjectCommand({ Bucket: this.bucket, Key: key, ...input }),
    );
    const body = await output.Body?.transformToByteArray();
    return { output, bytes: Buffer.from(body ?? []) };
  }

  /** Reads three times, and asserts the same bytes and headers each time. @returns the last read */
  async getRepeatedly(
    key: string,
    expected: Buffer | string,
    input: Partial<GetObjectCommandInput> = {},
  ): Promise<ReadResult> {
    const wanted = Buffer.from(expected);
    let first: ReadResult | null = null;
    let last: ReadResult | null = null;
    for (let read = 1; read <= readsPerCase; read++) {
      last = await this.get(key, input);
      assertSameBytes(last.bytes, wanted, `read ${read} of ${JSON.stringify(key)}`);
      first ??= last;
      assert.deepEqual(visible(last.output), visible(first.output), `headers of read ${read}`);
    }
    return last!;
  }

  /** A raw request to a key of the bucket. */
  rawKey(
    method: string,
    key: string,
    rest: Omit<RawRequest, 'method' | 'target'> = {},
  ): Promise<RawAnswer> {
    return this.raw({ method, target: `/${this.bucket}/${encodeKey(key)}`, ...rest });
  }

  raw(raw: RawRequest): Promise<RawAnswer> {
    return sendSigned(this.site, raw);
  }

  /** A raw read, three times, with the same status, headers and body each time. */
  async rawRepeatedly(raw: RawRequest): Promise<RawAnswer> {
    const first = await this.raw(raw);
    for (let read = 2; read <= readsPerCase; read++) {
      const again = await this.raw(raw);
      assert.equal(again.status, first.status, `status of read ${read}`);
      assertSameBytes(again.body, first.body, `read ${read}`);
      assert.deepEqual(steady(again), steady(first), `headers of read ${read}`);
    }
    return first;
  }
}

export function makeClient(site: Site, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: site.endpoint,
    region: site.region,
    credentials: { ...site.credentials },
    forcePathStyle: true,
    maxAttempts: 2,
    ...config,
    requestHandler: { requestTimeout: silenceMs, socketTimeout: silenceMs },
  });
}

/** The SDK's error for a refused request. @throws if it wasn't refused */
export async function refusal(sent: Promise<unknown>): Promise<S3ServiceException> {
  try {
    await sent;
  } catch (error) {
    if (error instanceof S3ServiceException) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'the request should have been refused' });
}

/** Asserts an S3 error by name and status. */
export async function assertRefused(
  sent: Promise<unknown>,
  status: number,
  ...names: readonly string[]
): Promise<void> {
  const error = await refusal(sent);
  assert.equal(error.$metadata.httpStatusCode, status, `${error.name}: ${error.message}`);
  assert.ok(names.includes(error.name), `${error.name} instead of ${names.join(' or ')}`);
}

/** Asserts a raw S3 error document. */
export function assertErrorDocument(answer: RawAnswer, status: number, code: string): void {
  const text = answer.body.toString('utf8');
  assert.equal(answer.status, status, text);
  assert.match(text, new RegExp(`<Code>${code}</Code>`));
  assert.match(answer.headers.get('content-type') ?? '', /xml/);
  assert.ok(answer.headers.has('x-amz-request-id'), 'an error carries a request id');
}

export function assertSameBytes(actual: Buffer, expected: Buffer, what: string): void {
  if (actual.equals(expected)) return;
  assert.equal(actual.length, expected.length, `length of ${what}`);
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  assert.fail(`${what} differs from byte ${at}`);
}

/** Bytes that differ everywhere and repeat from run to run. */
export function patternBytes(size: number, name = ''): Buffer {
  const out = Buffer.alloc(size);
  const seed = createHash('sha256').update(name).digest();
  for (let at = 0; at < size; at += 32) {
    // A counter in each line of a fixed pattern: cheap, and never the same at two offsets.
    seed.writeUInt32LE((at / 32) >>> 0, 8);
    seed.copy(out, at, 0, Math.min(32, size - at));
  }
  return out;
}

/** Hash ETags hold quotes around 32 hex digits. */
export function md5Tag(bytes: Buffer | string): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function visible(output: GetObjectCommandOutput): Record<string, unknown> {
  return { ...output, Body: undefined, $metadata: output.$metadata.httpStatusCode };
}

const changingHeaders = new Set([
  'date',
  'x-amz-request-id',
  'x-amz-id-2',
  'age',
  'x-cache',
  'x-amz-cf-id',
]);

function steady(answer: RawAnswer): [string, string][] {
  return [...answer.headers].filter(([name]) => !changingHeaders.has(name)).sort();
}
