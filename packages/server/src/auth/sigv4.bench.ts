/**
 * What one check costs: parsing the head and verifying a header signature, as on every hit.
 *
 *     node packages/server/src/auth/sigv4.bench.ts [REQUESTS]
 *
 * The result hash follows from the heads' lengths and from what was accepted; of signatures every second one is wrong.
 */
import { createHash, createHmac } from 'node:crypto';
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { RequestHead } from '../http/request-head.ts';
import { RequestParser, newHeadProgress } from '../http/request-parser.ts';
import { ClientTable } from './clients.ts';
import { SigV4, requiredScratchBytes } from './sigv4.ts';

const now = Date.UTC(2026, 10, 29, 12);
const client = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret', grants: [] };
const hash = createHash('sha256').digest('hex');

/** A GET as the JavaScript SDK sends it: 12 headers, 6 of them signed. */
function sampleRequest(isSigned: boolean): Buffer {
  const path = '/bucket-name/some/prefix/shard-00017.bin';
  const headers: Record<string, string> = {
    Host: '127.0.0.1:9000',
    'User-Agent': 'aws-sdk-js/3.600.0 ua/2.0 os/linux#6.1 lang/js md/nodejs#20.11.0 api/s3#3.600.0',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'amz-sdk-invocation-id': '6f1d0f1e-9a0a-4c58-9d0e-2f6bb2a8a001',
    'amz-sdk-request': 'attempt=1; max=3',
    'x-amz-user-agent': 'aws-sdk-js/3.600.0',
    'x-amz-date': '20261129T120000Z',
    'x-amz-content-sha256': hash,
    'x-amz-checksum-mode': 'ENABLED',
    Connection: 'keep-alive',
  };
  const lower = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const signed = [
    'amz-sdk-invocation-id',
    'amz-sdk-request',
    'host',
    'x-amz-checksum-mode',
    'x-amz-content-sha256',
    'x-amz-date',
  ];
  const lines = signed.map((name) => `${name}:${lower.get(name) ?? ''}`);
  const canonical = ['GET', path, 'x-id=GetObject', ...lines, '', signed.join(';'), hash].join(
    '\n',
  );
  const hmac = (key: Buffer | string, text: string): Buffer =>
    createHmac('sha256', key).update(text).digest();
  const day = hmac(`AWS4${client.secretAccessKey}`, '20261129');
  const key = hmac(hmac(hmac(day, 'us-east-1'), 's3'), 'aws4_request');
  const scope = '20261129/us-east-1/s3/aws4_request';
  const digest = createHash('sha256').update(canonical).digest('hex');
  const signature = hmac(key, `AWS4-HMAC-SHA256\n20261129T120000Z\n${scope}\n${digest}`);
  headers['Authorization'] =
    `AWS4-HMAC-SHA256 Credential=${client.accessKeyId}/${scope}, SignedHeaders=${signed.join(';')}, Signature=${isSigned ? signature.toString('hex') : hash}`;
  const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${path}?x-id=GetObject HTTP/1.1\r\n${text.join('')}\r\n`);
}

export interface CheckFigures {
  /** CPU microseconds for a head of that many bytes. */
  readonly headBytes: number;
  readonly parse: number;
  readonly check: number;
  /** Of all requests that were checked. */
  readonly accepted: number;
  readonly resultHash: number;
}

/** Parses as many heads, then checks as many signatures. */
export function measureChecks(requests: number): CheckFigures {
  const texts = [true, false].map(sampleRequest);
  const head = new RequestHead();
  const parser = new RequestParser(head);
  const sigv4 = new SigV4(new Digester(requiredScratchBytes), new ClientTable([client]), {
    region: 'us-east-1',
    maxScopes: 1024,
  });
  const progress = newHeadProgress();
  let resultHash = 0;
  let accepted = 0;
  const parse = (i: number): void => {
    const text = texts[i & 1]!;
    progress.scanned = 0;
    const bytes = new Uint8Array(text.buffer, text.byteOffset, text.length);
    const state = parser.parse(bytes, text, 0, text.length, progress);
    resultHash = mix32(resultHash ^ (state === 'complete' ? text.length : 0));
  };
  const check = (i: number): void => {
    const isRight = sigv4.check(head, now) === null;
    if (isRight) accepted += 1;
    resultHash = mix32(resultHash ^ (isRight ? i : 0));
  };
  const both = (i: number): void => {
    parse(i);
    check(i);
  };
  cpuUs(requests, both);
  const ofParse = cpuUs(requests, parse);
  accepted = 0;
  const ofBoth = cpuUs(requests, both);
  return {
    headBytes: texts[0]!.length,
    parse: ofParse,
    check: ofBoth - ofParse,
    accepted,
    resultHash: resultHash >>> 0,
  };
}

function cpuUs(times: number, step: (i: number) => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) step(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

if (import.meta.main) {
  const requests = Number(process.argv[2] ?? 300_000);
  const { headBytes, parse, check, accepted, resultHash } = measureChecks(requests);
  console.log(`head of ${headBytes} bytes`);
  console.log(`parse ${parse.toFixed(3)} us, check ${check.toFixed(3)} us`);
  console.log(`${accepted} of ${requests} accepted, result hash ${resultHash}`);
}
