/**
 * Reads a plan from a TOML file and completes it from the environment.
 *
 * A plan that was read is whole: every step has its dataset, its mix and its end. All faults are told at once, by a
 * ConfigError, with the key and what is allowed.
 */
import { readFileSync } from 'node:fs';
import { TomlError, parse } from 'smol-toml';
import { ConfigError, Problems } from 's3-accelerator/config/problems.ts';
import type { Unsure } from 's3-accelerator/config/read-rows.ts';
import { readDocument } from 's3-accelerator/config/read-rows.ts';
import type { Environment } from './check-plan.ts';
import { checkPlan } from './check-plan.ts';
import type { Plan } from './plan.ts';
import type { PlanSettings } from './rows.ts';
import { planRows } from './rows.ts';

/** Reads a plan out of a file. `url` replaces the plan's endpoint. Throws ConfigError, also when the file can't be read. */
export function loadPlan(file: string, environment: Environment, url?: string): Plan {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${(error as Error).message}`]);
  }
  return readPlan(content, file, environment, url);
}

/** Reads a plan out of TOML text; `file` only names it in messages. Throws ConfigError. */
export function readPlan(
  content: string,
  file: string,
  environment: Environment,
  url?: string,
): Plan {
  const document = parseToml(content, file);
  const given = url === undefined ? document : withUrl(document, url);
  const problems = new Problems();
  const settings = readDocument(planRows, given, problems) as Unsure<PlanSettings>;
  checkPlan(settings, environment, problems);
  if (problems.problems.length > 0) throw new ConfigError(file, problems.problems);
  // Without problems nothing required is missing.
  return complete(settings as PlanSettings, environment);
}

/** The parser's own message quotes the line, which may hold a secret: only its first line is kept. */
function parseToml(content: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return parse(content);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new ConfigError(file, [`line ${error.line}, column ${error.column}: ${what}`]);
  }
}

function withUrl(document: Readonly<Record<string, unknown>>, url: string) {
  const { endpoint } = document;
  const isTable = typeof endpoint === 'object' && endpoint !== null;
  return { ...document, endpoint: isTable ? { ...endpoint, url } : { url } };
}

function complete(settings: PlanSettings, environment: Environment): Plan {
  const { endpoint } = settings;
  const isInFile = endpoint.accessKeyId !== undefined;
  return {
    processes: settings.processes,
    seed: settings.seed,
    endpoint: {
      url: endpoint.url,
      region: endpoint.region,
      accessKeyId: endpoint.accessKeyId ?? environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey:
        endpoint.secretAccessKey?.reveal() ?? environment['AWS_SECRET_ACCESS_KEY'] ?? '',
      sessionToken:
        endpoint.sessionToken?.reveal() ??
        (isInFile ? null : (environment['AWS_SESSION_TOKEN'] ?? null)),
    },
    datasets: [...settings.datasets].map(([name, dataset]) => ({
      name,
      bucket: dataset.bucket,
      prefix: dataset.prefix,
      objects: dataset.objects,
      seed: dataset.seed,
      sizes: dataset.sizes.map(({ bytes, from, to, weight }) => ({
        firstBytes: bytes ?? from ?? 0,
        lastBytes: bytes ?? to ?? 0,
        weight,
      })),
    })),
    steps: settings.steps.map((step) => ({
      ...step,
      operations: step.operations ?? { get: 1, head: 0, put: 0, list: 0 },
      range: step.range ?? null,
      rate: step.rate ?? null,
      durationS: step.durationS ?? null,
      requests: step.requests ?? null,
    })),
  };
}
