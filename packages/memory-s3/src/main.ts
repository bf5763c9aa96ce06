// The command: an S3 in memory on one port, until it is told to end.
import { parseArgs } from 'node:util';
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';
import { defaultCredential, startMemoryS3 } from './memory-s3.ts';

const usage = `Usage: node packages/memory-s3/src/main.ts [options]

  --port N             (8080; 0 lets the kernel pick)
  --host ADDRESS       (127.0.0.1)
  --access-key NAME    (${defaultCredential.accessKey})
  --secret-key SECRET  (${defaultCredential.secretKey})
  --region NAME        (us-east-1)
  --bucket NAME        created at the start; may be repeated
  --synthetic B/P:N:S  N objects B/P0, B/P1, … of S bytes that take no memory; may be repeated
  --delay-ms N         before the first byte of every answer (0)
  --bandwidth N        bytes a second of each answer (no limit)
  --error-rate P       share of requests that fail, 0 to 1 (0)
  --short-body-rate P  share of answers cut short, 0 to 1 (0)
  --seed N             of those two (1)
  --quiet              no line for each request
`;

const { values } = parsed();

if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

function parsed() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '8080' },
        host: { type: 'string', default: '127.0.0.1' },
        'access-key': { type: 'string', default: defaultCredential.accessKey },
        'secret-key': { type: 'string', default: defaultCredential.secretKey },
        region: { type: 'string', default: 'us-east-1' },
        bucket: { type: 'string', multiple: true, default: [] },
        synthetic: { type: 'string', multiple: true, default: [] },
        'delay-ms': { type: 'string', default: '0' },
        bandwidth: { type: 'string', default: 'Infinity' },
        'error-rate': { type: 'string', default: '0' },
        'short-body-rate': { type: 'string', default: '0' },
        seed: { type: 'string', default: '1' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return endWithUsage(error, usage);
  }
}

function numeric(name: string, text: string, most: number): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0 && number <= most)) {
    process.stderr.write(`--${name} ${text}: a number from 0 to ${most} is needed.\n`);
    process.exit(2);
  }
  return number;
}

interface SyntheticObjects {
  readonly bucket: string;
  readonly prefix: string;
  readonly count: number;
  readonly bytes: number;
}

function syntheticObjects(text: string): SyntheticObjects {
  const match = /^([^/:]+)\/([^:]*):(\d{1,9}):(\d{1,13})$/.exec(text);
  if (match === null) {
    process.stderr.write(`--synthetic ${text}: BUCKET/PREFIX:COUNT:BYTES is needed.\n`);
    process.exit(2);
  }
  const [, bucket = '', prefix = '', count, bytes] = match;
  return { bucket, prefix, count: Number(count), bytes: Number(bytes) };
}

const synthetic = values.synthetic.map(syntheticObjects);
const port = numeric('port', values.port, 65535);
const memoryS3 = await startMemoryS3({
  port,
  host: values.host,
  region: values.region,
  credentials: [{ accessKey: values['access-key'], secretKey: values['secret-key'] }],
  buckets: [...new Set([...values.bucket, ...synthetic.map(({ bucket }) => bucket)])],
  delayMs: numeric('delay-ms', values['delay-ms'], 600_000),
  bandwidthBytesPerSecond: Math.max(1, numeric('bandwidth', values.bandwidth, Infinity)),
  errorRate: numeric('error-rate', values['error-rate'], 1),
  shortBodyRate: numeric('short-body-rate', values['short-body-rate'], 1),
  seed: numeric('seed', values.seed, 0xffffffff),
  ...(values.quiet ? {} : { onRequest: (line: string) => process.stdout.write(`${line}\n`) }),
}).catch((error: unknown) => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  process.stderr.write(
    `port ${port} is taken: stop what listens there (npm start has an S3 at 8080), or choose another --port\n`,
  );
  process.exit(1);
});
for (const { bucket, prefix, count, bytes } of synthetic) {
  for (let index = 0; index < count; index++) {
    memoryS3.putSynthetic(bucket, `${prefix}${index}`, bytes, index);
  }
}
process.stdout.write(`S3 in memory at ${memoryS3.endpoint}, region ${values.region}\n`);
process.stdout.write(`credentials: ${values['access-key']} ${values['secret-key']}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void memoryS3.close().then(() => process.exit(0));
  });
}
