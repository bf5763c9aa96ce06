/**
 * What one check costs: parsing the head and verifying a header signature, as on every hit.
 *
 *     node packages/server/src/auth/sigv4.bench.ts [ITERATIONS]
 *
 * Prints CPU microseconds for each, and a count of accepted requests so that the work can't be optimised away.
 */
import { createHash, createHmac } from 'node:crypto';
import { Digester } from '@s3-accelerator/native/digester.ts';
import { RequestHead } from '../http/request-head.ts';
import { RequestParser, newHeadProgress } from '../http/request-parser.ts';
import { ClientTable } from './clients.ts';
import { SigV4, requiredScratchBytes } from './sigv4.ts';

const iterations = Number(process.argv[2] ?? 300_000);
const now = Date.UTC(2026, 10, 29, 12);
const client = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret', grants: [] };
const hash = createHash('sha256').digest('hex');

/** A GET as the JavaScript SDK sends it: 12 headers, 6 of them signed. */
function sampleRequest(): Buffer {
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
    `AWS4-HMAC-SHA256 Credential=${client.accessKeyId}/${scope}, SignedHeaders=${signed.join(';')}, Signature=${signature.toString('hex')}`;
  const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${path}?x-id=GetObject HTTP/1.1\r\n${text.join('')}\r\n`);
}

const text = sampleRequest();
const bytes = new Uint8Array(text.buffer, text.byteOffset, text.length);
const head = new RequestHead();
const parser = new RequestParser(head);
const sigv4 = new SigV4(new Digester(requiredScratchBytes), new ClientTable([client]), {
  region: 'us-east-1',
  maxScopes: 1024,
});
const progress = newHeadProgress();

function measure(name: string, step: () => boolean): void {
  for (let warm = 0; warm < iterations / 10; warm += 1) step();
  let accepted = 0;
  const before = process.cpuUsage();
  for (let run = 0; run < iterations; run += 1) if (step()) accepted += 1;
  const used = process.cpuUsage(before);
  const each = (used.user + used.system) / iterations;
  console.log(`${name.padEnd(8)} ${each.toFixed(3)} us, ${accepted} of ${iterations} accepted`);
}

console.log(`head of ${text.length} bytes`);
const parse = (): boolean => {
  progress.scanned = 0;
  return parser.parse(bytes, text, 0, text.length, progress) === 'complete';
};
measure('parse', parse);
measure('check', () => sigv4.check(head, now) === null);
measure('both', () => parse() && sigv4.check(head, now) === null);
