// The command: runs the suite against an endpoint, prints a table, exits with 1 if anything failed.
import { parseArgs } from 'node:util';
import { runConformance } from './conformance.ts';
import type { CaseResult } from './conformance.ts';

const usage = `Usage: npm run conformance -- --endpoint URL [options]

  --endpoint URL       of the S3 to test, such as http://127.0.0.1:8080
  --access-key NAME    (local-identity)
  --secret-key SECRET  (local-credential)
  --region NAME        (us-east-1)
  --bucket NAME        an existing bucket, emptied at the end; a fresh one if absent
  --domain NAME        host names below it name buckets (localhost); none leaves those cases out
  --origin NAME        a server whose known deviations are expected: radosgw
  --without GROUP      leaves a group of cases out, such as 'virtual hosts'; may be repeated
  --only TEXT          only cases whose name contains this
`;

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    'access-key': { type: 'string', default: 'local-identity' },
    'secret-key': { type: 'string', default: 'local-credential' },
    region: { type: 'string', default: 'us-east-1' },
    bucket: { type: 'string' },
    domain: { type: 'string', default: 'localhost' },
    origin: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help || values.endpoint === undefined) {
  (values.help ? process.stdout : process.stderr).write(usage);
  process.exit(values.help ? 0 : 2);
}

const labels = { passed: 'ok    ', failed: 'FAILED', known: 'known ' } as const;

function print(result: CaseResult): void {
  const ms = result.ms.toFixed(0).padStart(6);
  process.stdout.write(`${labels[result.outcome]} ${ms} ms  ${result.name}\n`);
  if (result.detail !== '') process.stdout.write(`${' '.repeat(18)}${result.detail}\n`);
}

const report = await runConformance({
  endpoint: values.endpoint,
  credentials: { accessKeyId: values['access-key'], secretAccessKey: values['secret-key'] },
  region: values.region,
  domain: values.domain === 'none' ? null : values.domain,
  without: values.without,
  ...(values.bucket === undefined ? {} : { bucket: values.bucket }),
  ...(values.origin === undefined ? {} : { origin: values.origin }),
  ...(values.only === undefined ? {} : { only: values.only }),
  onResult: print,
});
const known =
  report.known === 0 ? '' : `, ${report.known} known deviations of ${values.origin ?? ''}`;
const leftOut = report.leftOut.length === 0 ? '' : `, left out: ${report.leftOut.join(', ')}`;
process.stdout.write(`\n${report.passed} passed, ${report.failed} failed${known}${leftOut}\n`);
process.exitCode = report.failed === 0 && report.results.length > 0 ? 0 : 1;
