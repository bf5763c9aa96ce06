// The command: runs the suite against an endpoint, or against an origin that it starts, directly and through the accelerator.
// Prints every case, exits with 1 if anything failed.
import { parseArgs } from 'node:util';
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';
import { runBothRoutes } from './both-routes.ts';
import { runConformance } from './conformance.ts';
import type { CaseResult, ConformanceReport } from './conformance.ts';
import { startableOrigins } from './origins/start-origin.ts';

const usage = `Usage: npm run conformance -- --endpoint URL [options]
       npm run conformance -- --origin NAME [--without GROUP] [--only TEXT]

  --endpoint URL       of the S3 to test, such as http://127.0.0.1:8080
  --access-key NAME    (local-identity)
  --secret-key SECRET  (local-credential)
  --region NAME        (us-east-1)
  --bucket NAME        an existing bucket, emptied at the end; a fresh one if absent
  --domain NAME        host names below it name buckets (localhost); none leaves those cases out
  --origin NAME        without --endpoint: starts that server (${startableOrigins.join(', ')}) and tests it directly, then
                       through the accelerator. With --endpoint: its known deviations are expected there
  --through            with --endpoint: what answers there is the accelerator in front of that origin
  --without GROUP      leaves a group of cases out, such as 'virtual hosts'; may be repeated
  --only TEXT          only cases whose name contains this

Exit code: 0 when every case passed or was known to fail, 1 when one failed, 2 when the command is wrong.
`;

const values = parsed();

const labels = { passed: 'ok    ', failed: 'FAILED', known: 'known ' } as const;
const only = values.only === undefined ? {} : { only: values.only };

if (values.help) {
  process.stdout.write(usage);
} else if (values.endpoint !== undefined) {
  process.exitCode = await testEndpoint(values.endpoint);
} else if (values.origin !== undefined && startableOrigins.includes(values.origin)) {
  process.exitCode = await testBothRoutes(values.origin);
} else {
  process.stderr.write(usage);
  process.exitCode = 2;
}

function parsed() {
  try {
    return parseArgs({
      options: {
        endpoint: { type: 'string' },
        'access-key': { type: 'string', default: 'local-identity' },
        'secret-key': { type: 'string', default: 'local-credential' },
        region: { type: 'string', default: 'us-east-1' },
        bucket: { type: 'string' },
        domain: { type: 'string', default: 'localhost' },
        origin: { type: 'string' },
        through: { type: 'boolean', default: false },
        without: { type: 'string', multiple: true, default: [] },
        only: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return endWithUsage(error, usage);
  }
}

async function testEndpoint(endpoint: string): Promise<number> {
  const { bucket, origin } = values;
  const report = await runConformance({
    endpoint,
    credentials: { accessKeyId: values['access-key'], secretAccessKey: values['secret-key'] },
    region: values.region,
    domain: values.domain === 'none' ? null : values.domain,
    without: values.without,
    route: values.through ? 'through' : 'direct',
    ...(bucket === undefined ? {} : { bucket }),
    ...(origin === undefined ? {} : { origin }),
    ...only,
    onResult: print,
  });
  process.stdout.write(`\n${summary(report)}\n`);
  return codeOf(report);
}

async function testBothRoutes(origin: string): Promise<number> {
  const report = await runBothRoutes({
    origin,
    without: values.without,
    ...only,
    onRoute: (route, endpoint) => {
      const what = route === 'direct' ? origin : `${origin} through the accelerator`;
      process.stdout.write(`\n— ${what} (${endpoint})\n`);
    },
    onResult: print,
  });
  process.stdout.write('\n— what differs\n');
  for (const { name, direct, through } of report.differences) {
    const why = direct.detail === '' ? through.detail : direct.detail;
    process.stdout.write(
      `${labels[direct.outcome]} → ${labels[through.outcome]}  ${name}: ${why}\n`,
    );
  }
  const { direct, through } = report;
  process.stdout.write(
    `\n${origin}: ${summary(direct)}\nthrough the accelerator: ${summary(through)}\n`,
  );
  return Math.max(codeOf(direct), codeOf(through));
}

function print(result: CaseResult): void {
  const ms = result.ms.toFixed(0).padStart(6);
  process.stdout.write(`${labels[result.outcome]} ${ms} ms  ${result.name}\n`);
  if (result.detail !== '') process.stdout.write(`${' '.repeat(18)}${result.detail}\n`);
}

function summary(report: ConformanceReport): string {
  const known = report.known === 0 ? '' : `, ${report.known} known deviations`;
  const leftOut = report.leftOut.length === 0 ? '' : `, left out: ${report.leftOut.join(', ')}`;
  return `${report.passed} passed, ${report.failed} failed${known}${leftOut}`;
}

function codeOf(report: ConformanceReport): number {
  return report.failed === 0 && report.results.length > 0 ? 0 : 1;
}
